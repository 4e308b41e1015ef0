//! Pictures as dots, for what takes no SVG.
//!
//! In: what plotters draws, in the pixels of the SVG. Out: a PNG of twice as many each way. Everything is drawn four
//! times as large and then averaged, which makes edges smooth. Letters are those of the bundled DejaVu Sans, of which
//! Latin, Greek and what numbers need are there.

use std::sync::LazyLock;

use ab_glyph::{Font, FontRef, Glyph, PxScale, ScaleFont, point};
use plotters_backend::rasterizer;
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{BackendColor, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind};

use patzer_io::error::{Error, Result};

/// Dots of the picture to a pixel of the SVG, each way.
const DENSITY: usize = 2;
/// Dots that are drawn to a dot of the picture, each way.
const SAMPLES: usize = 2;
const SCALE: i32 = (DENSITY * SAMPLES) as i32;

static LETTERS: LazyLock<Option<FontRef<'static>>> =
    LazyLock::new(|| FontRef::try_from_slice(include_bytes!("font/DejaVuSans.ttf")).ok());

type Drawn = std::result::Result<(), DrawingErrorKind<std::io::Error>>;
type Point = (i32, i32);

/// A picture in the making.
pub struct Raster {
    dots: Dots,
}

/// What is drawn, enlarged.
struct Dots {
    width: usize,
    height: usize,
    values: Vec<[u8; 3]>,
}

/// A stroke as wide as it has to be in the enlarged picture.
struct Wide(BackendColor, u32);

impl BackendStyle for Wide {
    fn color(&self) -> BackendColor {
        self.0
    }

    fn stroke_width(&self) -> u32 {
        self.1
    }
}

fn wide<S: BackendStyle>(style: &S) -> Wide {
    Wide(style.color(), style.stroke_width() * SCALE as u32)
}

fn large((x, y): Point) -> Point {
    (x * SCALE, y * SCALE)
}

impl Raster {
    /// White, of a size in pixels.
    pub fn new(size: (u32, u32)) -> Raster {
        let [width, height] = [size.0, size.1].map(|side| side as usize * SCALE as usize);
        Raster { dots: Dots { width, height, values: vec![[255; 3]; width * height] } }
    }

    /// The picture as a file.
    ///
    /// # Errors
    /// If it cannot be encoded, which is our fault.
    pub fn png(&self) -> Result<Vec<u8>> {
        let [width, height] = [self.dots.width, self.dots.height].map(|side| (side / SAMPLES) as u32);
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, width, height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        (encoder.write_header())
            .and_then(|mut writer| writer.write_image_data(&self.dots.averaged()))
            .map_err(|e| Error::internal(format!("a picture cannot be encoded: {e}")))?;
        Ok(file)
    }
}

impl Dots {
    fn averaged(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.values.len() * 3 / (SAMPLES * SAMPLES));
        for top in (0..self.height).step_by(SAMPLES) {
            for left in (0..self.width).step_by(SAMPLES) {
                for part in 0..3 {
                    let row = |y: usize| &self.values[y * self.width + left..][..SAMPLES];
                    let dots = (top..top + SAMPLES).flat_map(row);
                    let sum: usize = dots.map(|dot| usize::from(dot[part])).sum();
                    out.push((sum / (SAMPLES * SAMPLES)) as u8);
                }
            }
        }
        out
    }
}

// Shapes are plotters' own, made of single dots.
impl DrawingBackend for Dots {
    type ErrorType = std::io::Error;

    fn get_size(&self) -> (u32, u32) {
        (self.width as u32, self.height as u32)
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): Point, colour: BackendColor) -> Drawn {
        if (0..self.width as i32).contains(&x) && (0..self.height as i32).contains(&y) {
            let dot = &mut self.values[y as usize * self.width + x as usize];
            let (red, green, blue) = colour.rgb;
            for (old, new) in dot.iter_mut().zip([red, green, blue]) {
                *old = (f64::from(*old) * (1.0 - colour.alpha) + f64::from(new) * colour.alpha).round() as u8;
            }
        }
        Ok(())
    }
}

impl DrawingBackend for &mut Raster {
    type ErrorType = std::io::Error;

