//! Evaluations: what a position is worth to the side to move.
//!
//! In: a position. Out: centipawns. Two real things stand behind [`Evaluator`]: the hand-crafted evaluation and
//! networks. The search is generic over it and the choice is made once, when an engine is made.

pub mod hce;
pub mod nnue;

use shakmaty::Chess;

use crate::chess::score::Score;

/// Something that evaluates positions, with whatever it remembers between them.
pub trait Evaluator: Clone + Send {
    /// The worth of a position in centipawns from the side to move, always short of a mate score.
    ///
    /// `ply` is the distance from the root of a search, below [`crate::chess::score::MAX_PLY`] + 1. It is a hint
    /// where to look for a position that differs little; the result depends on the position alone.
    fn evaluate(&mut self, position: &Chess, ply: usize) -> Score;
}
