//! Contour plots of a function of two variables, over measured values.

use std::ops::Range;
use std::path::Path;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axes::{Axes, Chart, chart, top_axis};
use super::plot::{FILE, Tile, tile};
use super::style::{Canvas, Drawn, FONT, Format, INK, Look, PAPER, drawn, picture, shade};
use patzer_io::error::Result;

/// Contour lines over tiles of measured shares, or over bands of the function.
#[derive(Debug, Clone)]
pub(crate) struct Contours {
    pub axes: Axes,
    /// Measured shares; if empty, the function is drawn in bands.
    pub tiles: Vec<Tile>,
    pub levels: Vec<f64>,
    /// Name and length of another unit of x, for an axis along the top.
    pub top: Option<(String, f64)>,
}

impl Contours {
    pub(crate) fn drawn(
        &self,
        format: Format,
        function: impl Fn(f64, f64) -> f64,
        look: Look,
    ) -> Result<Vec<u8>> {
        drawn(look.size, format, |canvas| self.draw(canvas, &function, look))
    }

    /// Tests whether a point lies between the first and the last tile of its row.
    fn measured(&self, (x, y): (f64, f64)) -> bool {
        let row = self.tiles.iter().filter(|tile| tile.y.contains(&y));
        let (first, last) = row.fold((f64::INFINITY, f64::NEG_INFINITY), |(first, last), tile| {
            (tile.x.start.min(first), tile.x.end.max(last))
        });
        (first..=last).contains(&x)
    }

    fn draw(&self, canvas: &Canvas<'_>, function: &impl Fn(f64, f64) -> f64, look: Look) -> Drawn {
        const GRID: (usize, usize) = (240, 120);
        let mut chart = chart(canvas, &self.axes, self.top.is_some(), false, look)?;
        if let Some(top) = &self.top {
            top_axis(canvas, &chart, &self.axes, top, look)?;
        }
        if self.tiles.is_empty() {
            chart.draw_series(bands(&self.axes, GRID, function, &self.levels))?;
        }
        chart.draw_series(self.tiles.iter().map(tile))?;
        for &level in &self.levels {
            let mut segments = contour(&self.axes, GRID, function, level);
            segments.retain(|[at, _]| self.tiles.is_empty() || self.measured(*at));
            let path = |s: &[(f64, f64); 2]| PathElement::new(*s, INK.mix(0.8).stroke_width(1));
            chart.draw_series(segments.iter().map(path))?;
            write_level(&mut chart, &self.axes, level, &segments)?;
        }
        Ok(())
    }
}

/// Draws measured shares and a function's bands side by side, both with the function's contour lines.
pub(crate) fn contours(path: &Path, measured: &Contours, function: impl Fn(f64, f64) -> f64) -> Result<()> {
    let bands = Contours { tiles: Vec::new(), ..measured.clone() };
    picture(path, (1_240, 560), |canvas| {
        let (left, right) = canvas.split_horizontally(620);
        for (canvas, words, contours) in
            [(&left, "data, lines of the model", measured), (&right, "model", &bands)]
        {
            let axes = Axes { title: format!("{}: {words}", contours.axes.title), ..contours.axes.clone() };
            Contours { axes, ..contours.clone() }.draw(canvas, &function, FILE)?;
        }
        Ok(())
    })
}

/// Bands of a function: rectangles along the grid's rows, coloured by the middle between two levels.
fn bands(
    axes: &Axes,
    (columns, rows): (usize, usize),
    function: &impl Fn(f64, f64) -> f64,
    levels: &[f64],
) -> Vec<Rectangle<(f64, f64)>> {
    let (x, y) = (grid(&axes.x_range, columns), grid(&axes.y_range, rows));
    let middle = |above: usize| {
        let low = above.checked_sub(1).map_or(0.0, |i| levels[i]);
        (low + levels.get(above).copied().unwrap_or(1.0)) / 2.0
    };
    let mut rectangles = Vec::new();
    for r in 0..rows {
        let band = |c: usize| {
            let value = function((x(c) + x(c + 1)) / 2.0, (y(r) + y(r + 1)) / 2.0);
            levels.partition_point(|level| *level <= value)
        };
        let places: Vec<(usize, usize)> = (0..columns).map(|c| (c, band(c))).collect();
        for stretch in places.chunk_by(|a, b| a.1 == b.1) {
            let ((start, above), length) = (stretch[0], stretch.len());
            let corners = [(x(start), y(r)), (x(start + length), y(r + 1))];
            rectangles.push(Rectangle::new(corners, shade(middle(above)).filled()));
        }
    }
    rectangles
}

fn grid(range: &Range<f64>, steps: usize) -> impl Fn(usize) -> f64 + use<> {
    let (start, step) = (range.start, (range.end - range.start) / steps as f64);
    move |i| start + step * i as f64
}

