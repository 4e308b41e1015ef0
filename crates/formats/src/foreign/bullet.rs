//! bulletformat: 32 bytes per position, for the trainer bullet.
//!
//! Little-endian: occupancy (u64), 4-bit pieces in square order, score (i16) and result (0 to 2) from the side to move,
//! king squares. The side to move becomes White; castling rights, en passant and clocks are lost. Source: the crate
//! `bulletformat`, which the tests compare with.

use shakmaty::{Bitboard, Color, Square, attacks};

use crate::bytes::field;
use crate::nibbles::{self, ONES};
use crate::replay::UNKNOWN;
use crate::{Record, flags};
use patzer_chess::PackedBoard;
use patzer_chess::score;

pub const RECORD: usize = 32;

/// Decodes a record with White to move.
#[inline]
pub fn decode(packed: &[u8; RECORD]) -> Result<Record, &'static str> {
    let occupied = u64::from_le_bytes(field(packed, 0));
    let codes = u128::from_le_bytes(field(packed, 8)) & nibbles::used(occupied.count_ones().min(32));
    let boards = Boards::new(occupied, codes)?;
    let (ours, theirs) = (boards.king(0), boards.king(8));
    if packed[27] != ours || packed[28] != theirs ^ 56 {
        return Err("the king squares are not those of its pieces");
    }
    if boards.attacked(theirs, Color::White) {
        return Err("the side that has moved is in check");
    }
    let score = i16::from_le_bytes([packed[24], packed[25]]);
    let mut bits = if boards.attacked(ours, Color::Black) { flags::IN_CHECK } else { 0 };
    bits |= if score::is_mate(score.into()) { flags::MATE_SCORE } else { 0 };
    let result = match packed[26] {
        result @ 0..=2 => result as i8 - 1,
        _ => return Err("its result is none of 0, 1 and 2"),
    };
    Ok(Record { board: nibbles::board(occupied, codes), result, score: Some(score), flags: bits, ..UNKNOWN })
}

struct Boards {
    of: [u64; 16],
    occupied: Bitboard,
}

impl Boards {
    #[inline]
    fn new(occupied: u64, codes: u128) -> Result<Boards, &'static str> {
        if occupied.count_ones() > 32 {
            return Err("more than 32 pieces");
        }
        if codes & (codes >> 1) & (ONES << 1) != 0 {
            return Err("a piece that does not exist");
        }
        let (mut of, mut left, mut rest) = ([0; 16], occupied, codes);
        while left != 0 {
            of[rest as usize & 15] |= left & left.wrapping_neg();
            left &= left - 1;
            rest >>= 4;
        }
        if of[5].count_ones() != 1 || of[13].count_ones() != 1 {
            return Err("not one king a side");
        }
        if (of[0] | of[8]) & 0xff00_0000_0000_00ff != 0 {
            return Err("a pawn on the first or last rank");
        }
        Ok(Boards { of, occupied: Bitboard(occupied) })
    }

    #[inline]
    fn king(&self, side: usize) -> u8 {
        self.of[side + 5].trailing_zeros() as u8
    }

    #[inline]
    fn attacked(&self, square: u8, by: Color) -> bool {
        let square = Square::new(u32::from(square & 63));
        let of = |role: usize| Bitboard(self.of[role + by.fold_wb(0, 8)]);
        let queens = of(4);
        let near = attacks::pawn_attacks(!by, square) & of(0)
            | attacks::knight_attacks(square) & of(1)
            | attacks::king_attacks(square) & of(5);
        let far = attacks::bishop_attacks(square, self.occupied) & (of(2) | queens)
            | attacks::rook_attacks(square, self.occupied) & (of(3) | queens);
        (near | far).any()
    }
}

/// Encodes a record; a missing score becomes 0.
#[inline]
pub fn encode(record: &Record) -> [u8; RECORD] {
    let (occupied, codes) = turned(&record.board, record.turn);
    let board = nibbles::board(occupied, codes);
    let king = |code| nibbles::squares(&board, code).trailing_zeros() as u8;
    let mut packed = [0; RECORD];
    packed[..24].copy_from_slice(&board.0);
    packed[24..26].copy_from_slice(&record.score.unwrap_or(0).to_le_bytes());
    packed[26] = (1 + record.turn.fold_wb(record.result.signum(), -record.result.signum())) as u8;
    packed[27] = king(nibbles::WHITE_KING);
    packed[28] = king(nibbles::BLACK_KING) ^ 56;
    packed
}

/// Occupancy and codes without castling rights, with the side to move as White.
#[inline]
fn turned(board: &PackedBoard, turn: Color) -> (u64, u128) {
    let occupied = board.occupied().0;
    let used = nibbles::used(occupied.count_ones());
    let codes = nibbles::codes(board) & used;
    // A rook that may castle is 6, a rook 3: they differ in bits 1 and 4.
    let castling = nibbles::equal(codes & !(ONES * 8), nibbles::CASTLING_ROOK) & used;
    let codes = codes ^ (castling * 5);
    if turn.is_white() {
        return (occupied, codes);
    }
    let (mut turned, mut filled) = (0u128, 0);
    for rank in (0..64).step_by(8).rev() {
        let before = (occupied & ((1 << rank) - 1)).count_ones();
        let pieces = (occupied >> rank & 0xff).count_ones();
        if pieces > 0 {
            turned |= (codes >> (4 * before) & nibbles::used(pieces)) << (4 * filled);
            filled += pieces;
        }
    }
    (occupied.swap_bytes(), turned ^ ((ONES * 8) & used))
}
