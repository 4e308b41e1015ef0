//! Pins and discovered attacks on kings and queens.
//! Sources: Stockfish's blockers for the king and weak queen, Ethereal's relative pins.

use shakmaty::{Bitboard, Board, Color, Role, Square, attacks};

use crate::hce::context::Context;
use crate::hce::sink::Sink;
use patzer_chess::sliders;

term! {
    "pins", "single pieces between a king or queen and an enemy slider";
    PINNED = list("pinned", 5, "an own pawn, knight, bishop, rook, queen is pinned to the king");
    QUEEN = single("queen", "one piece at most stands between the own queen and an enemy bishop or rook");
}

#[inline(always)]
pub fn pieces<S: Sink>(c: &Context<'_>, us: Color, sink: &mut S) {
    let board = c.board;
    let (ours, enemies) = (board.by_color(us), board.by_color(us.other()));
    if let Some(king) = c.kings[us] {
        for slider in enemies & aligned(king, board.bishops_and_queens(), board.rooks_and_queens()) {
            if let Some(blocker) = blocker(board, king, slider) {
                let role = board.role_at(blocker).unwrap_or(Role::Pawn);
                sink.add(us, PINNED + (role as usize - 1).min(4), i32::from(ours.contains(blocker)));
            }
        }
    }
    for queen in ours & board.queens() {
        for slider in enemies & aligned(queen, board.bishops(), board.rooks()) {
            let between = attacks::between(queen, slider) & board.occupied();
            sink.add(us, QUEEN, i32::from(!between.more_than_one()));
        }
    }
}

#[inline(always)]
fn aligned(square: Square, diagonal: Bitboard, straight: Bitboard) -> Bitboard {
    (sliders::diagonals(square) & diagonal) | (sliders::file_and_rank(square) & straight)
}

#[inline(always)]
fn blocker(board: &Board, from: Square, to: Square) -> Option<Square> {
    (attacks::between(from, to) & board.occupied()).single_square()
}
