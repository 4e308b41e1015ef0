//! The evaluation of a board: from all terms, or with the cache.

use shakmaty::{Board, Color};

use super::cache::Cache;
use super::context::Context;
use super::pawn_structure::PawnStructure;
use super::phase::{phase, taper};
use super::scale::{Scales, counts};
use super::sink::{Packed, Sink, Total, WeightTable};
use super::terms;
use patzer_chess::score::{MATE_IN_MAX, Score};

/// The scale factor of the endgame value, from 0 to `FULL_SCALE`: smaller where the side ahead can hardly win.
pub fn scale(board: &Board) -> i32 {
    Scales::of(&counts(board)).choose(board, &PawnStructure::of(board))
}

#[inline(always)]
pub fn count_all<S: Sink>(board: &Board, turn: Color, sink: &mut S) {
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
pub fn full(table: &WeightTable, board: &Board, turn: Color) -> Score {
    let mut total = Total::new(table, Packed::default());
    count_all(board, turn, &mut total);
    finish(total.sum(), phase(board), scale(board))
}

#[inline(always)]
pub fn cached(table: &WeightTable, cache: &mut Cache, board: &Board, turn: Color) -> Score {
    let material = *cache.material(table, board);
    let pawns = cache.structure(table, board);
    let mut start = material.sum;
    start += pawns.sum;
    let mut total = Total::new(table, start);
    let mut context = Context::new(board, turn, pawns.structure());
    terms::pieces(&mut context, &mut total);
    finish(total.sum(), i32::from(material.phase), material.scales.choose(board, &context.structure))
}
