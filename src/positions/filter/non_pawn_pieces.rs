//! Keeps positions with a number of pieces other than pawns in a range.
//!
//! In: a sample's board. Out: keep or drop. Kings count. Source: zurichess, "Choosing positions for Texel's
//! Tuning Method" (2016).

use shakmaty::Role;

use super::{Filter, Sample};

/// Positions with fewer or more pieces other than pawns than wanted, kings included.
#[derive(Debug, Clone, Copy)]
pub struct NonPawnPieces {
    /// The fewest pieces that are kept.
    pub min: u8,
    /// The most pieces that are kept.
    pub max: u8,
}

impl Filter for NonPawnPieces {
    fn keeps(&self, sample: &Sample) -> bool {
        let count = sample.board.pieces().filter(|(_, piece)| piece.role != Role::Pawn).count();
        (usize::from(self.min)..=usize::from(self.max)).contains(&count)
    }
}
