//! Board heat maps of signed values, blue above 0 and orange below: piece-square tables, weights of neurons.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::style::{Canvas, Drawn, FONT, Format, INK, drawn, on, signed};
use patzer_io::error::Result;

#[derive(Debug, Clone)]
pub(crate) struct Squares {
    /// Values by square, a1 to h8; `None` leaves the square empty.
    pub values: Vec<Option<f64>>,
    /// Errors, in small letters below the values; may be empty.
    pub below: Vec<Option<f64>>,
    /// The value with the deepest colour; equal for boards to compare.
    pub deepest: f64,
    /// Colours by the square root, for counts that are high on a few squares.
    pub root: bool,
}

const SQUARE: i32 = 46;
const MARGIN: i32 = 26;

pub(super) fn centred(size: i32, colour: RGBColor) -> TextStyle<'static> {
    (FONT, size).into_font().color(&colour).pos(Pos::new(HPos::Center, VPos::Center))
}

impl Squares {
    pub(crate) fn drawn(&self, format: Format, title: &str) -> Result<Vec<u8>> {
        let top = if title.is_empty() { 6 } else { 40 };
        let size = (2 * MARGIN + 8 * SQUARE, top + 8 * SQUARE + MARGIN);
        drawn((size.0 as u32, size.1 as u32), format, |canvas| {
            if !title.is_empty() {
                canvas.draw_text(title, &centred(18, INK), (size.0 / 2, 20))?;
            }
            for square in 0..64 {
                self.square(canvas, square, top)?;
            }
            coordinates(canvas, (MARGIN, top, SQUARE), 18, [14, 12])
        })
    }

    fn square(&self, canvas: &Canvas<'_>, square: usize, top: i32) -> Drawn {
        let (file, rank) = (square as i32 % 8, square as i32 / 8);
        let (x, y) = (MARGIN + file * SQUARE, top + (7 - rank) * SQUARE);
        let value = self.values.get(square).copied().flatten();
        let share = value.map_or(0.0, |value| value / self.deepest.max(f64::MIN_POSITIVE)).clamp(-1.0, 1.0);
        let share = if self.root { share.abs().sqrt().copysign(share) } else { share };
        canvas.draw(&Rectangle::new([(x, y), (x + SQUARE, y + SQUARE)], signed(share).filled()))?;
        let Some(value) = value else { return Ok(()) };
        let (x, y) = (x + SQUARE / 2, y + SQUARE / 2);
        match self.below.get(square).copied().flatten() {
            Some(below) => {
                canvas.draw_text(&short(value), &centred(20, on(share)), (x, y - 7))?;
                canvas.draw_text(&format!("±{}", short(below)), &centred(16, on(share)), (x, y + 11))
            }
            None => canvas.draw_text(&short(value), &centred(21, on(share)), (x, y)),
        }
    }
}

fn short(value: f64) -> String {
    match value.abs() {
        0.0..0.05 => "0".into(),
        0.05..9.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// Writes the files below a board and the ranks on its left, at these distances.
pub(super) fn coordinates(
    canvas: &Canvas<'_>,
    (left, top, square): (i32, i32, i32),
    font: i32,
    [below, beside]: [i32; 2],
) -> Drawn {
    for place in 0..8 {
        let middle = place * square + square / 2;
        let (file, rank) = (char::from(b'a' + place as u8).to_string(), (place + 1).to_string());
        canvas.draw_text(&file, &centred(font, INK), (left + middle, top + 8 * square + below))?;
        canvas.draw_text(&rank, &centred(font, INK), (left - beside, top + 8 * square - middle))?;
    }
    Ok(())
}

#[derive(Debug, Clone)]
pub(crate) struct BoardHeatmaps {
    pub boards: Vec<(String, Vec<f64>)>,
    pub columns: usize,
    pub deepest: f64,
}

const SMALL: i32 = 11;
const GAP: i32 = 14;

impl BoardHeatmaps {
    pub(crate) fn drawn(&self, format: Format, title: &str) -> Result<Vec<u8>> {
        let top = if title.is_empty() { 2 } else { 36 };
        let (side, columns) = (8 * SMALL, self.columns.max(1));
        let rows = self.boards.len().div_ceil(columns) as i32;
        let size = (GAP + columns as i32 * (side + GAP), top + rows * (side + 30) + 4);
        drawn((size.0 as u32, size.1 as u32), format, |canvas| {
            if !title.is_empty() {
                canvas.draw_text(title, &centred(18, INK), (size.0 / 2, 18))?;
            }
            for (index, (name, values)) in self.boards.iter().enumerate() {
                let left = GAP + (index % columns) as i32 * (side + GAP);
                let top = top + (index / columns) as i32 * (side + 30);
                canvas.draw_text(name, &centred(18, INK), (left + side / 2, top + 12))?;
                self.plane(canvas, values, (left, top + 24))?;
            }
            Ok(())
        })
    }

    fn plane(&self, canvas: &Canvas<'_>, values: &[f64], (left, top): (i32, i32)) -> Drawn {
        for (square, value) in values.iter().enumerate() {
            let (x, y) = (left + square as i32 % 8 * SMALL, top + (7 - square as i32 / 8) * SMALL);
            let share = value / self.deepest.max(f64::MIN_POSITIVE);
            canvas.draw(&Rectangle::new([(x, y), (x + SMALL, y + SMALL)], signed(share).filled()))?;
        }
        let frame = [(left, top), (left + 8 * SMALL, top + 8 * SMALL)];
        canvas.draw(&Rectangle::new(frame, INK.mix(0.5).stroke_width(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_shows_its_value_and_error() {
        let mut values = vec![None; 64];
        (values[0], values[63]) = (Some(-20.4), Some(1.26));
        let squares = Squares { values, below: vec![Some(3.0)], deepest: 20.4, root: false };
        let svg = String::from_utf8(squares.drawn(Format::Svg, "a & b").unwrap()).unwrap();
        assert!(svg.contains("a &amp; b") && svg.contains(">-20<") && svg.contains("±3.0"), "{svg}");
        // a1 is the lowest square on the left; its orange is as deep as can be.
        let tile = format!("x=\"{MARGIN}\" y=\"{}\"", 40 + 7 * SQUARE);
        let tile = svg.split('<').find(|tag| tag.contains(&tile)).unwrap();
        assert!(tile.contains("#D55E00") && !tile.contains("opacity"), "{tile}");
    }

    #[test]
    fn boards_of_a_neuron_are_drawn_in_rows() {
        let boards = (0..12).map(|i| (format!("b{i}"), vec![f64::from(i) - 6.0; 64])).collect();
        let svg = BoardHeatmaps { boards, columns: 6, deepest: 6.0 }.drawn(Format::Svg, "").unwrap();
        let svg = String::from_utf8(svg).unwrap();
        assert!(svg.contains("b11") && !svg.contains("NaN"));
        // Transparent squares are not drawn: the seventh board is all 0.
        assert_eq!(svg.matches("<rect").count(), 1 + 12 + 11 * 64);
    }
}
