//! Colours, fonts and file formats of all pictures.
//!
//! Pictures have a white background; a dark page replaces the few colours named here. The palette suits the
//! colour-blind (Okabe and Ito, "Color Universal Design", 2008).

use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;

use super::png;
use patzer_io::error::{Error, Result};

pub(crate) const PAPER: RGBColor = RGBColor(255, 255, 255);
pub(crate) const INK: RGBColor = RGBColor(34, 34, 34);
pub(crate) const GRID: RGBColor = RGBColor(222, 222, 222);
/// Colour of wins, and first of a series.
pub(crate) const BLUE: RGBColor = RGBColor(0, 114, 178);
/// Colour of draws, and second of a series.
pub(crate) const GREEN: RGBColor = RGBColor(0, 158, 115);
/// Colour of losses, and third of a series.
pub(crate) const ORANGE: RGBColor = RGBColor(213, 94, 0);
/// Fourth colour of a series.
pub(crate) const PURPLE: RGBColor = RGBColor(204, 121, 167);

pub(crate) const FONT: &str = "sans-serif";

pub(crate) type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;

pub(crate) type DrawError = DrawingAreaErrorKind<std::io::Error>;
pub(crate) type Drawn<T = ()> = std::result::Result<T, DrawError>;

/// Blue of increasing opacity from 0 to 1, for any background.
pub(crate) fn shade(share: f64) -> RGBAColor {
    veil(BLUE, share)
}

/// Orange at -1, transparent at 0, blue at 1.
pub(crate) fn signed(share: f64) -> RGBAColor {
    if share < 0.0 { veil(ORANGE, -share) } else { veil(BLUE, share) }
}

/// Text colour on a [`shade`] or a [`signed`] colour.
pub(crate) fn on(share: f64) -> RGBColor {
    if share.abs() > 0.7 { PAPER } else { INK }
}

/// A colour at an opacity of three digits, which keep files short.
fn veil(colour: RGBColor, share: f64) -> RGBAColor {
    let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
    colour.mix((share * 1000.0).round() / 1000.0)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    /// Width and height in pixels; a page scales it down.
    pub size: (u32, u32),
    pub text: i32,
    pub title: i32,
}

impl Look {
    /// A plot on a page, readable on a telephone.
    pub(crate) const PAGE: Look = Look { size: (560, 350), text: 18, title: 20 };

    pub(crate) fn letters(&self) -> TextStyle<'static> {
        (FONT, self.text).into_font().color(&INK)
    }
}

/// File formats of pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Scalable Vector Graphics.
    Svg,
    /// Portable Network Graphics.
    Png,
}

impl Format {
    /// Ending of file names.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Svg => "svg",
            Format::Png => "png",
        }
    }
}

pub(crate) fn picture(path: &Path, size: (u32, u32), draw: impl FnOnce(&Canvas<'_>) -> Drawn) -> Result<()> {
    patzer_io::write(path, &drawn(size, Format::Svg, draw)?)
}

pub(crate) fn drawn(
    size: (u32, u32),
    format: Format,
    draw: impl FnOnce(&Canvas<'_>) -> Drawn,
) -> Result<Vec<u8>> {
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
