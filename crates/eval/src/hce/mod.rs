//! The hand-crafted evaluation: a tapered sum of weights times counts.
//!
//! The terms under `terms`, one per file, are generic over a [`Sink`]: in play they sum weights, for tuning they leave
//! a trace of the counts. The evaluation is linear in its weights, so counts times weights is exactly the evaluation.

mod cache;
mod context;
mod dispatch;
pub mod export;
mod file;
mod layout;
mod pawn_structure;
mod scale;
mod sink;
mod terms;
mod weights;

use std::sync::Arc;

use shakmaty::{Board, ByColor, Chess, Color, Position};

use crate::Evaluator;
use cache::Cache;
use context::Context;
use patzer_chess::score::{MATE_IN_MAX, Score};
use pawn_structure::PawnStructure;
use scale::{Scales, counts};
use sink::{Packed, Total, WeightTable};

pub use file::describe;
pub use layout::{COUNT, Part, Shape, Term, parts};
pub use scale::FULL_SCALE;
pub use sink::{Sink, Trace};
pub use terms::{TERMS, Wings};
pub use weights::{LARGEST, Weights};

/// The phase of a position with all its pieces; kings and pawns alone have 0.
pub const FULL_PHASE: i32 = 24;

/// The game phase from 0 to [`FULL_PHASE`]: minor pieces of both sides count 1, rooks 2, queens 4.
#[inline]
pub fn phase(board: &Board) -> i32 {
    let minors = (board.knights() | board.bishops()).count();
    let phase = minors + 2 * board.rooks().count() + 4 * board.queens().count();
    (phase as i32).min(FULL_PHASE)
}

/// The scale factor of the endgame value, from 0 to [`FULL_SCALE`]: smaller where the side ahead can hardly win.
pub fn scale(board: &Board) -> i32 {
    Scales::of(&counts(board)).choose(board, &PawnStructure::of(board))
}

/// Interpolates between a midgame and a scaled endgame value, in centipawns, rounded towards 0 for either colour.
#[inline]
pub const fn taper(mg: i32, eg: i32, phase: i32, scale: i32) -> Score {
    (mg * phase * FULL_SCALE + eg * (FULL_PHASE - phase) * scale) / (FULL_PHASE * FULL_SCALE)
}

#[inline(always)]
fn count_all<S: Sink>(board: &Board, turn: Color, sink: &mut S) {
    let mut context = Context::new(board, turn, PawnStructure::of(board));
    terms::material(&counts(board), sink);
    terms::structure(&context, sink);
    terms::pieces(&mut context, sink);
}

#[inline(always)]
fn finish(sum: Packed, phase: i32, scale: i32) -> Score {
    taper(sum.mg(), sum.eg(), phase, scale).clamp(1 - MATE_IN_MAX, MATE_IN_MAX - 1)
}

/// Evaluates a board from White's side without the cache; [`cached`] has to agree with it.
fn full(table: &WeightTable, board: &Board, turn: Color) -> Score {
    let mut total = Total::new(table, Packed::default());
    count_all(board, turn, &mut total);
    finish(total.sum(), phase(board), scale(board))
}

#[inline(always)]
fn cached(table: &WeightTable, cache: &mut Cache, board: &Board, turn: Color) -> Score {
    let material = *cache.material(table, board);
    let pawns = cache.structure(table, board);
    let mut start = material.sum;
    start += pawns.sum;
    let mut total = Total::new(table, start);
    let mut context = Context::new(board, turn, pawns.structure());
    terms::pieces(&mut context, &mut total);
    finish(total.sum(), i32::from(material.phase), material.scales.choose(board, &context.structure))
}

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
