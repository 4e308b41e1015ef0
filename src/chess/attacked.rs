//! All squares that a side attacks, at once.
//!
//! In: a board and a side. Out: the squares that its pieces could take on, pins aside. Sliders of a kind spread together,
//! in one direction after another, by doubling steps: no loop over pieces, and no tables. Source: Kogge-Stone fills
//! (Chess Programming Wiki, "Kogge-Stone Algorithm").

use shakmaty::{Bitboard, Board, Color, attacks};

const NOT_A: u64 = !0x0101_0101_0101_0101;
const NOT_H: u64 = !0x8080_8080_8080_8080;

/// The squares that a side attacks.
pub fn attacked(board: &Board, by: Color) -> Bitboard {
    let ours = board.by_color(by);
    let empty = !board.occupied().0;
    let straight = (board.rooks_and_queens() & ours).0;
    let diagonal = (board.bishops_and_queens() & ours).0;
    let pawns = (board.pawns() & ours).0;
    let mut squares = match by {
        Color::White => pawns << 9 & NOT_A | pawns << 7 & NOT_H,
        Color::Black => pawns >> 7 & NOT_A | pawns >> 9 & NOT_H,
    };
    squares |= up::<8>(straight, empty, !0) | down::<8>(straight, empty, !0);
    squares |= up::<1>(straight, empty, NOT_A) | down::<1>(straight, empty, NOT_H);
    squares |= up::<9>(diagonal, empty, NOT_A) | down::<9>(diagonal, empty, NOT_H);
    squares |= up::<7>(diagonal, empty, NOT_H) | down::<7>(diagonal, empty, NOT_A);
    for knight in board.knights() & ours {
        squares |= attacks::knight_attacks(knight).0;
    }
    for king in board.kings() & ours {
        squares |= attacks::king_attacks(king).0;
    }
    Bitboard(squares)
}

/// The squares that these sliders see in the direction of `STEP` squares up. `within` are the squares that such a step
/// can end on without leaving the board at one side and coming in at the other.
#[inline(always)]
fn up<const STEP: u32>(mut sliders: u64, empty: u64, within: u64) -> u64 {
    let mut free = empty & within;
    sliders |= free & sliders << STEP;
    free &= free << STEP;
    sliders |= free & sliders << (2 * STEP);
    free &= free << (2 * STEP);
    sliders |= free & sliders << (4 * STEP);
    sliders << STEP & within
}

/// The same in the direction of `STEP` squares down.
#[inline(always)]
fn down<const STEP: u32>(mut sliders: u64, empty: u64, within: u64) -> u64 {
    let mut free = empty & within;
    sliders |= free & sliders >> STEP;
    free &= free >> STEP;
    sliders |= free & sliders >> (2 * STEP);
    free &= free >> (2 * STEP);
    sliders |= free & sliders >> (4 * STEP);
    sliders >> STEP & within
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::testing::along_random_games;
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
