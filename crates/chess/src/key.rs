//! Zobrist keys, from scratch and incrementally. Equal for positions that the repetition rule calls equal:
//! board, side to move, castling rights (by rook square, so Chess960 too), and the en passant file only if a
//! legal capture exists. Source: Zobrist, "A New Hashing Method with Application for Game Playing" (1970).

use shakmaty::{Bitboard, CastlingSide, Chess, Color, Move, Piece, Position, Role, Square};

use crate::rng::mix;

/// An arbitrary constant: keys must be the same in every run.
const SEED: u64 = 0x5061_747a_6572;

/// Keys by colour, role and square. Roles 0 and 7 are zeros, so that three bits always index the table.
static PIECES: [[[u64; 64]; 8]; 2] = {
    let mut table = [[[0; 64]; 8]; 2];
    let mut index = 0;
    while index < 12 * 64 {
        let (piece, square) = (index / 64, index % 64);
        let color = if piece < 6 { Color::White } else { Color::Black };
        table[color as usize][Role::Pawn as usize + piece % 6][square] = mix(SEED, index as u64);
        index += 1;
    }
    table
};

const CASTLING: [u64; 64] = numbers(1000);
const EN_PASSANT: [u64; 64] = numbers(2000);
const BLACK: u64 = mix(SEED, 3000);

const fn numbers(start: u64) -> [u64; 64] {
    let mut table = [0; 64];
    let mut index = 0;
    while index < 64 {
        table[index] = mix(SEED, start + index as u64);
        index += 1;
    }
    table
}

pub fn of(position: &Chess) -> u64 {
    let mut key = if position.turn() == Color::Black { BLACK } else { 0 };
    for (square, standing) in position.board().iter() {
        key ^= piece(standing, square);
    }
    key ^ castling(position.castles().castling_rights()) ^ en_passant(position)
}

#[inline]
pub fn after(before: &Chess, key: u64, m: Move, after: &Chess) -> u64 {
    complete_after(approximate_after(before, key, m), before, after)
}

/// Turns the result of [`approximate_after`] into the exact key, once the move is made.
#[inline]
pub fn complete_after(approximate: u64, before: &Chess, after: &Chess) -> u64 {
    let lost = before.castles().castling_rights() ^ after.castles().castling_rights();
    approximate ^ castling(lost) ^ en_passant(after)
}

/// A key that ignores lost castling rights and a new en passant square: nearly always exact, and early enough to
/// prefetch.
#[inline]
pub fn approximate_after(before: &Chess, key: u64, m: Move) -> u64 {
    let us = before.turn();
    let moved = match m {
        Move::Normal { role, from, capture, to, promotion } => {
            let captured = capture.map_or(0, |role| role as usize);
            at(us, role as usize, from)
                ^ at(us, promotion.unwrap_or(role) as usize, to)
                ^ at(!us, captured, to)
        }
        other => rarely_moved(us, other),
    };
    key ^ moved ^ en_passant(before) ^ BLACK
}

#[cold]
fn rarely_moved(us: Color, m: Move) -> u64 {
    match m {
        Move::EnPassant { from, to } => {
            let captured = Square::from_coords(to.file(), from.rank());
            piece(us.pawn(), from) ^ piece(us.pawn(), to) ^ piece((!us).pawn(), captured)
        }
        Move::Castle { king, rook } => {
            let side = CastlingSide::from_king_side(king < rook);
            piece(us.king(), king)
                ^ piece(us.king(), side.king_to(us))
                ^ piece(us.rook(), rook)
                ^ piece(us.rook(), side.rook_to(us))
        }
        Move::Put { .. } | Move::Normal { .. } => 0,
    }
}

#[inline]
pub fn after_null(before: &Chess, key: u64) -> u64 {
    key ^ en_passant(before) ^ BLACK
}

fn piece(piece: Piece, square: Square) -> u64 {
    at(piece.color, piece.role as usize, square)
}

/// Looks up a piece's key; the masks repeat bounds that the compiler has lost sight of.
#[inline(always)]
fn at(color: Color, role: usize, square: Square) -> u64 {
    PIECES[color as usize & 1][role & 7][square as usize & 63]
}

#[inline]
fn castling(rooks: Bitboard) -> u64 {
    rooks.into_iter().fold(0, |key, rook| key ^ CASTLING[rook.to_usize()])
}

#[inline]
fn en_passant(position: &Chess) -> u64 {
    if position.maybe_ep_square().is_some() { legal_en_passant(position) } else { 0 }
}

/// Key of the en passant file if the capture is legal; rarely called, so the test costs nothing.
#[cold]
#[inline(never)]
fn legal_en_passant(position: &Chess) -> u64 {
    position.legal_ep_square().map_or(0, |square| EN_PASSANT[square.to_usize()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fen;

    fn key(text: &str) -> u64 {
        of(&fen::position(text, true).unwrap())
    }

    #[test]
    fn keys_are_equal_where_the_repetition_rule_says_so() {
        let castling = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
        for (one, other, equal) in [
            (castling, "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", false),
            (castling, "r3k2r/8/8/8/8/8/8/R3K2R w Qkq - 0 1", false),
            (castling, "r3k2r/8/8/8/8/8/8/R3K2R w KQk - 0 1", false),
            (castling, "r3k2r/8/8/8/8/8/8/R3K1R1 w Qkq - 0 1", false),
            ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "4k3/8/8/8/8/8/8/4K2R w K - 31 77", true),
            ("4k3/8/8/8/3P4/8/8/4K3 b - d3 0 1", "4k3/8/8/8/3P4/8/8/4K3 b - - 0 1", true),
            ("4k3/8/8/8/3Pp3/8/8/4K3 b - d3 0 1", "4k3/8/8/8/3Pp3/8/8/4K3 b - - 0 1", false),
            // The pawn on e4 is pinned on its file.
            ("4k3/8/8/8/3Pp3/8/8/K3R3 b - d3 0 1", "4k3/8/8/8/3Pp3/8/8/K3R3 b - - 0 1", true),
        ] {
            assert_eq!(key(one) == key(other), equal, "{one} {other}");
        }
    }
}
