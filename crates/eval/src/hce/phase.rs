//! Game phase, and the interpolation between midgame and endgame values.

use shakmaty::Board;

use super::scale::FULL_SCALE;
use patzer_chess::score::Score;

/// The phase of a position with all its pieces; kings and pawns alone have 0.
pub const FULL_PHASE: i32 = 24;

/// The game phase from 0 to [`FULL_PHASE`]: minor pieces of both sides count 1, rooks 2, queens 4.
#[inline]
pub fn phase(board: &Board) -> i32 {
    let minors = (board.knights() | board.bishops()).count();
    let phase = minors + 2 * board.rooks().count() + 4 * board.queens().count();
    (phase as i32).min(FULL_PHASE)
}

/// Interpolates between a midgame and a scaled endgame value, in centipawns, rounded towards 0 for either colour.
#[inline]
pub const fn taper(mg: i32, eg: i32, phase: i32, scale: i32) -> Score {
    (mg * phase * FULL_SCALE + eg * (FULL_PHASE - phase) * scale) / (FULL_PHASE * FULL_SCALE)
}
