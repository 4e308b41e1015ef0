//! Traits of evaluations.

use shakmaty::{Board, Chess, Color};

use patzer_chess::score::Score;

/// Evaluates positions, with caches and accumulators of its own.
pub trait Evaluator: Clone + Send {
    /// Evaluates a position in centipawns for the side to move, always below a mate score.
    ///
    /// `ply` is the distance from the root of a search, at most [`patzer_chess::score::MAX_PLY`]: a hint where a
    /// similar position is cached. The result depends on the position alone.
    fn evaluate(&mut self, position: &Chess, ply: usize) -> Score;
}

/// A network of any kind, which evaluates boards that need not be legal positions, by one of its output buckets.
pub trait BoardEvaluator: Evaluator {
    /// See [`Evaluator::evaluate`]; `halfmoves` is the halfmove clock.
    fn evaluate_board(&mut self, board: &Board, halfmoves: u8, side: Color, ply: usize) -> Score;

    /// The output bucket of a board.
    fn bucket(&self, board: &Board) -> usize;

    /// The evaluation by each output bucket, in centipawns from `side`.
    fn buckets(&mut self, board: &Board, halfmoves: u8, side: Color) -> Vec<Score>;
}
