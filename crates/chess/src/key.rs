//! Zobrist keys, from scratch and one move at a time.
//!
//! In: a position, or a position with its key and the move that was played. Out: a 64-bit key that is equal for
//! positions that are equal by the rules of repetition: board, side to move, castling rights (by the square of
//! the rook, so those of Chess960 too), and the en passant file only where a legal capture exists.
//! Source: Zobrist, "A New Hashing Method with Application for Game Playing" (1970).

use shakmaty::{Bitboard, CastlingSide, Chess, Color, Move, Piece, Position, Role, Square};

use crate::rng::mix;

/// Any fixed number: keys have to be the same in every run, and random in their bits.
const SEED: u64 = 0x5061_747a_6572;

/// By colour, role and square. There are zeros for no role and for one more, so that whatever three bits say is there.
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

/// One number for each square on which a rook with castling rights may stand; squares of other ranks unused.
const CASTLING: [u64; 64] = numbers(1000);
/// One number for each en passant square; squares of other ranks unused.
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

/// The key of a position, from scratch.
pub fn of(position: &Chess) -> u64 {
    let mut key = if position.turn() == Color::Black { BLACK } else { 0 };
    for (square, standing) in position.board().iter() {
        key ^= piece(standing, square);
    }
    key ^ castling(position.castles().castling_rights()) ^ en_passant(position)
}

/// The key after a legal move, from the key before it. `after` is `before` with `m` played.
#[inline]
pub fn after(before: &Chess, key: u64, m: Move, after: &Chess) -> u64 {
    completed(nearly_after(before, key, m), before, after)
}

/// The key after a legal move, from what [`nearly_after`] says it is.
#[inline]
pub fn completed(near: u64, before: &Chess, after: &Chess) -> u64 {
    let lost = before.castles().castling_rights() ^ after.castles().castling_rights();
    near ^ castling(lost) ^ en_passant(after)
}

/// The key after a legal move that costs no castling rights and allows no capture en passant: the right one nearly
/// always, and known before the move is made.
#[inline]
pub fn nearly_after(before: &Chess, key: u64, m: Move) -> u64 {
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

/// What castling and captures en passant change.
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
        // Others are none, or normal.
        Move::Put { .. } | Move::Normal { .. } => 0,
    }
}

/// The key after passing the turn (see [`super::null_move`]), from the key before it.
#[inline]
pub fn after_null(before: &Chess, key: u64) -> u64 {
    key ^ en_passant(before) ^ BLACK
}

fn piece(piece: Piece, square: Square) -> u64 {
    at(piece.color, piece.role as usize, square)
}

/// The bits that are kept say again what the types say, where the compiler has lost sight of it.
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

/// Almost always there is no such square, so the test for legality behind it costs nothing.
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
    fn positions_that_differ_in_one_respect_have_different_keys() {
        let base = key("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
        for other in [
            "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1",
            "r3k2r/8/8/8/8/8/8/R3K2R w Qkq - 0 1",
            "r3k2r/8/8/8/8/8/8/R3K2R w KQk - 0 1",
            "r3k2r/8/8/8/8/8/8/R3K1R1 w Qkq - 0 1",
        ] {
            assert_ne!(base, key(other), "{other}");
        }
    }

    #[test]
    fn clocks_do_not_count() {
        assert_eq!(key("4k3/8/8/8/8/8/8/4K2R w K - 0 1"), key("4k3/8/8/8/8/8/8/4K2R w K - 31 77"));
    }

    #[test]
    fn an_en_passant_square_counts_only_where_a_pawn_can_take() {
        let none = "4k3/8/8/8/3P4/8/8/4K3 b - d3 0 1";
        assert_eq!(key(none), key("4k3/8/8/8/3P4/8/8/4K3 b - - 0 1"));
        let legal = "4k3/8/8/8/3Pp3/8/8/4K3 b - d3 0 1";
        assert_ne!(key(legal), key("4k3/8/8/8/3Pp3/8/8/4K3 b - - 0 1"));
        // The pawn on e4 is pinned on its file and must not leave it.
        let pinned = "4k3/8/8/8/3Pp3/8/8/K3R3 b - d3 0 1";
        assert_eq!(key(pinned), key("4k3/8/8/8/3Pp3/8/8/K3R3 b - - 0 1"));
    }
}
