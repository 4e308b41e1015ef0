//! The draws of filters that decide at random.
//!
//! In: a seed, the filter's own stream, and a record's game and ply. Out: a number in [0, 1) that depends on these
//! alone, so the same position is drawn alike at `extract`, later on the dataset, and by any number of threads.

use super::Record;
use patzer_chess::rng::{mix, unit};

// Streams, so that two filters with the same seed decide independently. 1 and 2 are `pick`'s.
pub(super) const RANDOM_SKIP: u64 = 11;
pub(super) const EARLY_SKIP: u64 = 12;
pub(super) const WDL_SKIP: u64 = 13;
pub(super) const PIECE_TARGET: u64 = 14;

/// The draw of a record, from 0 to below 1.
#[inline]
pub(super) fn draw(seed: u64, stream: u64, record: &Record) -> f64 {
    unit(mix(mix(seed, stream), u64::from(record.game) << 16 | u64::from(record.ply)))
}
