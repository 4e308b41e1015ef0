//! What pictures are drawn on: lines and letters of an SVG, or dots.
//!
//! In: what plotters draws. Out: the text of an SVG, or dots in memory. The two kinds of canvas have one type, so that a
//! picture is drawn by the same function for both.

use plotters::prelude::SVGBackend;
use plotters_backend::{BackendColor, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind};

use super::raster::Raster;

type Drawn = Result<(), DrawingErrorKind<std::io::Error>>;
type Point = (i32, i32);

/// One of the two.
pub enum Medium<'a> {
    /// An SVG.
    Svg(SVGBackend<'a>),
    /// Dots.
    Raster(&'a mut Raster),
}

macro_rules! on_either {
    ($self:ident, $medium:ident => $call:expr) => {
        match $self {
            Medium::Svg($medium) => $call,
            Medium::Raster($medium) => $call,
        }
    };
}

impl DrawingBackend for Medium<'_> {
    type ErrorType = std::io::Error;

    fn get_size(&self) -> (u32, u32) {
        on_either!(self, medium => medium.get_size())
    }

    fn ensure_prepared(&mut self) -> Drawn {
        on_either!(self, medium => medium.ensure_prepared())
    }

    fn present(&mut self) -> Drawn {
        on_either!(self, medium => medium.present())
    }

    fn draw_pixel(&mut self, at: Point, colour: BackendColor) -> Drawn {
        on_either!(self, medium => medium.draw_pixel(at, colour))
    }

    fn draw_line<S: BackendStyle>(&mut self, from: Point, to: Point, style: &S) -> Drawn {
        on_either!(self, medium => medium.draw_line(from, to, style))
    }

    fn draw_rect<S: BackendStyle>(&mut self, from: Point, to: Point, style: &S, fill: bool) -> Drawn {
        on_either!(self, medium => medium.draw_rect(from, to, style, fill))
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = Point>>(&mut self, path: I, style: &S) -> Drawn {
        on_either!(self, medium => medium.draw_path(path, style))
    }

    fn draw_circle<S: BackendStyle>(&mut self, at: Point, radius: u32, style: &S, fill: bool) -> Drawn {
        on_either!(self, medium => medium.draw_circle(at, radius, style, fill))
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = Point>>(&mut self, path: I, style: &S) -> Drawn {
        on_either!(self, medium => medium.fill_polygon(path, style))
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, at: Point) -> Drawn {
        on_either!(self, medium => medium.draw_text(text, style, at))
    }
}
