//! Line and scatter plots.

use std::ops::Range;
use std::path::Path;

use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use super::style::{Canvas, Drawn, FONT, Format, GRID, INK, Look, PAPER, drawn, shade};
use patzer_io::error::Result;

#[derive(Debug, Clone)]
pub struct Axes {
    pub title: String,
    pub x: String,
    pub y: String,
    pub x_range: Range<f64>,
    pub y_range: Range<f64>,
}

impl Axes {
    pub fn new(title: &str, x: &str, y: &str, x_range: Range<f64>, y_range: Range<f64>) -> Axes {
        Axes { title: title.into(), x: x.into(), y: y.into(), x_range, y_range }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    Line,
    Dots,
}

#[derive(Debug, Clone)]
pub struct Series {
    /// Legend entry; none if empty.
    pub label: String,
    pub colour: RGBColor,
    pub mark: Mark,
    /// Points outside the axes are not drawn.
    pub points: Vec<(f64, f64)>,
}

#[derive(Debug, Clone)]
pub struct Tile {
    pub x: Range<f64>,
    pub y: Range<f64>,
    /// From 0 to 1.
    pub value: f64,
}

/// The area between two curves over the same x, such as an error band.
#[derive(Debug, Clone)]
pub struct Band {
    pub colour: RGBColor,
    /// x, lower end, upper end.
    pub points: Vec<(f64, f64, f64)>,
}

#[derive(Debug, Clone)]
pub struct Level {
    pub label: String,
    pub y: f64,
    pub colour: RGBColor,
}

#[derive(Debug, Clone)]
pub struct Curves {
    pub axes: Axes,
    pub tiles: Vec<Tile>,
    pub bands: Vec<Band>,
    pub levels: Vec<Level>,
    pub series: Vec<Series>,
    pub legend: SeriesLabelPosition,
}

impl Curves {
    /// An empty plot with limits that hold all the points.
    pub fn around(x: &str, y: &str, points: impl Iterator<Item = (f64, f64)>) -> Curves {
        let (mut x_range, mut y_range) = (Extent::default(), Extent::default());
        for (x, y) in points.filter(|(x, y)| x.is_finite() && y.is_finite()) {
            x_range.add(x);
            y_range.add(y);
        }
        let axes = Axes::new("", x, y, x_range.padded(0.02), y_range.padded(0.08));
        Curves { legend: SeriesLabelPosition::UpperRight, ..Curves::within(axes) }
    }

    pub fn within(axes: Axes) -> Curves {
        Curves {
            axes,
            tiles: Vec::new(),
            bands: Vec::new(),
            levels: Vec::new(),
            series: Vec::new(),
            legend: SeriesLabelPosition::UpperLeft,
        }
    }

    #[must_use]
    pub fn line(self, label: &str, colour: RGBColor, points: Vec<(f64, f64)>) -> Curves {
        self.with(label, colour, Mark::Line, points)
    }

    #[must_use]
    pub fn dots(self, label: &str, colour: RGBColor, points: Vec<(f64, f64)>) -> Curves {
        self.with(label, colour, Mark::Dots, points)
    }

    /// Leaves room for the legend at the top.
    #[must_use]
    pub fn roomy(mut self) -> Curves {
        let range = &mut self.axes.y_range;
        range.end += 0.3 * (range.end - range.start);
        self
    }

    fn with(mut self, label: &str, colour: RGBColor, mark: Mark, points: Vec<(f64, f64)>) -> Curves {
        self.series.push(Series { label: label.into(), colour, mark, points });
        self
    }

    pub fn drawn(&self, format: Format, look: Look) -> Result<Vec<u8>> {
        drawn(look.size, format, |canvas| self.draw(canvas, look))
    }

    fn draw(&self, canvas: &Canvas<'_>, look: Look) -> Drawn {
        let axes = &self.axes;
        let mut chart = chart(canvas, axes, true, look)?;
        chart.draw_series(self.tiles.iter().map(tile))?;
        for band in &self.bands {
            let low = band.points.iter().map(|&(x, low, _)| (x, low));
            let high = band.points.iter().rev().map(|&(x, _, high)| (x, high));
            let colour = band.colour.mix(0.2).filled();
            chart.draw_series(std::iter::once(Polygon::new(low.chain(high).collect::<Vec<_>>(), colour)))?;
        }
        for level in &self.levels {
            let ends = [(axes.x_range.start, level.y), (axes.x_range.end, level.y)];
            let line = PathElement::new(ends, level.colour.mix(0.8).stroke_width(1));
            chart.draw_series(std::iter::once(line))?;
            let width = axes.x_range.end - axes.x_range.start;
            let place = (axes.x_range.start + 0.01 * width, level.y);
            let style = (FONT, look.text).into_font().color(&level.colour);
            chart.draw_series(std::iter::once(Text::new(level.label.clone(), place, style)))?;
        }
        let labelled = self.series.iter().any(|series| !series.label.is_empty());
        for one in &self.series {
            draw_series(&mut chart, axes, one)?;
        }
        if !labelled {
            return Ok(());
        }
        let mut labels = chart.configure_series_labels();
        labels.label_font(look.letters()).background_style(PAPER.mix(0.85)).border_style(GRID);
        labels.position(self.legend.clone()).draw()
    }
}

fn draw_series<'a, 'b: 'a>(chart: &mut Chart<'a, 'b>, axes: &Axes, one: &Series) -> Drawn {
    // The end of the range counts as inside.
    let inside =
        |p: &&(f64, f64)| (axes.x_range.contains(&p.0) || p.0 == axes.x_range.end) && p.1.is_finite();
    let points = one.points.iter().filter(inside).copied();
    let (colour, mark) = (one.colour, one.mark);
    let drawn = match mark {
        Mark::Line => chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?,
        Mark::Dots => chart.draw_series(points.map(|p| Circle::new(p, 3, colour.mix(0.55).filled())))?,
    };
    if !one.label.is_empty() {
        drawn.label(one.label.clone()).legend(move |(x, y)| match mark {
            Mark::Line => PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)).into_dyn(),
            Mark::Dots => Circle::new((x + 9, y), 3, colour.mix(0.55).filled()).into_dyn(),
        });
    }
    Ok(())
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Extent(Option<(f64, f64)>);

