//! Colours, fonts and file formats of all pictures.
//!
//! Pictures have a white background; a dark page replaces the few colours named here. The palette suits the colour-blind
//! (Okabe and Ito, "Color Universal Design", 2008).

use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;

use super::png;
use patzer_io::error::{Error, Result};

pub const PAPER: RGBColor = RGBColor(255, 255, 255);
pub const INK: RGBColor = RGBColor(34, 34, 34);
pub const GRID: RGBColor = RGBColor(222, 222, 222);
/// Wins; first of a series.
pub const BLUE: RGBColor = RGBColor(0, 114, 178);
/// Draws; second of a series.
pub const GREEN: RGBColor = RGBColor(0, 158, 115);
/// Losses; third of a series.
pub const ORANGE: RGBColor = RGBColor(213, 94, 0);
/// Fourth of a series.
pub const PURPLE: RGBColor = RGBColor(204, 121, 167);

pub const FONT: &str = "sans-serif";

pub type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;

pub type DrawError = DrawingAreaErrorKind<std::io::Error>;
pub type Drawn<T = ()> = std::result::Result<T, DrawError>;

/// From 0 to 1: blue of increasing opacity, for any background.
pub fn shade(share: f64) -> RGBAColor {
    veil(BLUE, share)
}

/// From -1 to 1: orange, transparent at 0, to blue.
pub fn signed(share: f64) -> RGBAColor {
    if share < 0.0 { veil(ORANGE, -share) } else { veil(BLUE, share) }
}

/// Text colour on a [`shade`] or a [`signed`] colour.
pub fn on(share: f64) -> RGBColor {
    if share.abs() > 0.7 { PAPER } else { INK }
}

/// Three digits suffice and keep files short.
fn veil(colour: RGBColor, share: f64) -> RGBAColor {
    let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
    colour.mix((share * 1000.0).round() / 1000.0)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Width and height in pixels; a page scales it down.
    pub size: (u32, u32),
    pub text: i32,
    pub title: i32,
}

impl Look {
    /// A plot on a page, readable on a telephone.
    pub const PAGE: Look = Look { size: (560, 350), text: 18, title: 20 };

    pub fn letters(&self) -> TextStyle<'static> {
        (FONT, self.text).into_font().color(&INK)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Svg,
    Png,
}

impl Format {
    pub fn extension(self) -> &'static str {
        match self {
            Format::Svg => "svg",
            Format::Png => "png",
        }
    }
}

pub fn picture(path: &Path, size: (u32, u32), draw: impl FnOnce(&Canvas<'_>) -> Drawn) -> Result<()> {
    patzer_io::write(path, &drawn(size, Format::Svg, draw)?)
}

pub fn drawn(size: (u32, u32), format: Format, draw: impl FnOnce(&Canvas<'_>) -> Drawn) -> Result<Vec<u8>> {
    let mut svg = String::new();
    let canvas = SVGBackend::with_string(&mut svg, size).into_drawing_area();
    (canvas.fill(&PAPER).and_then(|()| draw(&canvas)).and_then(|()| canvas.present()))
        .map_err(|e| Error::internal(format!("a picture cannot be drawn: {e}")))?;
    drop(canvas);
    let svg = compact(&patzer_io::printable_lines(&svg));
    match format {
        Format::Svg => Ok(svg.into_bytes()),
        Format::Png => png::render(&svg),
    }
}

/// Removes default and repeated attributes. Texts contain no quotation marks, so none looks like an attribute.
fn compact(svg: &str) -> String {
    let redundant = [(" opacity=\"1\"", ""), (" stroke=\"none\"", ""), (" font-family=\"sans-serif\"", "")];
    let mut text = redundant.iter().fold(svg.to_string(), |text, (from, to)| text.replace(from, to));
    text = text.replacen("<svg ", "<svg font-family=\"sans-serif\" ", 1);
    // Font sizes have needless digits.
    let mut parts = text.split(" font-size=\"");
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let (size, rest) = part.split_once('"').unwrap_or((part, ""));
        let size = size
            .parse::<f64>()
            .map_or_else(|_| size.to_string(), |size| format!("{}", (size * 10.0).round() / 10.0));
        out += &format!(" font-size=\"{size}\"{rest}");
    }
    out.replace(">\n", ">").replace("\n<", "<")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shades_darken_away_from_0() {
        let depth = |share: f64| shade(share).3;
        assert!((0..100).all(|i| depth(f64::from(i) / 100.0) < depth(f64::from(i + 1) / 100.0)));
        assert_eq!((depth(-3.0), depth(7.0), depth(f64::NAN)), (0.0, 1.0, 0.0));
        let RGBAColor(r, g, b, depth) = signed(-0.25);
        assert_eq!((RGBColor(r, g, b), depth), (ORANGE, 0.25));
        assert_eq!((on(0.9), on(-0.9), on(0.1)), (PAPER, PAPER, INK));
    }
}
