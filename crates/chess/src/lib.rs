//! What shakmaty leaves open: packed boards and moves, keys, captures, static exchange evaluation, scores.
//!
//! In: shakmaty positions and moves. Out: the fixed-size forms that datasets and hash tables store, and the
//! operations that a search needs millions of times a second. shakmaty stays the only authority on the rules.

pub mod attacks;
pub mod captures;
pub mod checks;
pub mod fen;
pub mod game_line;
pub mod huge_pages;
pub mod key;
pub mod legal;
pub mod move_parts;
pub mod null_move;
pub mod packed;
pub mod perft;
pub mod prefetch;
pub mod quiets;
pub mod rng;
pub mod score;
pub mod see;
pub mod sliders;
pub mod testing;

pub use game_line::Line;
pub use move_parts::Parts;
pub use packed::{PackedBoard, PackedMove};

use shakmaty::{Board, CastlingMode, Chess, FromSetup, Move, Position, Setup};

/// The position after a legal move.
#[inline]
pub fn played(position: &Chess, m: Move) -> Chess {
    let mut after = copied(position);
    after.play_unchecked(m);
    after
}

/// A copy of a position, to play a move in where it lies. `clone` copies field by field and puts the castling rights
/// together on the way, out of memory that it has just written, for which the processor waits; so it does where a
/// position is played in one place and handed to another, as by [`played`].
#[inline(always)]
pub fn copied(position: &Chess) -> Chess {
    const { assert!(!std::mem::needs_drop::<Chess>(), "plain numbers, of which a copy is a copy") };
    // SAFETY: a position that lives is read, and it holds nothing that two copies could not hold at once.
    unsafe { std::ptr::read(position) }
}

/// The start position of Chess960 with this number, 0 to 959.
pub fn chess960(number: u32) -> Chess {
    let board = Board::chess960(number);
    let castling_rights = board.rooks();
    let setup = Setup { board, castling_rights, ..Setup::initial() };
    // All 960 are legal.
    Chess::from_setup(setup, CastlingMode::Chess960).unwrap_or_default()
}
