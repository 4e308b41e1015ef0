//! Axes of plots: ranges, scales, ticks and labels.

use std::ops::Range;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::scale::{Scale, ScaleKind, round_step};
use super::style::{Canvas, Drawn, FONT, GRID, INK, Look};

#[derive(Debug, Clone)]
pub(crate) struct Axes {
    pub title: String,
    pub x: String,
    pub y: String,
    pub x_range: Range<f64>,
    pub y_range: Range<f64>,
    /// Kinds of the scales of x and y.
    pub scales: [ScaleKind; 2],
}

impl Axes {
    pub(crate) fn new(title: &str, x: &str, y: &str, x_range: Range<f64>, y_range: Range<f64>) -> Axes {
        Axes {
            title: title.into(),
            x: x.into(),
            y: y.into(),
            x_range,
            y_range,
            scales: [ScaleKind::Linear; 2],
        }
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Extent(Option<(f64, f64)>);

impl Extent {
    pub(crate) fn add(&mut self, value: f64) {
        let (low, high) = self.0.unwrap_or((value, value));
        self.0 = Some((low.min(value), high.max(value)));
    }

    /// The range with a margin, as a share of its width; never empty.
    pub(crate) fn padded(self, share: f64) -> Range<f64> {
        let (low, high) = self.0.unwrap_or((0.0, 1.0));
        let distance = if high > low { high - low } else { low.abs().max(1.0) };
        low - share * distance..high + share * distance
    }
}

pub(super) type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Scale, Scale>>;

pub(super) fn chart<'a, 'b>(
    canvas: &'a Canvas<'b>,
    axes: &Axes,
    top: bool,
    grid: bool,
    look: Look,
) -> Drawn<Chart<'a, 'b>> {
    let mut builder = ChartBuilder::on(canvas);
    if !axes.title.is_empty() && !top {
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
    if top {
        // A label area would repeat the labels of x.
        builder.margin_top(look.title + 3 * look.text + 14);
    }
    let [x, y] = axes.scales;
    let (x, y) = (Scale::new(axes.x_range.clone(), x), Scale::new(axes.y_range.clone(), y));
    let mut chart = builder.build_cartesian_2d(x, y)?;
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

/// Labels the top of a plot in another unit of x: whole units or more, with ticks halfway.
pub(super) fn top_axis(
    canvas: &Canvas<'_>,
    chart: &Chart<'_, '_>,
    axes: &Axes,
    (name, unit): &(String, f64),
    look: Look,
) -> Drawn {
    let (columns, rows) = canvas.get_pixel_range();
    let place = |x: f64| {
        let (x, y) = chart.backend_coord(&(x, axes.y_range.end));
        (x - columns.start, y - rows.start)
    };
    let (from, to) = (axes.x_range.start / unit, axes.x_range.end / unit);
    let half = round_step((to - from) / 8.0).max(1.0) / 2.0;
    let style = look.letters().pos(Pos::new(HPos::Center, VPos::Bottom));
    for i in (from / half).ceil() as i64..=(to / half).floor() as i64 {
        let value = i as f64 * half;
        let (x, y) = place(value * unit);
        canvas.draw(&PathElement::new([(x, y - 4), (x, y)], INK))?;
        if i % 2 == 0 {
            canvas.draw(&Text::new(tick(value, 0), (x, y - 6), style.clone()))?;
        }
    }
    let ((left, y), (right, _)) = (place(axes.x_range.start), place(axes.x_range.end));
    let middle = (left + right) / 2;
    canvas.draw(&Text::new(name.clone(), (middle, y - 8 - look.text), style.clone()))?;
    let title = (FONT, look.title).into_font().color(&INK).pos(Pos::new(HPos::Center, VPos::Top));
    canvas.draw(&Text::new(axes.title.clone(), (middle, 14), title))?;
    Ok(())
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

    #[test]
    fn ticks_have_no_trailing_zeros() {
        assert_eq!([0.1 + 0.2, -1e-17, -400.0, 0.125].map(|v| tick(v, 3)), ["0.3", "0", "-400", "0.125"]);
        assert_eq!([digits(&(0.0..1.0)), digits(&(0.07..0.08)), digits(&(-400.0..400.0))], [2, 4, 0]);
        assert_eq!([tick(0.0705, 4), tick(100.0, 0)], ["0.0705", "100"]);
        assert_eq!([1.2, 3.0, 7.0, 0.04].map(round_step), [2.0, 5.0, 10.0, 0.05]);
    }
}
