//! Counts of a block's active features, and of those that a move adds and removes.

use shakmaty::{Chess, Color, Position};

use super::{Features, Perspective};
use crate::nnue::halfmoves;

/// Counts of one block. Integer sums, so that the order of summation does not matter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FeatureCounts {
    /// Boards, each from two perspectives.
    pub perspectives: u64,
    /// Active features of all perspectives, and the most of one.
    pub active: u64,
    pub most: u64,
    /// Moves, each from two perspectives, and the features that they added and removed.
    pub moves: u64,
    pub added: u64,
    pub removed: u64,
}

impl FeatureCounts {
    /// Counts a position from both sides, and its move if the position after it is given.
    pub fn of(features: &Features, before: &Chess, after: Option<&Chess>) -> FeatureCounts {
        let [white, black] = Color::ALL.map(|side| FeatureCounts::of_side(features, before, after, side));
        white.and(black)
    }

    fn of_side(features: &Features, before: &Chess, after: Option<&Chess>, side: Color) -> FeatureCounts {
        let words = |position: &Chess| {
            let mut words = vec![0; features.words()];
            features.write(&Perspective::new(position.board(), halfmoves(position), side), &mut words);
            words
        };
        let here = words(before);
        let active = here.iter().map(|word| u64::from(word.count_ones())).sum();
        let mut count = FeatureCounts { perspectives: 1, active, most: active, ..FeatureCounts::default() };
        if let Some(after) = after {
            count.moves = 1;
            for (a, b) in here.iter().zip(words(after)) {
                count.added += u64::from((b & !a).count_ones());
                count.removed += u64::from((a & !b).count_ones());
            }
        }
        count
    }

    /// Counts of both.
    pub fn and(self, other: FeatureCounts) -> FeatureCounts {
        FeatureCounts {
            perspectives: self.perspectives + other.perspectives,
            active: self.active + other.active,
            most: self.most.max(other.most),
            moves: self.moves + other.moves,
            added: self.added + other.added,
            removed: self.removed + other.removed,
        }
    }
}
