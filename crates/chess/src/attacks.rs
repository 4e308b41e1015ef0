//! Attack maps of a whole side, without tables (Chess Programming Wiki, "Kogge-Stone Algorithm").

use shakmaty::{Bitboard, Board, Color, attacks};

/// Target masks of steps to the right and to the left, against wrapping around the board edge.
const ALL: Bitboard = Bitboard::FULL;
const NOT_A: Bitboard = Bitboard(!0x0101_0101_0101_0101);
const NOT_H: Bitboard = Bitboard(!0x8080_8080_8080_8080);

pub fn attacked(board: &Board, by: Color) -> Bitboard {
    let ours = board.by_color(by);
    let empty = !board.occupied();
    let straight = board.rooks_and_queens() & ours;
    let diagonal = board.bishops_and_queens() & ours;
    let mut squares = pawn_attacks(board.pawns() & ours, by);
    for (step, within) in [(8, ALL), (-8, ALL), (1, NOT_A), (-1, NOT_H)] {
        squares |= fill(straight, empty, step, within);
    }
    for (step, within) in [(9, NOT_A), (-9, NOT_H), (7, NOT_H), (-7, NOT_A)] {
        squares |= fill(diagonal, empty, step, within);
    }
    for knight in board.knights() & ours {
        squares |= attacks::knight_attacks(knight);
    }
    for king in board.kings() & ours {
        squares |= attacks::king_attacks(king);
    }
    squares
}

#[inline]
pub(super) fn pawn_attacks(pawns: Bitboard, side: Color) -> Bitboard {
    let forward = pawns.shift(side.fold_wb(8, -8));
    forward.shift(1) & NOT_A | forward.shift(-1) & NOT_H
}

#[inline(always)]
fn fill(mut sliders: Bitboard, empty: Bitboard, step: i32, within: Bitboard) -> Bitboard {
    let mut free = empty & within;
    for step in [step, 2 * step] {
        sliders |= free & sliders.shift(step);
        free &= free.shift(step);
    }
    sliders |= free & sliders.shift(4 * step);
    sliders.shift(step) & within
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::along_random_games;
    use shakmaty::Position;

    #[test]
    fn they_are_those_of_each_piece_alone() {
        along_random_games(5, 60, 150, |position| {
            let board = position.board();
            for side in Color::ALL {
                let pieces = board.by_color(side);
                let expected =
                    pieces.into_iter().fold(Bitboard::EMPTY, |sum, at| sum | board.attacks_from(at));
                assert_eq!(attacked(board, side), expected, "{position:?}");
            }
        });
    }
}
