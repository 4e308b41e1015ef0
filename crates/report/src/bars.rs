//! Horizontal bar charts of named counts, such as the reasons why games ended.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::style::{Canvas, Drawn, FONT, Format, INK, Look, drawn};
use patzer_io::error::Result;
use patzer_io::number::grouped;

#[derive(Debug, Clone)]
pub(crate) struct Bar {
    pub label: String,
    /// Lengths of the parts, in the order of the legend.
    pub parts: Vec<f64>,
    pub text: String,
}

impl Bar {
    pub(crate) fn counted(label: &str, count: u64, all: u64) -> Bar {
        let share = 100.0 * count as f64 / all.max(1) as f64;
        let text = format!("{} ({share:.1} %)", grouped(count));
        Bar { label: label.into(), parts: vec![count as f64], text }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Bars {
    pub rows_are: String,
    /// Names and colours of the parts; more than one get a legend.
    pub parts: Vec<(String, RGBColor)>,
    pub rows: Vec<Bar>,
}

const ROW: i32 = 28;

impl Bars {
    pub(crate) fn new(rows_are: &str, parts: &[(&str, RGBColor)], rows: Vec<Bar>) -> Bars {
        let parts = parts.iter().map(|(name, colour)| (name.to_string(), *colour)).collect();
        Bars { rows_are: rows_are.into(), parts, rows }
    }

    pub(crate) fn drawn(&self, format: Format, look: Look, title: &str) -> Result<Vec<u8>> {
        let top = if title.is_empty() { 10 } else { 44 } + if self.parts.len() > 1 { ROW } else { 0 };
        let height = top + ROW * self.rows.len() as i32 + 10;
        drawn((look.size.0, height as u32), format, |canvas| {
            if !title.is_empty() {
                let style =
                    (FONT, look.title).into_font().color(&INK).pos(Pos::new(HPos::Center, VPos::Center));
                canvas.draw_text(title, &style, (look.size.0 as i32 / 2, 22))?;
            }
            self.legend(canvas, look, top)?;
            self.draw(canvas, look, top)
        })
    }

    fn legend(&self, canvas: &Canvas<'_>, look: Look, top: i32) -> Drawn {
        if self.parts.len() < 2 {
            return Ok(());
        }
        let mut x = 14;
        let middle = top - ROW / 2 - 4;
        for (name, colour) in &self.parts {
            canvas.draw(&Rectangle::new([(x, middle - 7), (x + 14, middle + 7)], colour.filled()))?;
            canvas.draw_text(name, &left(look), (x + 20, middle))?;
            x += 40 + width(name, look);
        }
        Ok(())
    }

    fn draw(&self, canvas: &Canvas<'_>, look: Look, top: i32) -> Drawn {
        let widest = |texts: &mut dyn Iterator<Item = &String>| texts.map(|text| width(text, look)).max();
        let labels = widest(&mut self.rows.iter().map(|row| &row.label)).unwrap_or(0) + 20;
        let texts = widest(&mut self.rows.iter().map(|row| &row.text)).unwrap_or(0) + 16;
        let room = (look.size.0 as i32 - labels - texts).max(60);
        let longest = self.rows.iter().map(|row| row.parts.iter().sum()).fold(0.0, f64::max);
        let right = left(look).pos(Pos::new(HPos::Right, VPos::Center));
        for (index, row) in self.rows.iter().enumerate() {
            let y = top + ROW * index as i32;
            let middle = y + ROW / 2;
            canvas.draw_text(&row.label, &right, (labels - 8, middle))?;
            let (mut sum, mut x) = (0.0, labels);
            for (part, (_, colour)) in row.parts.iter().zip(&self.parts) {
                sum += part;
                let share = if longest > 0.0 { sum / longest } else { 0.0 };
                let end = labels + (share * f64::from(room)).round() as i32;
                if end > x {
                    canvas.draw(&Rectangle::new([(x, y + 4), (end, y + ROW - 4)], colour.filled()))?;
                }
                x = end;
            }
            canvas.draw_text(&row.text, &left(look), (x + 8, middle))?;
        }
        Ok(())
    }
}

fn left(look: Look) -> TextStyle<'static> {
    look.letters().pos(Pos::new(HPos::Left, VPos::Center))
}

fn width(text: &str, look: Look) -> i32 {
    text.chars().count() as i32 * look.text * 54 / 100
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::{BLUE, ORANGE};

    #[test]
    fn bars_are_proportional_to_the_longest_row() {
        let row = |label: &str, parts: &[f64]| Bar {
            label: label.into(),
            parts: parts.to_vec(),
            text: format!("{parts:?}"),
        };
        let rows = vec![row("a & b", &[3.0, 1.0]), row("none", &[0.0, 0.0])];
        let bars = Bars::new("x", &[("won", BLUE), ("lost", ORANGE)], rows);
        let svg = String::from_utf8(bars.drawn(Format::Svg, Look::PAGE, "").unwrap()).unwrap();
        assert!(svg.contains("a &amp; b") && svg.contains("none"), "{svg}");
        let width = |colour: &str| -> f64 {
            let line = svg.split('<').filter(|tag| tag.starts_with("rect") && tag.contains(colour)).nth(1);
            let line = line.unwrap_or_default();
            line.split("width=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
        };
        // The first of each colour is the legend's.
        assert!((width("#0072B2") / width("#D55E00") - 3.0).abs() < 0.05);
    }
}
