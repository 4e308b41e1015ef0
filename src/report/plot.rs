//! Curves and contours.
//!
//! In: points and functions with the words for their axes. Out: SVG through [`style::picture`](super::style::picture).

use std::ops::Range;
use std::path::Path;

use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use super::style::{Canvas, DrawError, FONT, GRID, INK, PAPER, picture, ramp};
use crate::error::Result;

/// The words and limits of a plot.
#[derive(Debug, Clone)]
pub struct Axes {
    /// Above the plot.
    pub title: String,
    /// What x is, with its unit.
    pub x: String,
    /// What y is, with its unit.
    pub y: String,
    /// Limits of x.
    pub x_range: Range<f64>,
    /// Limits of y.
    pub y_range: Range<f64>,
}

/// How the points of a series are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Joined by a line.
    Line,
    /// Each as a dot.
    Dots,
}

/// Points that belong together.
#[derive(Debug, Clone)]
pub struct Series {
    /// What the legend calls them; nothing if it is empty.
    pub label: String,
    /// Their colour.
    pub colour: RGBColor,
    /// How they are drawn.
    pub mark: Mark,
    /// Their coordinates; points outside the axes are not drawn.
    pub points: Vec<(f64, f64)>,
}

/// A rectangle with a value: one place of measured data.
#[derive(Debug, Clone)]
pub struct Tile {
    /// Its extent along x.
    pub x: Range<f64>,
    /// Its extent along y.
    pub y: Range<f64>,
    /// From 0 to 1.
    pub value: f64,
}

type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Draws series into one plot, with a legend where it hides least.
///
/// # Errors
/// If the file cannot be written.
pub fn curves(path: &Path, axes: &Axes, series: &[Series], legend: SeriesLabelPosition) -> Result<()> {
    picture(path, (860, 560), |canvas| {
        let mut chart = chart(canvas, axes, true)?;
        for one in series {
            let inside = |p: &&(f64, f64)| axes.x_range.contains(&p.0) && p.1.is_finite();
            let points = one.points.iter().filter(inside).copied();
            let colour = one.colour;
            let drawn = match one.mark {
                Mark::Line => chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?,
                Mark::Dots => {
                    chart.draw_series(points.map(|p| Circle::new(p, 3, colour.mix(0.55).filled())))?
                }
            };
            if !one.label.is_empty() {
                let mark = one.mark;
                drawn.label(one.label.clone()).legend(move |(x, y)| match mark {
                    Mark::Line => PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)).into_dyn(),
                    Mark::Dots => Circle::new((x + 9, y), 3, colour.mix(0.55).filled()).into_dyn(),
                });
            }
        }
        let mut labels = chart.configure_series_labels();
        labels.label_font((FONT, 14, &INK)).background_style(WHITE.mix(0.85)).border_style(GRID);
        labels.position(legend).draw()
    })
}

/// Draws tiles of measured shares beside a function's bands, both under the function's contour lines.
///
/// # Errors
/// If the file cannot be written.
pub fn contours(
    path: &Path,
    axes: &Axes,
    tiles: &[Tile],
    function: impl Fn(f64, f64) -> f64,
    levels: &[f64],
) -> Result<()> {
    let (columns, rows) = (240, 120);
    let lines: Vec<_> =
        levels.iter().map(|&level| (level, contour(axes, (columns, rows), &function, level))).collect();
    picture(path, (1_240, 560), |canvas| {
        let (left, right) = canvas.split_horizontally(620);
        for (canvas, words) in [(&left, "data, lines of the model"), (&right, "model")] {
            let axes = Axes { title: format!("{}: {words}", axes.title), ..axes.clone() };
            let mut chart = chart(canvas, &axes, false)?;
            if words == "model" {
                chart.draw_series(bands(&axes, (columns, rows), &function, levels))?;
            } else {
                let rectangle = |t: &Tile| {
                    let corners = [(t.x.start, t.y.start), (t.x.end, t.y.end)];
                    Rectangle::new(corners, ramp(t.value).filled())
                };
                chart.draw_series(tiles.iter().map(rectangle))?;
            }
            for (level, segments) in &lines {
                let path = |s: &[(f64, f64); 2]| PathElement::new(*s, INK.mix(0.8).stroke_width(1));
                chart.draw_series(segments.iter().map(path))?;
                write_level(&mut chart, *level, segments)?;
            }
        }
        Ok(())
    })
}

