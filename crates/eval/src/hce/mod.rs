//! The hand-crafted evaluation: a tapered sum of weights, each times how often it counts.
//!
//! In: a board and the side to move. Out: centipawns. The terms lie one to a file under `terms`, written once and
//! generic over a [`Sink`]: in play they sum weights, for tuning they leave the counts behind. The evaluation is
//! linear in its weights, so counts times weights is the evaluation, exactly.

mod cache;
mod context;
mod dispatch;
pub mod export;
mod file;
mod layout;
mod scale;
mod sink;
mod pawn_structure;
mod terms;
mod weights;

use std::sync::Arc;

use shakmaty::{Board, ByColor, Chess, Color, Position};

use crate::Evaluator;
use cache::Cache;
use context::Context;
use patzer_chess::score::{MATE_IN_MAX, Score};
use scale::{Scales, counts};
use sink::{Packed, Table, Total};
use pawn_structure::Structure;

pub use file::describe;
pub use layout::{COUNT, Part, Shape, Term, parts};
pub use scale::FULL_SCALE;
pub use sink::{Sink, Trace};
pub use terms::{TERMS, Wings};
pub use weights::{LARGEST, Weights};

/// The phase of a position with all its pieces; without knights, bishops, rooks and queens it is 0.
pub const FULL_PHASE: i32 = 24;

/// How much of the midgame a position is, from 0 to [`FULL_PHASE`]: knights and bishops count 1, rooks 2, queens
/// 4, of both sides together. Promotions cannot lead beyond the start of the game.
#[inline]
pub fn phase(board: &Board) -> i32 {
    let minors = (board.knights() | board.bishops()).count();
    let phase = minors + 2 * board.rooks().count() + 4 * board.queens().count();
    (phase as i32).min(FULL_PHASE)
}

/// How much of the endgame value counts on a board, from 0 to [`FULL_SCALE`]: less where the side that is ahead
/// would find it hard to win.
pub fn scale(board: &Board) -> i32 {
    Scales::of(&counts(board)).choose(board, &Structure::of(board))
}

/// The value between a midgame and an endgame value at a phase, in centipawns, the endgame value scaled, rounded
/// towards 0 so that both colours are treated alike.
#[inline]
pub const fn taper(mg: i32, eg: i32, phase: i32, scale: i32) -> Score {
    (mg * phase * FULL_SCALE + eg * (FULL_PHASE - phase) * scale) / (FULL_PHASE * FULL_SCALE)
}

/// Counts all terms on a board.
#[inline(always)]
fn count_all<S: Sink>(board: &Board, turn: Color, sink: &mut S) {
    let mut context = Context::new(board, turn, Structure::of(board));
    terms::material(&counts(board), sink);
    terms::structure(&context, sink);
    terms::pieces(&mut context, sink);
}

#[inline(always)]
fn finish(sum: Packed, phase: i32, scale: i32) -> Score {
    taper(sum.mg(), sum.eg(), phase, scale).clamp(1 - MATE_IN_MAX, MATE_IN_MAX - 1)
}

/// The worth of a board from White's side, everything worked out anew: what [`remembered`] has to agree with.
fn plain(table: &Table, board: &Board, turn: Color) -> Score {
    let mut total = Total::new(table, Packed::default());
    count_all(board, turn, &mut total);
    finish(total.sum(), phase(board), scale(board))
}

/// The worth of a board from White's side, with what the cache remembers.
#[inline(always)]
fn remembered(table: &Table, cache: &mut Cache, board: &Board, turn: Color) -> Score {
    let material = *cache.material(table, board);
    let pawns = cache.structure(table, board);
    let mut start = material.sum;
    start += pawns.sum;
    let mut total = Total::new(table, start);
    let mut context = Context::new(board, turn, pawns.structure());
    terms::pieces(&mut context, &mut total);
    finish(total.sum(), i32::from(material.phase), material.scales.choose(board, &context.structure))
}

/// Leaves behind how often each weight counts on a board: for tuning. The evaluation is
/// `taper(Σ count·midgame, Σ count·endgame, phase, scale)`.
pub fn trace(board: &Board, turn: Color, trace: &mut Trace) {
    count_all(board, turn, trace);
}

/// The evaluator; copies share their weights, and each has a memory of its own.
#[derive(Debug, Clone)]
pub struct Hce {
    table: Arc<Table>,
    cache: Cache,
}

/// What one term of the evaluation gives each side, in centipawns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// The term's name.
    pub term: &'static str,
    /// White's midgame and endgame value.
    pub white: [i32; 2],
    /// Black's midgame and endgame value, from Black's side.
    pub black: [i32; 2],
}

impl Hce {
    /// An evaluator with these weights.
    pub fn new(weights: Arc<Weights>) -> Hce {
        Hce { table: Arc::new(Table::new(&weights)), cache: Cache::new() }
    }

    /// The worth of a board in centipawns from White's side; needs no castling or en passant rights.
    pub fn white(&self, board: &Board, turn: Color) -> Score {
        plain(&self.table, board, turn)
    }

    /// What each term gives each side, in the order of the terms; untapered.
    pub fn breakdown(&self, position: &Chess) -> Vec<Share> {
        let mut shares =
            Shares { table: &self.table, sums: TERMS.iter().map(|_| ByColor::default()).collect() };
        count_all(position.board(), position.turn(), &mut shares);
        let values = |sum: Packed| [sum.mg(), sum.eg()];
        let share = |(term, sums): (&&Term, &ByColor<Packed>)| Share {
            term: term.name,
            white: values(sums.white),
            black: values(sums.black),
        };
        TERMS.iter().zip(&shares.sums).map(share).collect()
    }
}

impl Evaluator for Hce {
    #[inline]
    fn evaluate(&mut self, position: &Chess, _ply: usize) -> Score {
        let white = dispatch::white(&self.table, &mut self.cache, position.board(), position.turn());
        position.turn().fold_wb(white, -white)
    }
}

/// Sums weights term by term.
struct Shares<'a> {
    table: &'a Table,
    sums: Vec<ByColor<Packed>>,
}

impl Sink for Shares<'_> {
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
