//! Values of positions by an evaluation, on all threads.

use rayon::prelude::*;
use shakmaty::{Board, Color, Position};

use patzer_chess::PackedBoard;
use patzer_chess::packed::NO_EP;
use patzer_eval::{Evaluation, Evaluator, with_evaluator};

/// A position as an evaluation sees it, without history.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// Pieces and castling rights.
    pub board: PackedBoard,
    /// Side to move.
    pub turn: Color,
    /// The halfmove clock.
    pub halfmoves: u8,
}

/// Boards with their values in centipawns for the side to move; `None` for illegal positions.
pub(crate) fn values(places: &[Place], evaluation: &Evaluation) -> Vec<Option<(Board, i32)>> {
    with_evaluator!(evaluation, evaluator => values_by(places, &evaluator))
}

fn values_by<E: Evaluator + Sync>(places: &[Place], evaluator: &E) -> Vec<Option<(Board, i32)>> {
    const CHUNK: usize = 4096;
    let of_chunk = |chunk: &[Place]| -> Vec<Option<(Board, i32)>> {
        let mut evaluator = evaluator.clone();
        let one = |place: &Place| {
            let position = place.board.unpack(place.turn, NO_EP, place.halfmoves.into(), 1)?;
            Some((position.board().clone(), evaluator.evaluate(&position, 0)))
        };
        chunk.iter().map(one).collect()
    };
    places.par_chunks(CHUNK).flat_map_iter(of_chunk).collect()
}