    fn get_size(&self) -> (u32, u32) {
        let (width, height) = self.dots.get_size();
        (width / SCALE as u32, height / SCALE as u32)
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): Point, colour: BackendColor) -> Drawn {
        self.draw_rect((x, y), (x + 1, y + 1), &colour, true)
    }

    fn draw_line<S: BackendStyle>(&mut self, from: Point, to: Point, style: &S) -> Drawn {
        self.dots.draw_line(large(from), large(to), &wide(style))
    }

    fn draw_rect<S: BackendStyle>(&mut self, from: Point, to: Point, style: &S, fill: bool) -> Drawn {
        if fill {
            return rasterizer::draw_rect(&mut self.dots, large(from), large(to), &style.color(), true);
        }
        let corners = [from, (to.0, from.1), to, (from.0, to.1), from];
        self.draw_path(corners, style)
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = Point>>(&mut self, path: I, style: &S) -> Drawn {
        self.dots.draw_path(path.into_iter().map(large), &wide(style))
    }

    fn draw_circle<S: BackendStyle>(&mut self, at: Point, radius: u32, style: &S, fill: bool) -> Drawn {
        self.dots.draw_circle(large(at), radius * SCALE as u32, &wide(style), fill)
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = Point>>(&mut self, path: I, style: &S) -> Drawn {
        self.dots.fill_polygon(path.into_iter().map(large), &style.color())
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, at: Point) -> Drawn {
        let Some(letters) = &*LETTERS else { return Ok(()) };
        // As the SVG has it: letters are smaller than plotters' number says.
        let em = style.size() as f32 / 1.24 * SCALE as f32;
        let height = letters.height_unscaled() / letters.units_per_em().unwrap_or(2048.0);
        let (glyphs, width) = line(letters, text, PxScale::from(em * height));
        let left = match style.anchor().h_pos {
            HPos::Left => 0.0,
            HPos::Center => -width / 2.0,
            HPos::Right => -width,
        };
        // Half the height of an x is 0.27 em.
        let base = match style.anchor().v_pos {
            VPos::Top => 0.76 * em,
            VPos::Center => 0.27 * em,
            VPos::Bottom => -0.27 * em,
        };
        let (at, turn) = (large(at), style.transform());
        for mut glyph in glyphs {
            glyph.position += point(left, base);
            let Some(outline) = letters.outline_glyph(glyph) else { continue };
            let corner = outline.px_bounds().min;
            outline.draw(|x, y, cover| {
                let (x, y) = turn.transform(corner.x as i32 + x as i32, corner.y as i32 + y as i32);
                // Drawing a dot of memory does not fail.
                let _ = self.dots.draw_pixel((at.0 + x, at.1 + y), style.color().mix(f64::from(cover)));
            });
        }
        Ok(())
    }
}

/// The letters of a line from 0 on, and its width.
fn line(letters: &FontRef<'static>, text: &str, scale: PxScale) -> (Vec<Glyph>, f32) {
    let scaled = letters.as_scaled(scale);
    let (mut x, mut before, mut glyphs) = (0.0, None, Vec::new());
    for letter in text.chars() {
        let id = letters.glyph_id(letter);
        x += before.map_or(0.0, |before| scaled.kern(before, id));
        glyphs.push(id.with_scale_and_position(scale, point(x, 0.0)));
        x += scaled.h_advance(id);
        before = Some(id);
    }
    (glyphs, x)
}

#[cfg(test)]
mod tests {
    use crate::style::{Format, INK, drawn};
    use plotters::prelude::*;

    fn decoded(file: &[u8]) -> (u32, u32, Vec<u8>) {
        let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
        let mut dots = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut dots).unwrap();
        (info.width, info.height, dots)
    }

    #[test]
    fn shapes_lie_where_the_svg_has_them() {
        let file = drawn((20, 10), Format::Png, |canvas| {
            canvas.draw(&Rectangle::new([(5, 2), (10, 6)], RED.filled()))?;
            canvas.draw(&Circle::new((15, 5), 2, BLUE.filled()))
        });
        let (width, height, dots) = decoded(&file.unwrap());
        assert_eq!((width, height), (40, 20));
        let at = |x: usize, y: usize| <[u8; 3]>::try_from(&dots[(y * 40 + x) * 3..][..3]).unwrap();
        assert_eq!((at(12, 6), at(8, 6), at(12, 2)), ([255, 0, 0], [255; 3], [255; 3]));
        assert_eq!((at(30, 10), at(34, 6)), ([0, 0, 255], [255; 3]));
    }

    #[test]
    fn letters_stand_around_their_anchor_and_can_be_turned() {
        let ink = |style: TextStyle<'_>| {
            let file =
                drawn((100, 100), Format::Png, |canvas| canvas.draw_text("wide ± σ", &style, (50, 50)));
            let (width, _, dots) = decoded(&file.unwrap());
            let places: Vec<(u32, u32)> = (0..)
                .zip(dots.chunks(3))
                .filter(|(_, dot)| dot[0] < 128)
                .map(|(i, _)| (i % width, i / width))
                .collect();
            let range = |of: fn(&(u32, u32)) -> u32| {
                (places.iter().map(of).min().unwrap(), places.iter().map(of).max().unwrap())
            };
            (range(|p| p.0), range(|p| p.1))
        };
        let letters = ("sans-serif", 16).into_font().color(&INK);
        let (x, y) = ink(letters.clone());
        assert!(x.0 >= 100 && x.1 > 180 && y.0 >= 98 && y.1 < 132, "{x:?} {y:?}");
        let up = letters.transform(FontTransform::Rotate270);
        let (turned_x, turned_y) = ink(up);
        assert!(turned_x.0 >= 98 && turned_x.1 < 132 && turned_y.1 <= 100, "{turned_x:?} {turned_y:?}");
        // Dots are averaged in squares that begin elsewhere on a turned line.
        assert!((turned_y.1 - turned_y.0).abs_diff(x.1 - x.0) <= 1, "{turned_y:?} {x:?}");
    }
}
