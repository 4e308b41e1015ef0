//! Raw weights to start a training from: their layout by name, or guessed.

use super::{Converted, Layout, NamedLayout};
use crate::nnue::architecture::Architecture;
use crate::nnue::king_buckets::KingBuckets;
use crate::nnue::{About, BodyError, Network};

impl Layout {
    /// Reads weights of `shape`, or of one king bucket or output bucket, copied to all of its.
    pub fn read_start(&self, shape: &Architecture, bytes: &[u8]) -> Result<Converted<Network>, BodyError> {
        let one_king = Architecture { king_buckets: KingBuckets::none(), ..shape.clone() };
        let one_output = |shape: &Architecture| Architecture { output_buckets: 1, ..shape.clone() };
        let fewer = [one_output(shape), one_king.clone(), one_output(&one_king)];
        let of_size = fewer.iter().find(|fewer| self.fits(fewer, bytes));
        let of_size = if self.fits(shape, bytes) { None } else { of_size };
        self.read(of_size.unwrap_or(shape), bytes, About::default())
    }
}

/// Reads weights in a layout of bullet, as [`Layout::read_start`], by their size and padding. Of several layouts of
/// the same size, as with several output buckets, takes the first of [`super::LAYOUTS`].
pub fn guess(shape: &Architecture, bytes: &[u8]) -> Option<(Converted<Network>, &'static NamedLayout)> {
    ["bullet", "bullet-raw"].into_iter().filter_map(NamedLayout::find).find_map(|named| {
        let layout = &named.layout;
        let read = layout.read_start(shape, bytes).ok()?;
        // A body has further layers in another order than a file of bullet, which its padding alone tells.
        let of_bullet = layout.ends_as_of_bullet(read.content.architecture(), bytes);
        let sure = shape.layers.is_empty() || layout.is_float() || of_bullet;
        sure.then_some((read, named))
    })
}
