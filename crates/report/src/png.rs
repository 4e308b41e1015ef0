//! Renders SVG pictures as PNG, with the bundled DejaVu Sans: no font of the system is needed.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use patzer_io::error::{Error, Result};

/// Dots of the PNG per pixel of the SVG, each way.
const DENSITY: f32 = 2.0;

static OPTIONS: LazyLock<Options<'static>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    // Latin, Greek, and the signs that numbers need.
    fonts.load_font_data(include_bytes!("font/DejaVuSans.ttf").to_vec());
    fonts.set_sans_serif_family("DejaVu Sans");
    Options { fontdb: Arc::new(fonts), ..Options::default() }
});

pub(crate) fn render(svg: &str) -> Result<Vec<u8>> {
    let fault = |reason: &dyn std::fmt::Display| Error::internal(format!("a picture has no PNG: {reason}"));
    let tree = Tree::from_str(svg, &OPTIONS).map_err(|e| fault(&e))?;
    let [width, height] = [tree.size().width(), tree.size().height()].map(|side| (side * DENSITY) as u32);
    let mut picture = Pixmap::new(width, height).ok_or_else(|| fault(&"it is empty"))?;
    resvg::render(&tree, Transform::from_scale(DENSITY, DENSITY), &mut picture.as_mut());
    picture.encode_png().map_err(|e| fault(&e))
}

#[cfg(test)]
mod tests {
    use crate::style::{Format, INK, drawn};
    use plotters::prelude::*;

    fn decoded(file: &[u8]) -> (u32, u32, Vec<u8>) {
        let picture = resvg::tiny_skia::Pixmap::decode_png(file).unwrap();
        (picture.width(), picture.height(), picture.data().to_vec())
    }

    #[test]
    fn shapes_are_where_the_svg_has_them() {
        let file = drawn((20, 10), Format::Png, |canvas| {
            canvas.draw(&Rectangle::new([(5, 2), (10, 6)], RED.filled()))?;
            canvas.draw(&Circle::new((15, 5), 2, BLUE.filled()))
        });
        let (width, height, dots) = decoded(&file.unwrap());
        assert_eq!((width, height), (40, 20));
        let at = |x: usize, y: usize| <[u8; 3]>::try_from(&dots[(y * 40 + x) * 4..][..3]).unwrap();
        assert_eq!((at(12, 6), at(8, 6), at(12, 2)), ([255, 0, 0], [255; 3], [255; 3]));
        assert_eq!((at(30, 10), at(34, 6)), ([0, 0, 255], [255; 3]));
    }

    #[test]
    fn letters_follow_their_anchor_and_rotation() {
        let ink = |style: TextStyle<'_>| {
            let file =
                drawn((100, 100), Format::Png, |canvas| canvas.draw_text("wide ± σ", &style, (50, 50)));
            let (width, _, dots) = decoded(&file.unwrap());
            let places: Vec<(u32, u32)> = (0..)
                .zip(dots.chunks(4))
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
        // Turned letters fall differently on whole dots.
        assert!((turned_y.1 - turned_y.0).abs_diff(x.1 - x.0) <= 1, "{turned_y:?} {x:?}");
    }
}
