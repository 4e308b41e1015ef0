//! All squares that a side attacks, at once.
//!
//! In: a board and a side. Out: the squares that its pieces could take on, pins aside. Sliders of a kind spread together,
//! in one direction after another, by doubling steps: no loop over pieces, and no tables. Source: Kogge-Stone fills
//! (Chess Programming Wiki, "Kogge-Stone Algorithm").

use shakmaty::{Bitboard, Board, Color, attacks};

/// All squares, and those that a step to the right and a step to the left can end on.
const ALL: Bitboard = Bitboard::FULL;
const NOT_A: Bitboard = Bitboard(!0x0101_0101_0101_0101);
const NOT_H: Bitboard = Bitboard(!0x8080_8080_8080_8080);

/// The squares that a side attacks.
pub fn attacked(board: &Board, by: Color) -> Bitboard {
    let ours = board.by_color(by);
    let empty = !board.occupied();
    let straight = board.rooks_and_queens() & ours;
    let diagonal = board.bishops_and_queens() & ours;
    let mut squares = pawn_span(board.pawns() & ours, by);
    for (step, within) in [(8, ALL), (-8, ALL), (1, NOT_A), (-1, NOT_H)] {
        squares |= seen(straight, empty, step, within);
    }
    for (step, within) in [(9, NOT_A), (-9, NOT_H), (7, NOT_H), (-7, NOT_A)] {
        squares |= seen(diagonal, empty, step, within);
    }
    for knight in board.knights() & ours {
        squares |= attacks::knight_attacks(knight);
    }
    for king in board.kings() & ours {
        squares |= attacks::king_attacks(king);
    }
    squares
}

/// All squares that these pawns attack.
#[inline]
pub(super) fn pawn_span(pawns: Bitboard, side: Color) -> Bitboard {
    let forward = pawns.shift(side.fold_wb(8, -8));
    forward.shift(1) & NOT_A | forward.shift(-1) & NOT_H
}

/// The squares that these sliders see in one direction. `within` are those that a step can end on without leaving the
/// board at one side and coming in at the other.
#[inline(always)]
fn seen(mut sliders: Bitboard, empty: Bitboard, step: i32, within: Bitboard) -> Bitboard {
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
