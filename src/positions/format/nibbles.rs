//! The 4-bit piece codes of a packed board, all at once.
//!
//! In: the codes of a [`PackedBoard`] as one number of 128 bits. Out: which of them equal a code, and where those
//! pieces stand. Binary formats use nearly the same codes, so a record is checked and converted by a few operations
//! on wide numbers instead of a loop over the pieces.

use crate::chess::PackedBoard;

/// Code of White's king.
pub const WHITE_KING: u8 = 5;
/// Code of Black's king.
pub const BLACK_KING: u8 = 13;
/// Code of White's rook that may castle; Black's is 8 more.
pub const CASTLING_ROOK: u8 = 6;

/// The lowest bit of each nibble.
pub const ONES: u128 = u128::MAX / 15;

/// The codes of a board.
#[inline]
pub fn codes(board: &PackedBoard) -> u128 {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&board.0[8..]);
    u128::from_le_bytes(bytes)
}

/// A board of these occupied squares and codes.
#[inline]
pub fn board(occupied: u64, codes: u128) -> PackedBoard {
    let mut board = PackedBoard::default();
    board.0[..8].copy_from_slice(&occupied.to_le_bytes());
    board.0[8..].copy_from_slice(&codes.to_le_bytes());
    board
}

/// All bits of the nibbles that `pieces` pieces take, at most 32.
#[inline]
pub fn used(pieces: u32) -> u128 {
    if pieces >= 32 { u128::MAX } else { (1 << (4 * pieces)) - 1 }
}

/// The lowest bit of each nibble that equals `code`.
#[inline]
pub fn equal(codes: u128, code: u8) -> u128 {
    let different = codes ^ (ONES * u128::from(code));
    let different = different | different >> 1;
    !(different | different >> 2) & ONES
}

/// The squares whose pieces are marked by the lowest bits of their nibbles.
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

/// The squares of all pieces with this code.
pub fn squares(board: &PackedBoard, code: u8) -> u64 {
    let occupied = board.occupied().0;
    spread(occupied, equal(codes(board), code) & used(occupied.count_ones()))
}

/// The squares of the rooks that may castle.
#[inline]
pub fn castling_rooks(board: &PackedBoard) -> u64 {
    let occupied = board.occupied().0;
    let marks = equal(codes(board) & !(ONES * 8), CASTLING_ROOK) & used(occupied.count_ones());
    if marks == 0 { 0 } else { spread(occupied, marks) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_found_where_their_pieces_stand() {
        let start = PackedBoard::pack(&shakmaty::Chess::default());
        assert_eq!(squares(&start, WHITE_KING), 1 << 4);
        assert_eq!(squares(&start, BLACK_KING), 1 << 60);
        assert_eq!(squares(&start, 0), 0xff00);
        assert_eq!(squares(&start, 8), 0xff << 48);
        assert_eq!(castling_rooks(&start), 0x8100_0000_0000_0081);
        assert_eq!(board(start.occupied().0, codes(&start)), start);
    }
}
