//! Stem: the first position of a chain in 32 bytes.

use shakmaty::{Chess, Color, Move, Position, Role, Square};

use super::bits::{folded, unfolded};
use crate::Record;
use crate::bytes::field;
use crate::nibbles;
use patzer_chess::PackedMove;
use patzer_chess::packed::NO_EP;

pub const STEM: usize = 32;

pub const LAST_PLY: u16 = (1 << 14) - 1;

/// Extra piece codes: en passant target pawn, rooks that may castle, Black's king with Black to move.
const EP_PAWN: u8 = 12;
const WHITE_CASTLING: u8 = 13;
const BLACK_CASTLING: u8 = 14;
const BLACK_KING_TO_MOVE: u8 = 15;

pub struct Stem {
    pub position: Chess,
    pub played: PackedMove,
    pub score: i16,
    /// From White's side.
    pub result: i8,
}

pub fn decode(bytes: &[u8; STEM]) -> Result<Stem, &'static str> {
    let word = |at| u16::from_be_bytes(field(bytes, at));
    let occupied = u64::from_be_bytes(field(bytes, 0));
    if occupied.count_ones() > 32 {
        return Err("more than 32 pieces");
    }
    let (mut codes, mut turn, mut ep) = (0u128, Color::White, NO_EP);
    let mut left = occupied;
    for index in 0..occupied.count_ones() as usize {
        let square = left.trailing_zeros() as u8;
        left &= left - 1;
        let code = match bytes[8 + index / 2] >> (4 * (index % 2)) & 15 {
            // Pieces alternate in colour: 0 white pawn, 1 black pawn, 2 white knight, …
            code @ 0..EP_PAWN => code >> 1 | (code & 1) << 3,
            // The pawn is one rank in front of the en passant square.
            EP_PAWN if square >> 3 == 3 => {
                ep = square - 8;
                0
            }
            EP_PAWN => {
                ep = square.wrapping_add(8);
                8
            }
            WHITE_CASTLING => nibbles::CASTLING_ROOK,
            BLACK_CASTLING => 8 | nibbles::CASTLING_ROOK,
            _ => {
                turn = Color::Black;
                nibbles::BLACK_KING
            }
        };
        codes |= u128::from(code) << (4 * index);
    }
    let ply_result = word(28);
    let ply = ply_result & LAST_PLY;
    let board = nibbles::board(occupied, codes);
    // Other writers note en passant squares without a legal capture: ignore those.
    let unpack = |ep| board.unpack(turn, ep, word(30).into(), u32::from(ply / 2 + 1));
    let position = unpack(ep).or_else(|| unpack(NO_EP)).ok_or("an illegal position")?;
    let result = [0, -1, 1].get(usize::from(ply_result >> 14)).ok_or("a result that does not exist")?;
    Ok(Stem {
        played: decode_move(word(24), &position).ok_or("an illegal move")?,
        score: unfolded(word(26)),
        result: turn.fold_wb(*result, -result),
        position,
    })
}

/// `ply` must be at most [`LAST_PLY`].
pub fn encode(record: &Record, played: Move, score: i16, ply: u16) -> [u8; STEM] {
    let mut bytes = [0; STEM];
    bytes[..8].copy_from_slice(&record.board.occupied().0.to_be_bytes());
    let pawn = match record.ep {
        NO_EP => NO_EP,
        ep => record.turn.fold_wb(ep.wrapping_sub(8), ep.wrapping_add(8)),
    };
    let (mut left, mut codes) = (record.board.occupied().0, nibbles::codes(&record.board));
    let mut index = 0;
    while left != 0 && index < 32 {
        let code = codes as u8 & 15;
        let code = match code & 7 {
            0 if left.trailing_zeros() as u8 == pawn => EP_PAWN,
            nibbles::CASTLING_ROOK => WHITE_CASTLING + (code >> 3),
            5 if code >> 3 == 1 && record.turn.is_black() => BLACK_KING_TO_MOVE,
            role => role << 1 | code >> 3,
        };
        bytes[8 + index / 2] |= code << (4 * (index % 2));
        left &= left - 1;
        codes >>= 4;
        index += 1;
    }
    let result = record.turn.fold_wb(record.result, -record.result).signum();
    bytes[24..26].copy_from_slice(&encode_move(played).to_be_bytes());
    bytes[26..28].copy_from_slice(&folded(score).to_be_bytes());
    bytes[28..30].copy_from_slice(&(ply | folded(result.into()) << 14).to_be_bytes());
    bytes[30..32].copy_from_slice(&u16::from(record.halfmove).to_be_bytes());
    bytes
}

const NORMAL: u16 = 0;
const PROMOTION: u16 = 1;
const CASTLE: u16 = 2;
const EN_PASSANT: u16 = 3;

fn encode_move(m: Move) -> u16 {
    let from = m.from().unwrap_or(Square::A1);
    let (kind, piece) = match (m, m.promotion()) {
        (Move::Castle { .. }, _) => (CASTLE, 0),
        (Move::EnPassant { .. }, _) => (EN_PASSANT, 0),
        (_, Some(role)) => (PROMOTION, role as u16 - Role::Knight as u16),
        _ => (NORMAL, 0),
    };
    kind << 14 | (from as u16) << 8 | (m.to() as u16) << 2 | piece
}

/// A legal move, or [`PackedMove::NONE`] for 0.
fn decode_move(bits: u16, position: &Chess) -> Option<PackedMove> {
    if bits == 0 {
        return Some(PackedMove::NONE);
    }
    let squares = bits >> 8 & 63 | (bits >> 2 & 63) << 6;
    let packed = match bits >> 14 {
        PROMOTION => squares | ((bits & 3) + 1) << 12,
        CASTLE => squares | 1 << 15,
        _ => squares,
    };
    let m = PackedMove(packed).unpack(position)?;
    position.is_legal(m).then_some(PackedMove(packed))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes and their meaning are those of the tests of the crate `sfbinpack`.
    #[test]
    fn a_stem_from_stockfish_is_read_and_written() {
        let bytes = [
            98, 121, 192, 21, 24, 76, 241, 100, 100, 106, 0, 4, 8, 48, 2, 17, 17, 145, 19, 117, 247, 0, 0, 0,
            61, 232, 0, 253, 0, 39, 0, 2,
        ];
        let stem = decode(&bytes).unwrap();
        let fen = "1r3rk1/p2qnpb1/6pp/P1p1p3/3nN3/2QP2P1/R3PPBP/2B2RK1 b - - 2 20";
        assert_eq!(stem.position, patzer_chess::fen::position(fen, false).unwrap());
        assert_eq!((stem.position.halfmoves(), stem.position.fullmoves().get()), (2, 20));
        assert_eq!((stem.score, stem.result), (-127, 0));
        assert_eq!((stem.played.from(), stem.played.to()), (Square::F8, Square::C8));
        let record = crate::replay::still(&stem.position);
        let played = stem.played.unpack(&stem.position).unwrap();
        assert_eq!(encode(&record, played, stem.score, 39), bytes);
    }
}
