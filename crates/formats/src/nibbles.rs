//! Bit-parallel operations on the 4-bit piece codes of a [`PackedBoard`], as one number of 128 bits.
//!
//! Binary formats use nearly the same codes, so that a record is converted without a loop over its pieces.

use shakmaty::{Chess, Color, Move, Role, Square};

use patzer_chess::PackedBoard;
use patzer_chess::packed::castling_side;

pub const WHITE_KING: u8 = 5;
pub const BLACK_KING: u8 = 13;
/// White's rook that may castle; Black's is 8 more.
pub const CASTLING_ROOK: u8 = 6;

const ROOK: u8 = 3;

pub const ONES: u128 = u128::MAX / 15;

#[inline]
pub fn codes(board: &PackedBoard) -> u128 {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&board.0[8..]);
    u128::from_le_bytes(bytes)
}

#[inline]
pub fn board(occupied: u64, codes: u128) -> PackedBoard {
    let mut board = PackedBoard::default();
    board.0[..8].copy_from_slice(&occupied.to_le_bytes());
    board.0[8..].copy_from_slice(&codes.to_le_bytes());
    board
}

#[inline]
pub fn used(pieces: u32) -> u128 {
    if pieces >= 32 { u128::MAX } else { (1 << (4 * pieces)) - 1 }
}

/// Lowest bits of the nibbles that equal `code`.
#[inline]
pub fn equal(codes: u128, code: u8) -> u128 {
    let different = codes ^ (ONES * u128::from(code));
    let different = different | different >> 1;
    !(different | different >> 2) & ONES
}

/// Squares of the pieces whose nibbles have their lowest bit in `marks`.
pub fn spread(occupied: u64, mut marks: u128) -> u64 {
    let (mut left, mut squares) = (occupied, 0);
    while left != 0 && marks != 0 {
        let lowest = left & left.wrapping_neg();
        squares |= lowest & (marks as u64 & 1).wrapping_neg();
        left ^= lowest;
        marks >>= 4;
    }
    squares
}

pub fn squares(board: &PackedBoard, code: u8) -> u64 {
    let occupied = board.occupied().0;
    spread(occupied, equal(codes(board), code) & used(occupied.count_ones()))
}

#[inline]
pub fn castling_rooks(board: &PackedBoard) -> u64 {
    let occupied = board.occupied().0;
    let marks = equal(codes(board) & !(ONES * 8), CASTLING_ROOK) & used(occupied.count_ones());
    if marks == 0 { 0 } else { spread(occupied, marks) }
}

/// A packed board updated move by move, which is faster than packing every position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IncrementalBoard {
    occupied: u64,
    codes: u128,
}

impl IncrementalBoard {
    pub fn new(position: &Chess) -> IncrementalBoard {
        let board = PackedBoard::pack(position);
        IncrementalBoard { occupied: board.occupied().0, codes: codes(&board) }
    }

    #[inline]
    pub fn board(&self) -> PackedBoard {
        board(self.occupied, self.codes)
    }

    /// Plays a pseudo-legal move of the side `turn`.
    #[inline]
    pub fn play(&mut self, m: Move, turn: Color) {
        let side = turn.fold_wb(0, 8);
        match m {
            Move::Normal { role, from, capture, to, promotion } => {
                if role == Role::King {
                    self.forbid_castling(side);
                }
                self.remove(from);
                let code = side | (promotion.unwrap_or(role) as u8 - 1);
                if capture.is_some() {
                    self.replace(to, code);
                } else {
                    self.insert(to, code);
                }
            }
            Move::EnPassant { from, to } => {
                self.remove(from);
                self.remove(Square::from_coords(to.file(), from.rank()));
                self.insert(to, side);
            }
            Move::Castle { king, rook } => {
                let castling = castling_side(king, rook);
                self.forbid_castling(side);
                self.remove(king);
                self.remove(rook);
                self.insert(castling.king_to(turn), side | WHITE_KING);
                self.insert(castling.rook_to(turn), side | ROOK);
            }
            Move::Put { .. } => {}
        }
    }

    #[inline]
    fn place(&self, square: Square) -> u32 {
        4 * (self.occupied & ((1 << square as u32) - 1)).count_ones()
    }

    #[inline]
    fn remove(&mut self, square: Square) {
        let low = (1u128 << self.place(square)) - 1;
        self.codes = self.codes & low | (self.codes >> 4) & !low;
        self.occupied &= !(1 << square as u32);
    }

    #[inline]
    fn insert(&mut self, square: Square, code: u8) {
        let place = self.place(square);
        let low = (1u128 << place) - 1;
        self.codes = self.codes & low | (self.codes & !low) << 4 | u128::from(code) << place;
        self.occupied |= 1 << square as u32;
    }

    #[inline]
    fn replace(&mut self, square: Square, code: u8) {
        let place = self.place(square);
        self.codes = self.codes & !(15 << place) | u128::from(code) << place;
    }

    fn forbid_castling(&mut self, side: u8) {
        let used = used(self.occupied.count_ones());
        self.codes ^= (equal(self.codes, side | CASTLING_ROOK) & used) * u128::from(CASTLING_ROOK ^ ROOK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with packing, for every kind of move.
    #[test]
    fn an_incremental_board_equals_a_packed_one() {
        use shakmaty::Position;
        for fen in [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "r3k2r/8/8/3pPp2/2Pp4/8/PP4PP/R3K2R b KQkq c3 0 20",
            "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
            "1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1 w GBgb - 0 1",
        ] {
            let start = patzer_chess::fen::position(fen, false).unwrap();
            for first in start.legal_moves() {
                let (mut position, mut incremental) = (start.clone(), IncrementalBoard::new(&start));
                incremental.play(first, position.turn());
                position.play_unchecked(first);
                assert_eq!(incremental, IncrementalBoard::new(&position), "{fen} {first:?}");
                for second in position.legal_moves() {
                    let (mut after, mut incremental) = (position.clone(), incremental);
                    incremental.play(second, after.turn());
                    after.play_unchecked(second);
                    assert_eq!(incremental, IncrementalBoard::new(&after), "{fen} {first:?} {second:?}");
                }
            }
        }
    }

    #[test]
    fn pieces_are_found_by_code() {
        let start = PackedBoard::pack(&shakmaty::Chess::default());
        assert_eq!(squares(&start, WHITE_KING), 1 << 4);
        assert_eq!(squares(&start, BLACK_KING), 1 << 60);
        assert_eq!(squares(&start, 0), 0xff00);
        assert_eq!(squares(&start, 8), 0xff << 48);
        assert_eq!(castling_rooks(&start), 0x8100_0000_0000_0081);
        assert_eq!(board(start.occupied().0, codes(&start)), start);
    }
}
