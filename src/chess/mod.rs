//! What shakmaty leaves open: packed boards and moves, keys, captures, static exchange evaluation, scores.
//!
//! In: shakmaty positions and moves. Out: the fixed-size forms that datasets and hash tables store, and the
//! operations that a search needs millions of times a second. shakmaty stays the only authority on the rules.

pub mod attacked;
pub mod captures;
pub mod checks;
pub mod fen;
pub mod key;
pub mod legal;
pub mod line;
pub mod null;
pub mod packed;
pub mod perft;
pub mod quiets;
pub mod score;
pub mod see;
pub mod sliders;
#[cfg(test)]
pub(crate) mod testing;

pub use line::Line;
pub use packed::{PackedBoard, PackedMove};

use shakmaty::{Board, CastlingMode, Chess, FromSetup, Move, Position, Setup};

/// The position after a legal move.
#[inline]
pub fn played(position: &Chess, m: Move) -> Chess {
    let mut after = position.clone();
    after.play_unchecked(m);
    after
}

/// The start position of Chess960 with this number, 0 to 959.
pub fn chess960(number: u32) -> Chess {
    let board = Board::chess960(number);
    let castling_rights = board.rooks();
    let setup = Setup { board, castling_rights, ..Setup::initial() };
    // All 960 are legal.
    Chess::from_setup(setup, CastlingMode::Chess960).unwrap_or_default()
}
