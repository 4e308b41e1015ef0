//! Line and scatter plots.

use std::ops::Range;
use std::path::Path;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axes::{Axes, Chart, Extent, chart, top_axis};
use super::scale::ScaleKind;
use super::style::{Canvas, Drawn, FONT, Format, GRID, Look, PAPER, drawn, shade};
use patzer_io::error::Result;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Line,
    Dots,
}

#[derive(Debug, Clone)]
pub(crate) struct Series {
    /// Legend entry; empty for none.
    pub label: String,
    pub colour: RGBColor,
    pub mark: Mark,
    /// Points outside the axes are not drawn.
    pub points: Vec<(f64, f64)>,
    /// Number of observations of each dot, whose area grows with it; empty for equal dots.
    pub counts: Vec<u64>,
}

#[derive(Debug, Clone)]
pub(crate) struct Tile {
    pub x: Range<f64>,
    pub y: Range<f64>,
    /// Shade from 0 to 1.
    pub value: f64,
}

/// Area between two curves over the same x, such as an error band.
#[derive(Debug, Clone)]
pub(crate) struct Band {
    pub colour: RGBColor,
    /// Points of x, lower end and upper end.
    pub points: Vec<(f64, f64, f64)>,
}

#[derive(Debug, Clone)]
pub(crate) struct Level {
    pub label: String,
    pub y: f64,
    pub colour: RGBColor,
}

#[derive(Debug, Clone)]
pub(crate) struct Curves {
    pub axes: Axes,
    pub tiles: Vec<Tile>,
    pub bands: Vec<Band>,
    pub levels: Vec<Level>,
    pub series: Vec<Series>,
    pub legend: Legend,
    /// Another unit of x along the top: its name, and its length in units of x.
    pub top: Option<(String, f64)>,
}

#[derive(Debug, Clone)]
pub(crate) enum Legend {
    Within(SeriesLabelPosition),
    /// Right of the plot, where it hides no point.
    Beside,
}

impl Curves {
    /// An empty plot with limits that hold all the points.
    pub(crate) fn around(x: &str, y: &str, points: impl Iterator<Item = (f64, f64)>) -> Curves {
        let (mut x_range, mut y_range) = (Extent::default(), Extent::default());
        for (x, y) in points.filter(|(x, y)| x.is_finite() && y.is_finite()) {
            x_range.add(x);
            y_range.add(y);
        }
        let axes = Axes::new("", x, y, x_range.padded(0.02), y_range.padded(0.08));
        Curves { legend: Legend::Within(SeriesLabelPosition::UpperRight), ..Curves::within(axes) }
    }

    pub(crate) fn within(axes: Axes) -> Curves {
        Curves {
            axes,
            tiles: Vec::new(),
            bands: Vec::new(),
            levels: Vec::new(),
            series: Vec::new(),
            legend: Legend::Within(SeriesLabelPosition::UpperLeft),
            top: None,
        }
    }

    #[must_use]
    pub(crate) fn line(self, label: &str, colour: RGBColor, points: Vec<(f64, f64)>) -> Curves {
        self.with(label, colour, Mark::Line, points)
    }

    #[must_use]
    pub(crate) fn dots(self, label: &str, colour: RGBColor, points: Vec<(f64, f64)>) -> Curves {
        self.with(label, colour, Mark::Dots, points)
    }

    /// Adds room for the legend at the top.
    #[must_use]
    pub(crate) fn roomy(mut self) -> Curves {
        let range = &mut self.axes.y_range;
        range.end += 0.3 * (range.end - range.start);
        self
    }

    /// Makes x an axis of counts, whose ticks are whole.
    #[must_use]
    pub(crate) fn of_counts(mut self) -> Curves {
        self.axes.scales[0] = ScaleKind::Whole;
        self
    }

    /// Makes y logarithmic around positive values, with room for the legend; without such values it stays linear.
    #[must_use]
    pub(crate) fn log(mut self, values: impl Iterator<Item = f64> + Clone) -> Curves {
        let finite = values.filter(|value| value.is_finite());
        let (least, most) =
            finite.clone().fold((f64::INFINITY, 0.0), |(a, b), value| (value.min(a), value.max(b)));
        if least > 0.0 && most > 0.0 {
            let factor = (most / least).max(1.02);
            self.axes.y_range = least * factor.powf(-0.08)..most * factor.powf(0.4);
            self.axes.scales[1] = ScaleKind::Log;
        }
        self
    }

