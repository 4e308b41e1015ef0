//! Attacks of bishops, rooks and queens by hyperbola quintessence, with a rank table (Chess Programming Wiki,
//! "Hyperbola Quintessence"). Magic bitboards take fewer instructions but 700 KB, and an evaluation that
//! looks up thirty lines of changing boards waits for that memory.

use shakmaty::{Bitboard, Board, Color, Role, Square, attacks};

struct Lines {
    file: u64,
    rank: u64,
    diagonal: u64,
    anti_diagonal: u64,
}

static LINES: [Lines; 64] = {
    const NONE: Lines = Lines { file: 0, rank: 0, diagonal: 0, anti_diagonal: 0 };
    let mut lines = [NONE; 64];
    let mut square = 0;
    while square < 64 {
        lines[square] = Lines {
            file: ray(square, 0, 1) | ray(square, 0, -1),
            rank: ray(square, 1, 0) | ray(square, -1, 0),
            diagonal: ray(square, 1, 1) | ray(square, -1, -1),
            anti_diagonal: ray(square, -1, 1) | ray(square, 1, -1),
        };
        square += 1;
    }
    lines
};

const fn ray(square: usize, files: i32, ranks: i32) -> u64 {
    let (mut file, mut rank) = (square as i32 % 8 + files, square as i32 / 8 + ranks);
    let mut squares = 0;
    while file >= 0 && file < 8 && rank >= 0 && rank < 8 {
        squares |= 1 << (8 * rank + file);
        (file, rank) = (file + files, rank + ranks);
    }
    squares
}

/// Rank attacks by file and by the occupancy of files b to g.
static RANKS: [[u8; 64]; 8] = {
    let mut ranks = [[0; 64]; 8];
    let mut index = 0;
    while index < 8 * 64 {
        let (file, occupied) = (index / 64, 2 * (index % 64));
        let (mut left, mut right) = (file, file);
        while left > 0 && (left == file || occupied >> left & 1 == 0) {
            left -= 1;
            ranks[file][index % 64] |= 1 << left;
        }
        while right < 7 && (right == file || occupied >> right & 1 == 0) {
            right += 1;
            ranks[file][index % 64] |= 1 << right;
        }
        index += 1;
    }
    ranks
};

/// Attacks along a line with at most one square on each rank, by o ^ (o - 2r): subtracting the slider flips all bits
/// up to the first blocker; byte-swapped for the other direction.
#[inline(always)]
fn line_attacks(occupied: Bitboard, line: u64, square: Square) -> u64 {
    let bit = 1u64 << square as u32;
    let pieces = occupied.0 & line;
    let up = pieces.wrapping_sub(bit);
    let down = pieces.swap_bytes().wrapping_sub(bit.swap_bytes());
    (up ^ down.swap_bytes()) & line
}

#[inline(always)]
pub fn diagonal(square: Square, occupied: Bitboard) -> Bitboard {
    let lines = &LINES[square as usize];
    Bitboard(
        line_attacks(occupied, lines.diagonal, square) | line_attacks(occupied, lines.anti_diagonal, square),
    )
}

#[inline(always)]
pub fn straight(square: Square, occupied: Bitboard) -> Bitboard {
    let (file, first) = (square as usize & 7, square as u32 & 56);
    let rank = RANKS[file][(occupied.0 >> (first + 1)) as usize & 63];
    Bitboard(line_attacks(occupied, LINES[square as usize].file, square) | u64::from(rank) << first)
}

#[inline(always)]
pub fn reach(role: Role, square: Square, occupied: Bitboard) -> Bitboard {
    match role {
        Role::Knight => attacks::knight_attacks(square),
        Role::Bishop => diagonal(square, occupied),
        Role::Rook => straight(square, occupied),
        _ => diagonal(square, occupied) | straight(square, occupied),
    }
}

#[inline(always)]
pub fn diagonals(square: Square) -> Bitboard {
    let lines = &LINES[square as usize];
    Bitboard(lines.diagonal | lines.anti_diagonal)
}

#[inline(always)]
pub fn file_and_rank(square: Square) -> Bitboard {
    let lines = &LINES[square as usize];
    Bitboard(lines.file | lines.rank)
}

/// Pieces of both sides that attack a square, given an occupancy; pieces outside the occupancy are included.
#[inline(always)]
pub fn attackers(board: &Board, square: Square, occupied: Bitboard) -> Bitboard {
    let pawns = (attacks::pawn_attacks(Color::White, square) & board.black())
        | (attacks::pawn_attacks(Color::Black, square) & board.white());
    (diagonal(square, occupied) & board.bishops_and_queens())
        | (straight(square, occupied) & board.rooks_and_queens())
        | (attacks::knight_attacks(square) & board.knights())
        | (attacks::king_attacks(square) & board.kings())
        | (pawns & board.pawns())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn attacks_are_those_of_the_rules() {
        let mut rng = Rng::new(4);
        for square in Square::ALL {
            assert_eq!(diagonals(square), attacks::bishop_attacks(square, Bitboard::EMPTY));
            assert_eq!(file_and_rank(square), attacks::rook_attacks(square, Bitboard::EMPTY));
            for sparse in [false, true] {
                for _ in 0..300 {
                    let mut random = || rng.below(1 << 32) as u64 | (rng.below(1 << 32) as u64) << 32;
                    let occupied = Bitboard(random() & if sparse { random() & random() } else { u64::MAX });
                    assert_eq!(diagonal(square, occupied), attacks::bishop_attacks(square, occupied));
                    assert_eq!(straight(square, occupied), attacks::rook_attacks(square, occupied));
                }
            }
        }

        let fen = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R";
        let board = Board::from_ascii_board_fen(fen.as_bytes()).unwrap();
        let through = board.occupied().without(Square::E2).without(Square::D7);
        for occupied in [board.occupied(), through] {
            for square in Square::ALL {
                let both = Color::ALL.map(|color| board.attacks_to(square, color, occupied));
                assert_eq!(attackers(&board, square, occupied), both[0] | both[1], "{square}");
            }
        }
    }
}
