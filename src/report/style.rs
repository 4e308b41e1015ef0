//! What all pictures share: colours, letters, and how a picture becomes a file.
//!
//! In: a function that draws. Out: one SVG file, written whole or not at all. Pictures stand on their own white ground,
//! so they read the same on a light and on a dark page; colours are told apart by the colour-blind too (Okabe and
//! Ito, "Color Universal Design", 2008).

use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;

use crate::error::{Error, Result};

/// The ground.
pub const PAPER: RGBColor = RGBColor(255, 255, 255);
/// Letters and axes.
pub const INK: RGBColor = RGBColor(34, 34, 34);
/// Lines of the grid.
pub const GRID: RGBColor = RGBColor(222, 222, 222);
/// Wins, and whatever is first of a few things.
pub const BLUE: RGBColor = RGBColor(0, 114, 178);
/// Draws, and whatever is second.
pub const GREEN: RGBColor = RGBColor(0, 158, 115);
/// Losses, and whatever is third.
pub const ORANGE: RGBColor = RGBColor(213, 94, 0);
/// Whatever is fourth.
pub const PURPLE: RGBColor = RGBColor(204, 121, 167);

/// The letters of everything that is written.
pub const FONT: &str = "sans-serif";

/// What a drawing function draws on.
pub type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// What plotters says when a picture cannot be drawn.
pub type DrawError = DrawingAreaErrorKind<std::io::Error>;

/// From 0 to 1: pale to dark blue, even steps for the eye.
pub fn ramp(share: f64) -> RGBColor {
    const STOPS: [(f64, f64, f64); 5] = [
        (247.0, 251.0, 255.0),
        (198.0, 219.0, 239.0),
        (107.0, 174.0, 214.0),
        (33.0, 113.0, 181.0),
        (8.0, 48.0, 107.0),
    ];
    let share = if share.is_nan() { 0.0 } else { share };
    let place = share.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let low = (place as usize).min(STOPS.len() - 2);
    let (from, to, part) = (STOPS[low], STOPS[low + 1], place - low as f64);
    let mix = |a: f64, b: f64| (a + (b - a) * part).round() as u8;
    RGBColor(mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}

/// Draws a picture of a size in pixels and writes it.
///
/// # Errors
/// If the file cannot be written.
pub fn picture(
    path: &Path,
    size: (u32, u32),
    draw: impl FnOnce(&Canvas<'_>) -> std::result::Result<(), DrawError>,
) -> Result<()> {
    let mut svg = String::new();
    {
        let canvas = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        (canvas.fill(&PAPER).and_then(|()| draw(&canvas)).and_then(|()| canvas.present()))
            .map_err(|e| Error::internal(format!("{}: cannot be drawn: {e}", path.display())))?;
    }
    crate::io::write(path, svg.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ramp_darkens_from_end_to_end() {
        let light = |share: f64| {
            let RGBColor(r, g, b) = ramp(share);
            u32::from(r) + u32::from(g) + u32::from(b)
        };
        assert!((0..100).all(|i| light(f64::from(i) / 100.0) >= light(f64::from(i + 1) / 100.0)));
        assert_eq!((ramp(-3.0), ramp(7.0)), (RGBColor(247, 251, 255), RGBColor(8, 48, 107)));
        assert_eq!(ramp(f64::NAN), ramp(0.0));
    }
}