impl Extent {
    pub fn add(&mut self, value: f64) {
        let (low, high) = self.0.unwrap_or((value, value));
        self.0 = Some((low.min(value), high.max(value)));
    }

    /// The range with a margin, as a share of its width; never empty.
    pub fn padded(self, share: f64) -> Range<f64> {
        let (low, high) = self.0.unwrap_or((0.0, 1.0));
        let distance = if high > low { high - low } else { low.abs().max(1.0) };
        low - share * distance..high + share * distance
    }
}

pub(super) type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

pub(super) const FILE: Look = Look { size: (860, 560), text: 14, title: 18 };

pub fn curves(path: &Path, axes: &Axes, series: &[Series], legend: SeriesLabelPosition) -> Result<()> {
    let curves = Curves { series: series.to_vec(), legend, ..Curves::within(axes.clone()) };
    patzer_io::write(path, &curves.drawn(Format::Svg, FILE)?)
}

pub(super) fn tile(tile: &Tile) -> Rectangle<(f64, f64)> {
    let corners = [(tile.x.start, tile.y.start), (tile.x.end, tile.y.end)];
    Rectangle::new(corners, shade(tile.value).filled())
}

pub(super) fn chart<'a, 'b>(
    canvas: &'a Canvas<'b>,
    axes: &Axes,
    grid: bool,
    look: Look,
) -> Drawn<Chart<'a, 'b>> {
    let mut builder = ChartBuilder::on(canvas);
    if !axes.title.is_empty() {
        builder.caption(&axes.title, (FONT, look.title, &INK));
    }
    let digits = [&axes.x_range, &axes.y_range].map(digits);
    let widest = [axes.y_range.start, axes.y_range.end].map(|y| tick(y, digits[1]).len());
    let wide = widest.into_iter().max().unwrap_or(0) as u32 * look.text as u32 / 2;
    // The last tick's label extends beyond the axis.
    builder
        .margin(14)
        .margin_right(2 * look.text)
        .x_label_area_size(3 * look.text as u32 + 4)
        .y_label_area_size(wide.max(18) + 2 * look.text as u32);
    let mut chart = builder.build_cartesian_2d(axes.x_range.clone(), axes.y_range.clone())?;
    let mut mesh = chart.configure_mesh();
    mesh.x_desc(&axes.x).y_desc(&axes.y).axis_style(INK).label_style(look.letters());
    let [x_tick, y_tick] = digits.map(|digits| move |value: &f64| tick(*value, digits));
    mesh.x_label_formatter(&x_tick).y_label_formatter(&y_tick);
    mesh.x_labels(look.size.0 as usize / 90).y_labels(8);
    mesh.axis_desc_style(look.letters()).bold_line_style(GRID).light_line_style(TRANSPARENT);
    if !grid {
        mesh.disable_mesh();
    }
    mesh.draw()?;
    Ok(chart)
}

pub(super) fn digits(range: &Range<f64>) -> usize {
    let step = (range.end - range.start).abs() / 10.0;
    if step > 0.0 { (-(step.log10().floor()) + 1.0).clamp(0.0, 9.0) as usize } else { 3 }
}

pub(super) fn tick(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    let short = if digits > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    match short {
        "-0" => "0".into(),
        short => short.into(),
    }
}

#[cfg(test)]
pub(super) fn axes() -> Axes {
    Axes::new("t", "x", "y", -2.0..2.0, -2.0..2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::BLUE;

    #[test]
    fn ticks_have_no_trailing_zeros() {
        assert_eq!([0.1 + 0.2, -1e-17, -400.0, 0.125].map(|v| tick(v, 3)), ["0.3", "0", "-400", "0.125"]);
        assert_eq!([digits(&(0.0..1.0)), digits(&(0.07..0.08)), digits(&(-400.0..400.0))], [2, 4, 0]);
        assert_eq!([tick(0.0705, 4), tick(100.0, 0)], ["0.0705", "100"]);
    }

    #[test]
    fn plots_are_complete_files_with_their_labels() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.svg");
        let series = |mark, points| Series { label: "seen".into(), colour: BLUE, mark, points };
        let all =
            [series(Mark::Line, vec![(0.0, 0.0), (1.0, 1.0)]), series(Mark::Dots, vec![(9.0, f64::NAN)])];
        curves(&path, &axes(), &all, SeriesLabelPosition::UpperLeft).unwrap();
        let svg = std::fs::read_to_string(&path).unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>") && svg.contains("seen"));
    }
}
