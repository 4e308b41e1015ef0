//! The hand-crafted evaluation: a tapered sum of weights times counts.
//!
//! The terms under `terms`, one per file, are generic over a [`Sink`]: in play they sum weights, for tuning they leave
//! a trace of the counts. The evaluation is linear in its weights, so counts times weights is exactly the evaluation.

mod cache;
mod context;
mod dispatch;
mod evaluate;
pub mod export;
mod file;
mod layout;
mod pawn_structure;
mod phase;
mod scale;
mod sink;
mod squares;
mod terms;
mod weights;

use std::sync::Arc;

use shakmaty::{Board, ByColor, Chess, Color, Position};

use crate::evaluator::Evaluator;
use cache::Cache;
use evaluate::{count_all, full};
use patzer_chess::score::Score;
use sink::{Packed, WeightTable};

pub use evaluate::scale;
pub use file::describe;
pub use layout::{COUNT, Part, Shape, Term, parts};
pub use phase::{FULL_PHASE, phase, taper};
pub use scale::FULL_SCALE;
pub use sink::{Sink, Trace};
pub use terms::{TERMS, Wings};
pub use weights::{LARGEST, Weights};

/// Traces how often each weight counts on a board, for tuning. The evaluation is
/// `taper(Σ count·midgame, Σ count·endgame, phase, scale)`.
pub fn trace(board: &Board, turn: Color, trace: &mut Trace) {
    count_all(board, turn, trace);
}

/// The hand-crafted evaluator; clones share the weights, each with its own cache.
#[derive(Debug, Clone)]
pub struct Hce {
    table: Arc<WeightTable>,
    cache: Cache,
}

/// The contribution of one term to each side, in centipawns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TermBreakdown {
    pub term: &'static str,
    pub white: [i32; 2],
    /// Black's midgame and endgame value, from Black's side.
    pub black: [i32; 2],
}

impl Hce {
    pub fn new(weights: Arc<Weights>) -> Hce {
        Hce { table: Arc::new(WeightTable::new(&weights)), cache: Cache::new() }
    }

    /// Evaluates a board in centipawns from White's side; needs no castling or en passant rights.
    pub fn white(&self, board: &Board, turn: Color) -> Score {
        full(&self.table, board, turn)
    }

    /// Breaks the evaluation down by term, in the order of the terms; untapered.
    pub fn breakdown(&self, position: &Chess) -> Vec<TermBreakdown> {
        let mut sink =
            BreakdownSink { table: &self.table, sums: TERMS.iter().map(|_| ByColor::default()).collect() };
        count_all(position.board(), position.turn(), &mut sink);
        let values = |sum: Packed| [sum.mg(), sum.eg()];
        let breakdown = |(term, sums): (&&Term, &ByColor<Packed>)| TermBreakdown {
            term: term.name,
            white: values(sums.white),
            black: values(sums.black),
        };
        TERMS.iter().zip(&sink.sums).map(breakdown).collect()
    }
}

impl Evaluator for Hce {
    #[inline]
    fn evaluate(&mut self, position: &Chess, _ply: usize) -> Score {
        let white = dispatch::white(&self.table, &mut self.cache, position.board(), position.turn());
        position.turn().fold_wb(white, -white)
    }
}

struct BreakdownSink<'a> {
    table: &'a WeightTable,
    sums: Vec<ByColor<Packed>>,
}

impl Sink for BreakdownSink<'_> {
    fn add(&mut self, color: Color, index: usize, count: i32) {
        let term = TERMS.iter().position(|term| term.range().contains(&index));
        if let Some(sums) = term.and_then(|term| self.sums.get_mut(term)) {
            let weight = self.table.weight(index);
            sums[color] += Packed::new(weight.mg() * count, weight.eg() * count);
        }
    }
}

#[cfg(test)]
mod tests;