    fn with(mut self, label: &str, colour: RGBColor, mark: Mark, points: Vec<(f64, f64)>) -> Curves {
        self.series.push(Series { label: label.into(), colour, mark, points, counts: Vec::new() });
        self
    }

    pub(crate) fn drawn(&self, format: Format, look: Look) -> Result<Vec<u8>> {
        drawn(look.size, format, |canvas| self.draw(canvas, look))
    }

    fn draw(&self, canvas: &Canvas<'_>, look: Look) -> Drawn {
        let axes = &self.axes;
        let named: Vec<&Series> = self.series.iter().filter(|series| !series.label.is_empty()).collect();
        let beside = matches!(self.legend, Legend::Beside) && !named.is_empty();
        let (area, strip) = match beside {
            true => canvas.split_horizontally(look.size.0 - legend_width(&named, look)),
            false => (canvas.clone(), canvas.clone()),
        };
        let mut chart = chart(&area, axes, self.top.is_some(), true, look)?;
        if let Some(top) = &self.top {
            top_axis(&area, &chart, axes, top, look)?;
        }
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
        for one in &self.series {
            draw_series(&mut chart, axes, one)?;
            draw_infinite(&mut chart, axes, one)?;
        }
        let position = match &self.legend {
            Legend::Beside => return draw_legend(&strip, &named, look),
            _ if named.is_empty() => return Ok(()),
            Legend::Within(position) => position.clone(),
        };
        let mut labels = chart.configure_series_labels();
        labels.label_font(look.letters()).background_style(PAPER.mix(0.85)).border_style(GRID);
        labels.position(position).draw()
    }
}

const LEGEND_MARK: i32 = 18;

fn legend_width(named: &[&Series], look: Look) -> u32 {
    let letters = named.iter().map(|one| one.label.chars().count()).max().unwrap_or(0) as u32;
    letters * look.text as u32 * 6 / 10 + LEGEND_MARK as u32 + 14
}

fn draw_legend(strip: &Canvas<'_>, named: &[&Series], look: Look) -> Drawn {
    for (row, one) in named.iter().enumerate() {
        let y = 3 * look.text + row as i32 * (look.text * 3 / 2);
        let colour = one.colour;
        match one.mark {
            Mark::Line => {
                strip.draw(&PathElement::new([(0, y), (LEGEND_MARK, y)], colour.stroke_width(2)))?
            }
            Mark::Dots => strip.draw(&Circle::new((LEGEND_MARK / 2, y), 3, colour.mix(0.55).filled()))?,
        }
        let style = look.letters().pos(Pos::new(HPos::Left, VPos::Center));
        strip.draw(&Text::new(one.label.clone(), (LEGEND_MARK + 6, y), style))?;
    }
    Ok(())
}

/// Marks infinite values at the edge of the plot by arrowheads.
fn draw_infinite(chart: &mut Chart<'_, '_>, axes: &Axes, one: &Series) -> Drawn {
    let beyond = one.points.iter().filter(|(x, y)| axes.x_range.contains(x) && y.is_infinite());
    let Range { start, end } = axes.y_range;
    let mark = |&(x, y): &(f64, f64)| {
        let (edge, tip) = if y > 0.0 { (end, 1) } else { (start, -1) };
        EmptyElement::at((x, edge))
            + Polygon::new(vec![(-6, 10 * tip), (6, 10 * tip), (0, 0)], one.colour.filled())
    };
    chart.draw_series(beyond.map(mark)).map(drop)
}

/// Radius of a dot, whose area is its share of the counts, never too small to see.
fn radius(count: u64, most: u64) -> u32 {
    (7.0 * (count as f64 / most.max(1) as f64).sqrt()).round().max(1.0) as u32
}

fn draw_series<'a, 'b: 'a>(chart: &mut Chart<'a, 'b>, axes: &Axes, one: &Series) -> Drawn {
    // The end of the range counts as inside.
    let inside =
        |p: &&(f64, f64)| (axes.x_range.contains(&p.0) || p.0 == axes.x_range.end) && p.1.is_finite();
    let (colour, mark) = (one.colour, one.mark);
    let drawn = match mark {
        Mark::Line => {
            // A value that is not finite interrupts the line.
            for part in one.points.split(|point| !point.1.is_finite()).skip(1).filter(|part| !part.is_empty())
            {
                let points = part.iter().filter(inside).copied();
                chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?;
            }
            let first = one.points.iter().take_while(|point| point.1.is_finite()).filter(inside).copied();
            chart.draw_series(LineSeries::new(first, colour.stroke_width(2)))?
        }
        Mark::Dots => {
            let most = one.counts.iter().copied().max().unwrap_or(0);
            let size = |i: usize| one.counts.get(i).map_or(3, |count| radius(*count, most));
            let points = one.points.iter().enumerate().filter(|(_, point)| inside(point));
            chart.draw_series(points.map(|(i, p)| Circle::new(*p, size(i), colour.mix(0.55).filled())))?
        }
    };
    if !one.label.is_empty() {
        drawn.label(one.label.clone()).legend(move |(x, y)| match mark {
            Mark::Line => PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)).into_dyn(),
            Mark::Dots => Circle::new((x + 9, y), 3, colour.mix(0.55).filled()).into_dyn(),
        });
    }
    Ok(())
}

