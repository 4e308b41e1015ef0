//! The hand-crafted evaluation: a tapered sum of weights, each times how often it counts.
//!
//! In: a board and the side to move. Out: centipawns. The terms lie one to a file under `terms`, written once and
//! generic over a [`Sink`]: in play they sum weights, for tuning they leave the counts behind. The evaluation is
//! linear in its weights, so counts times weights is the evaluation, exactly.

mod context;
mod dispatch;
pub mod export;
mod file;
mod layout;
mod sink;
mod terms;
mod weights;

use std::sync::Arc;

use shakmaty::{Board, ByColor, Chess, Color, Position};

use crate::chess::score::{MATE_IN_MAX, Score};
use crate::eval::Evaluator;
use context::Context;
use sink::{Packed, Table, Total};

pub use file::describe;
pub use layout::{COUNT, Part, Shape, Term, parts};
pub use sink::{Sink, Trace};
pub use terms::TERMS;
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

/// The value between a midgame and an endgame value at a phase, in centipawns, rounded towards 0 so that both
/// colours are treated alike.
#[inline]
pub const fn taper(mg: i32, eg: i32, phase: i32) -> Score {
    (mg * phase + eg * (FULL_PHASE - phase)) / FULL_PHASE
}

/// White's sum of weights minus Black's.
#[inline(always)]
fn sum(table: &Table, board: &Board, turn: Color) -> Packed {
    let mut total = Total { table, sums: ByColor::default() };
    terms::count_all(Context::new(board, turn), &mut total);
    total.sums.white - total.sums.black
}

/// Leaves behind how often each weight counts on a board: for tuning.
pub fn trace(board: &Board, turn: Color, trace: &mut Trace) {
    terms::count_all(Context::new(board, turn), trace);
}

/// The evaluator; copies share their weights.
#[derive(Debug, Clone)]
pub struct Hce {
    table: Arc<Table>,
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
        let mut table = [Packed::default(); COUNT];
        for (packed, [mg, eg]) in table.iter_mut().zip(weights.pairs()) {
            *packed = Packed::new(*mg, *eg);
        }
        Hce { table: Arc::new(table) }
    }

    /// The worth of a board in centipawns from White's side; needs no castling or en passant rights.
    #[inline]
    pub fn white(&self, board: &Board, turn: Color) -> Score {
        let sum = dispatch::sum(&self.table, board, turn);
        taper(sum.mg(), sum.eg(), phase(board)).clamp(1 - MATE_IN_MAX, MATE_IN_MAX - 1)
    }

    /// What each term gives each side, in the order of the terms; untapered.
    pub fn breakdown(&self, position: &Chess) -> Vec<Share> {
        let mut shares =
            Shares { table: &self.table, sums: TERMS.iter().map(|_| ByColor::default()).collect() };
        terms::count_all(Context::new(position.board(), position.turn()), &mut shares);
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
        let white = self.white(position.board(), position.turn());
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
            let weight = self.table[index];
            sums[color] += Packed::new(weight.mg() * count, weight.eg() * count);
        }
    }
}

#[cfg(test)]
mod tests;
