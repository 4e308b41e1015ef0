//! Hand-crafted evaluation. Temporary stand-in of the engine branch: material and squares near the centre.

use std::sync::Arc;

use shakmaty::{Chess, Position};

use crate::chess::score::Score;
use crate::eval::Evaluator;

/// Stand-in.
#[derive(Debug, Default)]
pub struct Weights;

/// Stand-in.
#[derive(Debug, Clone)]
pub struct Hce(#[allow(dead_code)] Arc<Weights>);

impl Hce {
    /// Stand-in.
    pub fn new(weights: Arc<Weights>) -> Hce {
        Hce(weights)
    }
}

impl Evaluator for Hce {
    fn evaluate(&mut self, position: &Chess, _ply: usize) -> Score {
        let mut score = 0;
        for (square, piece) in position.board().iter() {
            let (file, rank) = (square.file() as i32, square.rank() as i32);
            let centre = 6 - (2 * file - 7).abs().max((2 * rank - 7).abs());
            let advance = if piece.color.is_white() { rank } else { 7 - rank };
            let value = match piece.role {
                shakmaty::Role::Pawn => 90 + 4 * advance + centre,
                shakmaty::Role::Knight => 310 + 6 * centre,
                shakmaty::Role::Bishop => 325 + 4 * centre,
                shakmaty::Role::Rook => 500 + centre + if advance == 6 { 15 } else { 0 },
                shakmaty::Role::Queen => 950 + 2 * centre,
                shakmaty::Role::King => -5 * centre,
            };
            score += if piece.color == position.turn() { value } else { -value };
        }
        score + 10
    }
}