/// Sets up the axes of a plot.
fn chart<'a, 'b>(
    canvas: &'a Canvas<'b>,
    axes: &Axes,
    grid: bool,
) -> std::result::Result<Chart<'a, 'b>, DrawError> {
    let mut builder = ChartBuilder::on(canvas);
    builder.caption(&axes.title, (FONT, 18, &INK)).margin(14);
    builder.x_label_area_size(46).y_label_area_size(58);
    let mut chart = builder.build_cartesian_2d(axes.x_range.clone(), axes.y_range.clone())?;
    let mut mesh = chart.configure_mesh();
    mesh.x_desc(&axes.x).y_desc(&axes.y).axis_style(INK).label_style((FONT, 13, &INK));
    mesh.x_label_formatter(&tick).y_label_formatter(&tick);
    mesh.axis_desc_style((FONT, 14, &INK)).bold_line_style(GRID).light_line_style(TRANSPARENT);
    if !grid {
        mesh.disable_mesh();
    }
    mesh.draw()?;
    Ok(chart)
}

/// A tick's number without needless digits.
fn tick(value: &f64) -> String {
    let text = format!("{value:.3}");
    match text.trim_end_matches('0').trim_end_matches('.') {
        "-0" => "0".into(),
        short => short.into(),
    }
}

/// The function as rectangles, one a stretch of a grid's row that lies between the same levels, coloured by the
/// middle between them.
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
            rectangles.push(Rectangle::new(corners, ramp(middle(above)).filled()));
        }
    }
    rectangles
}

/// The lines of a grid over a range, by index from 0 to `steps`.
fn grid(range: &Range<f64>, steps: usize) -> impl Fn(usize) -> f64 + use<> {
    let (start, step) = (range.start, (range.end - range.start) / steps as f64);
    move |i| start + step * i as f64
}

/// Where a function crosses a level, as short segments, by marching squares over a grid.
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

/// Writes a contour's level on it, in the middle of its length.
fn write_level(
    chart: &mut Chart<'_, '_>,
    level: f64,
    segments: &[[(f64, f64); 2]],
) -> std::result::Result<(), DrawError> {
    let Some(&[at, _]) = segments.get(segments.len() / 2) else { return Ok(()) };
    // What lies under a high level is dark.
    let colour = if level < 0.6 { INK } else { PAPER };
    let text = Text::new(format!("{level}"), at, (FONT, 12).into_font().color(&colour));
    chart.draw_series(std::iter::once(text))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::style::BLUE;

    fn axes() -> Axes {
        let [title, x, y] = ["t", "x", "y"].map(String::from);
        Axes { title, x, y, x_range: -2.0..2.0, y_range: -2.0..2.0 }
    }

    #[test]
    fn a_contour_of_a_cone_is_a_circle() {
        let segments = contour(&axes(), (80, 80), &|x, y| (x * x + y * y).sqrt(), 1.0);
        let length: f64 = segments.iter().map(|[a, b]| (a.0 - b.0).hypot(a.1 - b.1)).sum();
        assert!((length - std::f64::consts::TAU).abs() < 0.01, "{length}");
        assert!(segments.iter().flatten().all(|p| (p.0.hypot(p.1) - 1.0).abs() < 0.01));
        assert!(contour(&axes(), (8, 8), &|x, _| x, 5.0).is_empty());
    }

    #[test]
    fn ticks_have_no_needless_digits() {
        assert_eq!([0.1 + 0.2, -1e-17, -400.0, 0.125].map(|v| tick(&v)), ["0.3", "0", "-400", "0.125"]);
    }

    #[test]
    fn pictures_are_whole_files_with_their_words() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.svg");
        let series = |mark, points| Series { label: "seen".into(), colour: BLUE, mark, points };
        let all =
            [series(Mark::Line, vec![(0.0, 0.0), (1.0, 1.0)]), series(Mark::Dots, vec![(9.0, f64::NAN)])];
        curves(&path, &axes(), &all, SeriesLabelPosition::UpperLeft).unwrap();
        let svg = std::fs::read_to_string(&path).unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>") && svg.contains("seen"));
        let tile = Tile { x: 0.0..1.0, y: 0.0..1.0, value: 0.5 };
        contours(&path, &axes(), &[tile], |x, _| x, &[0.25, 0.75]).unwrap();
        let svg = std::fs::read_to_string(&path).unwrap();
        assert!(svg.contains("0.75") && svg.trim_end().ends_with("</svg>"));
    }
}