pub(super) const FILE: Look = Look { size: (860, 560), text: 14, title: 18 };

pub(crate) fn curves(path: &Path, axes: &Axes, series: &[Series], top: Option<(String, f64)>) -> Result<()> {
    let curves =
        Curves { series: series.to_vec(), legend: Legend::Beside, top, ..Curves::within(axes.clone()) };
    patzer_io::write(path, &curves.drawn(Format::Svg, FILE)?)
}

pub(super) fn tile(tile: &Tile) -> Rectangle<(f64, f64)> {
    let corners = [(tile.x.start, tile.y.start), (tile.x.end, tile.y.end)];
    Rectangle::new(corners, shade(tile.value).filled())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axes::axes;
    use crate::style::BLUE;

    #[test]
    fn dots_grow_with_their_counts_and_the_legend_and_the_top_axis_are_outside_the_plot() {
        let dots = Series {
            label: "counted".into(),
            colour: BLUE,
            mark: Mark::Dots,
            points: vec![(0.0, 0.0), (1.0, 1.0), (1.5, 1.0)],
            counts: vec![400, 100, 1],
        };
        let top = Some(("pawns".to_string(), 0.25));
        let curves = Curves { series: vec![dots], legend: Legend::Beside, top, ..Curves::within(axes()) };
        let svg = String::from_utf8(curves.drawn(Format::Svg, FILE).unwrap()).unwrap();
        let number = |circle: &str, name: &str| -> f64 {
            let (_, value) = circle.split_once(&format!(" {name}=\"")).unwrap();
            value.split('"').next().unwrap().parse().unwrap()
        };
        let circles: Vec<&str> = svg.split("<circle").skip(1).collect();
        let radii: Vec<f64> = circles.iter().map(|circle| number(circle, "r")).collect();
        // The last dot is the legend's.
        assert_eq!(radii, [7.0, 4.0, 1.0, 3.0]);
        assert!(number(circles[3], "cx") > number(circles[2], "cx"));
        let texts: Vec<&str> =
            svg.split('>').filter_map(|part| part.split('<').next()).map(str::trim).collect();
        for text in ["counted", "pawns", "-8", "-6", "8"] {
            assert!(texts.contains(&text), "{text}: {texts:?}");
        }
        assert!(!texts.contains(&"-7"), "{texts:?}");
    }

    #[test]
    fn infinite_values_are_marked_at_the_edge_and_interrupt_the_line() {
        let points =
            vec![(-2.0, f64::INFINITY), (-1.0, 0.0), (0.0, 1.0), (0.5, f64::NAN), (1.0, 0.5), (1.5, 1.0)];
        let curves = Curves::within(axes()).line("", BLUE, points);
        let drawn = |curves: &Curves| String::from_utf8(curves.drawn(Format::Svg, FILE).unwrap()).unwrap();
        let svg = drawn(&curves);
        let of_line = |tag: &&str| tag.starts_with("polyline") && tag.contains("#0072B2");
        assert_eq!(svg.split('<').filter(of_line).count(), 2, "{svg}");
        let arrows = |svg: &str| svg.split('<').filter(|tag| tag.starts_with("polygon")).count();
        assert_eq!(arrows(&svg), 1);
        assert_eq!(arrows(&drawn(&Curves::within(axes()).line("", BLUE, vec![(0.0, f64::NEG_INFINITY)]))), 1);
    }

    #[test]
    fn plots_are_complete_files_with_their_labels() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.svg");
        let series =
            |mark, points| Series { label: "seen".into(), colour: BLUE, mark, points, counts: Vec::new() };
        let all =
            [series(Mark::Line, vec![(0.0, 0.0), (1.0, 1.0)]), series(Mark::Dots, vec![(9.0, f64::NAN)])];
        curves(&path, &axes(), &all, None).unwrap();
        let svg = std::fs::read_to_string(&path).unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>") && svg.contains("seen"));
    }
}
