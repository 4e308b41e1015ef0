use std::sync::atomic::AtomicBool;

use shakmaty::{Chess, Position, Role};

use super::searcher::Searcher;
use super::transposition_table::TranspositionTable;
use super::{Engine, Limits, Report};
use patzer_chess::Line;
use patzer_chess::score::Score;
use patzer_eval::Evaluator;

pub(crate) fn engine() -> Searcher<Simple> {
    Searcher::new(Simple, TranspositionTable::smallest())
}

pub(crate) fn search(engine: &mut dyn Engine, line: &Line, limits: Limits) -> Report {
    engine.search(line, &limits, &AtomicBool::new(false), &mut |_| {})
}

#[derive(Clone)]
pub(crate) struct Simple;

impl Evaluator for Simple {
    fn evaluate(&mut self, position: &Chess, _ply: usize) -> Score {
        let mut score = 0;
        for (square, piece) in position.board().iter() {
            let (file, rank) = (square.file() as i32, square.rank() as i32);
            let edge = (2 * file - 7).abs().max((2 * rank - 7).abs());
            let advance = if piece.color.is_white() { rank } else { 7 - rank };
            let value = match piece.role {
                Role::Pawn => 100 + 5 * advance,
                Role::Knight => 320 - 5 * edge,
                Role::Bishop => 330 - 3 * edge,
                Role::Rook => 500,
                Role::Queen => 950,
                Role::King => 0,
            };
            score += if piece.color == position.turn() { value } else { -value };
        }
        score
    }
}
