#![doc = include_str!("../README.md")]

pub mod attacks;
pub mod captures;
pub mod checks;
mod ending;
pub mod epd;
pub mod fen;
pub mod game_line;
pub mod huge_pages;
pub mod key;
pub mod legal;
pub mod move_features;
pub mod move_parts;
pub mod null_move;
pub mod packed;
pub mod perft;
pub mod prefetch;
pub mod quiets;
mod random_games;
pub mod rng;
pub mod score;
pub mod see;
pub mod sliders;
pub mod testing;

pub use ending::{Ending, ending, ending_with};
pub use game_line::Line;
pub use move_parts::MoveParts;
pub use packed::{PackedBoard, PackedMove};
pub use random_games::random_positions;

use shakmaty::{Board, CastlingMode, Chess, FromSetup, Move, MoveList, Position, Setup};

#[inline]
pub fn played(position: &Chess, m: Move) -> Chess {
    let mut after = copy_position(position);
    after.play_unchecked(m);
    after
}

/// Copies a position for copy-make. `clone` stalls on store forwarding when it reassembles the castling rights
/// it has just written; so does returning a position by value, as [`played`] does.
#[inline(always)]
pub fn copy_position(position: &Chess) -> Chess {
    const { assert!(!std::mem::needs_drop::<Chess>(), "plain numbers, of which a copy is a copy") };
    // SAFETY: reads a live position without destructor, so two copies cannot conflict.
    unsafe { std::ptr::read(position) }
}

/// Legal moves other than this one; `None` if it is illegal or the only one.
pub fn other_moves(position: &Chess, m: Move) -> Option<MoveList> {
    let mut moves = position.legal_moves();
    let all = moves.len();
    moves.retain(|other| *other != m);
    (!moves.is_empty() && moves.len() < all).then_some(moves)
}

pub fn chess960(number: u32) -> Chess {
    double_chess960([number; 2])
}

/// Start position of double Chess960: White's number, and Black's.
pub fn double_chess960(numbers: [u32; 2]) -> Chess {
    let [white, black] = numbers.map(Board::chess960);
    let mut board = white;
    for square in black.black() {
        if let Some(piece) = black.piece_at(square) {
            board.set_piece_at(square, piece);
        }
    }
    let castling_rights = board.rooks();
    let setup = Setup { board, castling_rights, ..Setup::initial() };
    Chess::from_setup(setup, CastlingMode::Chess960).unwrap_or_default()
}
