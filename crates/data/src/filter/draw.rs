//! Random numbers of filters, by seed, game and ply.

use super::Record;
use super::registry::{Param, whole};
use patzer_chess::rng::{mix, unit};

/// Random streams of the filters, so that two filters with the same seed decide independently; `sampling` has 1 and 2.
#[derive(Clone, Copy)]
pub(super) enum Stream {
    RandomSkip = 11,
    EarlySkip = 12,
    WdlSkip = 13,
    PieceTarget = 14,
}

#[inline]
pub(super) fn draw(seed: u64, stream: Stream, record: &Record) -> f64 {
    unit(mix(mix(seed, stream as u64), u64::from(record.game) << 16 | u64::from(record.ply)))
}

pub(super) const SEED: Param = whole("seed", "seed of the random numbers", (0, 1 << 53), &[0]);
