//! Filters: which positions a dataset keeps, and under which name the others are counted.
//!
//! In: a [`Sample`]. Out: keep, or the name of the filter that drops it. A filter looks at one sample alone, and
//! everything it may need is stored with the sample, so that filtering at `extract` and later gives the same
//! positions. The exception is `duplicates`, which remembers; it comes last in every [`Pipeline`], so that the
//! first of equal positions is the first among those that the other filters leave.
//!
//! To add one: a file here, a row in [`registry::ROWS`].

mod before_capture;
mod before_check;
mod before_mate;
mod capture;
mod draws;
mod in_check;
mod non_pawn_pieces;
mod piece_count;
mod pipeline;
mod preset;
mod promotion;
pub mod registry;

use super::Sample;

pub use pipeline::{DUPLICATES, Judge, Pipeline, help};
pub use preset::{PRESETS, Preset};

/// Something that decides about one position at a time.
pub trait Filter: Send + Sync {
    /// Whether the position stays.
    fn keeps(&self, sample: &Sample) -> bool;
}