/// Marching squares: the contour of a level as short segments.
fn contour(
    axes: &Axes,
    (columns, rows): (usize, usize),
    function: &impl Fn(f64, f64) -> f64,
    level: f64,
) -> Vec<[(f64, f64); 2]> {
    let (x, y) = (grid(&axes.x_range, columns), grid(&axes.y_range, rows));
    let mut segments = Vec::new();
    for (c, r) in (0..rows).flat_map(|r| (0..columns).map(move |c| (c, r))) {
        let corners = [(c, r), (c + 1, r), (c + 1, r + 1), (c, r + 1)]
            .map(|(c, r)| (x(c), y(r), function(x(c), y(r)) - level));
        let mut crossings = Vec::new();
        for i in 0..4 {
            let ((x0, y0, v0), (x1, y1, v1)) = (corners[i], corners[(i + 1) % 4]);
            if (v0 < 0.0) != (v1 < 0.0) {
                let part = v0 / (v0 - v1);
                crossings.push((x0 + part * (x1 - x0), y0 + part * (y1 - y0)));
            }
        }
        segments.extend(crossings.chunks_exact(2).map(|pair| [pair[0], pair[1]]));
    }
    segments
}

fn write_level(chart: &mut Chart<'_, '_>, axes: &Axes, level: f64, segments: &[[(f64, f64); 2]]) -> Drawn {
    let Some(&[at, _]) = segments.get(segments.len() / 2) else { return Ok(()) };
    // Move a label to the left where it would leave the plot.
    let share = |value: f64, range: &Range<f64>| (value - range.start) / (range.end - range.start);
    let across = if share(at.0, &axes.x_range) > 0.85 { HPos::Right } else { HPos::Left };
    let down = if share(at.1, &axes.y_range) < 0.15 { VPos::Bottom } else { VPos::Top };
    // Tiles under a high level are dark.
    let colour = if level < 0.6 { INK } else { PAPER };
    let style = (FONT, 15).into_font().color(&colour).pos(Pos::new(across, down));
    let text = Text::new(format!("{level}"), at, style);
    chart.draw_series(std::iter::once(text))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axes::axes;

    #[test]
    fn a_contour_of_a_cone_is_a_circle() {
        let segments = contour(&axes(), (80, 80), &|x, y| (x * x + y * y).sqrt(), 1.0);
        let length: f64 = segments.iter().map(|[a, b]| (a.0 - b.0).hypot(a.1 - b.1)).sum();
        assert!((length - std::f64::consts::TAU).abs() < 0.01, "{length}");
        assert!(segments.iter().flatten().all(|p| (p.0.hypot(p.1) - 1.0).abs() < 0.01));
        assert!(contour(&axes(), (8, 8), &|x, _| x, 5.0).is_empty());
    }

    #[test]
    fn a_pair_of_plots_is_a_whole_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.svg");
        let tile = Tile { x: 0.0..1.0, y: 0.0..1.0, value: 0.5 };
        let top = Some(("pawns".into(), 0.5));
        let measured = Contours { axes: axes(), tiles: vec![tile], levels: vec![0.25, 0.75], top };
        contours(&path, &measured, |x, _| x).unwrap();
        let svg = std::fs::read_to_string(&path).unwrap();
        assert!(svg.contains("0.75") && svg.trim_end().ends_with("</svg>"));
        // Each half has its own axis of pawns, within its picture.
        let names: Vec<&str> = svg.split("<text").filter(|text| text.contains("pawns")).collect();
        let at = |text: &str| {
            text.split("x=\"").nth(1).unwrap().split('"').next().unwrap().parse::<f64>().unwrap()
        };
        assert_eq!(names.len(), 2);
        assert!(at(names[0]) < 620.0 && (at(names[1]) - at(names[0]) - 620.0).abs() < 2.0);
    }

    #[test]
    fn contours_are_drawn_only_between_measured_tiles() {
        let tile = |x: Range<f64>| Tile { x, y: -2.0..2.0, value: 0.5 };
        let axes = crate::axes::axes();
        let all =
            Contours { axes, tiles: vec![tile(-2.0..-1.5), tile(-0.5..0.0)], levels: vec![], top: None };
        let drawn = |levels: &[f64]| {
            let contours = Contours { levels: levels.to_vec(), ..all.clone() };
            contours.drawn(Format::Svg, |x, _| (x + 2.0) / 4.0, Look::PAGE).unwrap()
        };
        // x = -1 lies between the tiles, x = 1 has none right of it.
        assert_ne!(drawn(&[0.25]), drawn(&[]));
        assert_eq!(drawn(&[0.25, 0.75]), drawn(&[0.25]));
    }
}
