use std::path::Path;

use plotters::prelude::*;

use super::axes::{digits, tick};
use super::scale::{Scale, ScaleKind};
use super::style::{BLUE, Canvas, Drawn, FONT, Format, GRID, INK, Look, drawn};
use patzer_io::error::Result;
use patzer_io::number::grouped;

#[derive(Debug, Clone)]
pub(crate) struct Histogram {
    pub title: String,
    pub values: String,
    pub counted: String,
    pub start: f64,
    pub width: f64,
    pub bars: Vec<u64>,
}

impl Histogram {
    /// One bar per value from 0, without empty bars at the ends.
    pub(crate) fn of_values(title: &str, values: &str, counted: &str, counts: &[u64]) -> Histogram {
        let first = counts.iter().position(|count| *count > 0).unwrap_or(0);
        let last = counts.iter().rposition(|count| *count > 0).map_or(first, |last| last + 1);
        Histogram {
            title: title.into(),
            values: values.into(),
            counted: counted.into(),
            start: first as f64 - 0.5,
            width: 1.0,
            bars: counts[first..last].to_vec(),
        }
    }

    pub(crate) fn draw(&self, path: &Path) -> Result<()> {
        patzer_io::write(path, &self.drawn(Format::Svg, Look { size: (800, 450), text: 13, title: 20 })?)
    }

    pub(crate) fn drawn(&self, format: Format, look: Look) -> Result<Vec<u8>> {
        drawn(look.size, format, |canvas| self.draw_on(canvas, look))
    }

    fn draw_on(&self, canvas: &Canvas<'_>, look: Look) -> Drawn {
        let bars = self.joined();
        let end = bars.last().map_or(self.start + 1.0, |(_, end, _)| *end);
        let highest = bars.iter().map(|(_, _, count)| *count).max().unwrap_or(0).max(1);
        let decimals = digits(&(self.start..end));
        let wide = grouped(highest).len() as u32 * look.text as u32 / 2;
        let mut builder = ChartBuilder::on(canvas);
        if !self.title.is_empty() {
            builder.caption(&self.title, (FONT, look.title).into_font().color(&INK));
        }
        let mut chart = builder
            .margin(12)
            .margin_right(2 * look.text)
            .x_label_area_size(3 * look.text as u32 + 2)
            .y_label_area_size(wide + 2 * look.text as u32 + 8)
            .build_cartesian_2d(
                Scale::new(
                    self.start..end,
                    if self.width.fract() == 0.0 { ScaleKind::Whole } else { ScaleKind::Linear },
                ),
                Scale::new(0.0..highest as f64 * 1.05, ScaleKind::Whole),
            )?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(INK)
            .label_style(look.letters())
            .axis_desc_style(look.letters())
            .x_labels(look.size.0 as usize / 80)
            .y_labels(8)
            .x_desc(&self.values)
            .y_desc(&self.counted)
            .x_label_formatter(&|value| tick(*value, decimals))
            .y_label_formatter(&|count| grouped(count.max(0.0).round() as u64))
            .draw()?;
        chart.draw_series(bars.into_iter().filter(|(_, _, count)| *count > 0).map(|(from, to, count)| {
            let gap = (to - from) * 0.06;
            Rectangle::new([(from + gap, 0.0), (to - gap, count as f64)], BLUE.filled())
        }))?;
        Ok(())
    }

    /// Joins neighbouring bars until 40 to 160 are left, fewer for small counts: from, to, count.
    fn joined(&self) -> Vec<(f64, f64, u64)> {
        let counted = self.bars.iter().sum::<u64>() as f64;
        let most = (4.0 * counted.sqrt()).clamp(40.0, 160.0) as usize;
        let together = self.bars.len().div_ceil(most).max(1);
        let bar = |(index, bars): (usize, &[u64])| {
            let from = self.start + (index * together) as f64 * self.width;
            (from, from + bars.len() as f64 * self.width, bars.iter().sum())
        };
        self.bars.chunks(together).enumerate().map(bar).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_bars_lose_nothing() {
        let counts: Vec<u64> = (0..1000).map(|i| if i < 10 { 0 } else { i }).collect();
        let histogram = Histogram::of_values("t", "plies", "games", &counts);
        assert_eq!((histogram.start, histogram.bars.len()), (9.5, 990));
        let joined = histogram.joined();
        assert!(joined.len() <= 160);
        assert_eq!(joined.iter().map(|bar| bar.2).sum::<u64>(), counts.iter().sum::<u64>());
        assert_eq!((joined[0].0, joined.last().unwrap().1), (9.5, 999.5));
    }

    #[test]
    fn few_values_have_wide_bars_and_whole_ticks() {
        let mut counts = vec![0; 200];
        [20, 57, 58, 58, 58, 120, 199].into_iter().for_each(|value: usize| counts[value] += 1);
        let histogram = Histogram::of_values("", "plies", "games", &counts);
        assert_eq!(histogram.joined().len(), 36, "180 values in bars of 5");
        let svg = String::from_utf8(histogram.drawn(Format::Svg, Look::PAGE).unwrap()).unwrap();
        let ticks = svg.split("<text").skip(1).filter_map(|text| text.split(['>', '<']).nth(1));
        let ticks: Vec<&str> = ticks.map(str::trim).collect();
        for tick in ["0", "1", "2", "3"] {
            assert_eq!(ticks.iter().filter(|text| **text == tick).count(), 1, "{ticks:?}");
        }
    }

    #[test]
    fn an_empty_histogram_can_be_drawn() {
        let empty = Histogram::of_values("nothing", "plies", "games", &[]);
        let svg = String::from_utf8(empty.drawn(Format::Svg, Look::PAGE).unwrap()).unwrap();
        assert!(svg.starts_with("<svg") && svg.contains("nothing"), "{svg}");
    }
}
