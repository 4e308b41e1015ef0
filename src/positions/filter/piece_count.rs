//! Keeps positions with a number of pieces in a range.
//!
//! In: a sample's board. Out: keep or drop. Kings and pawns count. Source: zurichess, "Choosing positions for
//! Texel's Tuning Method" (2016).

use super::{Filter, Sample};

/// Positions with fewer or more pieces than wanted, kings and pawns included.
#[derive(Debug, Clone, Copy)]
pub struct PieceCount {
    /// The fewest pieces that are kept.
    pub min: u8,
    /// The most pieces that are kept.
    pub max: u8,
}

impl Filter for PieceCount {
    fn keeps(&self, sample: &Sample) -> bool {
        (u32::from(self.min)..=u32::from(self.max)).contains(&sample.board.count())
    }
}
