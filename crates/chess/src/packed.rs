//! Boards in 24 bytes and moves in 16 bits, as in the dataset format: the encoding never changes meaning.

use std::num::NonZeroU32;

use shakmaty::{
    Bitboard, Board, ByColor, ByRole, CastlingMode, CastlingSide, Chess, Color, EnPassantMode, FromSetup,
    Move, Piece, Position, PositionError, Role, Setup, Square,
};

use super::MoveParts;

/// A board in 24 bytes: occupancy (u64, little-endian), then one 4-bit piece for each occupied square in square
/// order (a1, b1, … h8), low half of a byte first.
///
/// A piece is `8 × colour + role`, with White = 0, and roles pawn 0 to king 5. Role 6 is a rook that may still
/// castle, so castling rights survive, those of Chess960 too. At most 32 pieces fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[repr(transparent)]
pub struct PackedBoard(pub [u8; 24]);

const CASTLING_ROOK: u8 = 6;

/// The en passant code without an en passant square.
pub const NO_EP: u8 = 255;

impl PackedBoard {
    pub fn pack(position: &Chess) -> PackedBoard {
        let board = position.board();
        let unmoved = position.castles().castling_rights();
        let occupied = board.occupied();
        let mut bytes = [0; 24];
        bytes[..8].copy_from_slice(&occupied.0.to_le_bytes());
        let roles =
            [board.pawns(), board.knights(), board.bishops(), board.rooks(), board.queens(), board.kings()];
        // Split the four code bits into four bitboards: four bit tests a square, no search.
        let bit0 = roles[1] | roles[3] | roles[5];
        let bit1 = roles[2] | roles[3] | unmoved;
        let bit2 = roles[4] | roles[5] | unmoved;
        let bit0 = bit0.without(unmoved);
        let mut left = occupied.0;
        for half in bytes[8..].chunks_exact_mut(8) {
            // Gather sixteen codes in a register; writing each to memory would wait for the previous store.
            let mut codes = 0u64;
            for shift in (0..64).step_by(4) {
                if left == 0 {
                    break;
                }
                let square = left.trailing_zeros();
                left &= left - 1;
                let at = |bits: Bitboard| (bits.0 >> square) & 1;
                codes |= (at(bit0) | at(bit1) << 1 | at(bit2) << 2 | at(board.black()) << 3) << shift;
            }
            half.copy_from_slice(&codes.to_le_bytes());
        }
        PackedBoard(bytes)
    }

    #[inline]
    pub fn occupied(&self) -> Bitboard {
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        Bitboard(u64::from_le_bytes([a, b, c, d, e, f, g, h]))
    }

    /// Every piece with its square, in square order; invalid codes are skipped.
    #[inline]
    pub fn pieces(&self) -> impl Iterator<Item = (Square, Piece)> + '_ {
        let mut codes = self.codes();
        self.occupied().into_iter().take(32).filter_map(move |square| {
            let piece = PIECES[codes as usize & 15];
            codes >>= 4;
            Some((square, piece?))
        })
    }

    /// All codes as one number: each step over the pieces is a shift.
    #[inline(always)]
    fn codes(&self) -> u128 {
        let mut codes = [0; 16];
        codes.copy_from_slice(&self.0[8..]);
        u128::from_le_bytes(codes)
    }

    /// Bit 0 of every code that is role 6: bits 2 and 1, but not 0.
    fn unmoved(codes: u128) -> u128 {
        (codes >> 2) & (codes >> 1) & !codes & (u128::MAX / 15)
    }

    /// The board without castling rights.
    pub fn without_castling(mut self) -> PackedBoard {
        let codes = self.codes();
        let unmoved = PackedBoard::unmoved(codes);
        self.0[8..].copy_from_slice(&(codes ^ unmoved ^ unmoved << 2).to_le_bytes());
        self
    }

    /// The horizontal mirror image; `None` with castling rights, since the mirror image has other moves.
    pub fn mirrored(&self) -> Option<PackedBoard> {
        let occupied = self.occupied().0;
        let codes = self.codes();
        let unmoved = PackedBoard::unmoved(codes);
        if unmoved != 0 || occupied.count_ones() > 32 {
            return None;
        }
        let (mut mirrored, mut from) = (0u128, 0);
        for rank in occupied.to_le_bytes() {
            let count = rank.count_ones();
            for index in 0..count {
                let code = codes >> (4 * (from + index)) & 15;
                mirrored |= code << (4 * (from + count - 1 - index));
            }
            from += count;
        }
        let mut bytes = [0; 24];
        let ranks = occupied.to_le_bytes().map(u8::reverse_bits);
        bytes[..8].copy_from_slice(&ranks);
        bytes[8..].copy_from_slice(&mirrored.to_le_bytes());
        Some(PackedBoard(bytes))
    }

    #[inline]
    pub fn count(&self) -> u32 {
        self.occupied().0.count_ones()
    }

    pub fn board(&self) -> Option<Board> {
        let occupied = self.occupied();
        let (mut by_role, mut black) = ([0u64; 8], 0);
        if occupied.count() > 32 {
            return None;
        }
        let mut left = occupied.0;
        for half in self.0[8..].chunks_exact(8) {
            let mut codes = u64::from_le_bytes(half.try_into().ok()?);
            for _ in 0..16 {
                if left == 0 {
                    break;
                }
                let square = left & left.wrapping_neg();
                left ^= square;
                by_role[codes as usize & 7] |= square;
                black |= if codes & 8 == 0 { 0 } else { square };
                codes >>= 4;
            }
        }
        let [pawn, knight, bishop, rook, queen, king, unmoved, none] = by_role.map(Bitboard);
        let roles = ByRole { pawn, knight, bishop, rook: rook | unmoved, queen, king };
        let colors = ByColor { black: Bitboard(black), white: occupied.without(Bitboard(black)) };
        none.is_empty().then(|| Board::try_from_bitboards(roles, colors).ok()).flatten()
    }

    /// Restores the position; `None` if the record is not legal. `ep` is a square index or [`NO_EP`].
    pub fn unpack(&self, turn: Color, ep: u8, halfmoves: u32, fullmoves: u32) -> Option<Chess> {
        let mut setup = Setup::empty();
        setup.board = self.board()?;
        setup.turn = turn;
        for (index, square) in self.occupied().into_iter().enumerate() {
            if (self.0[8 + index / 2] >> (4 * (index % 2))) & 7 == CASTLING_ROOK {
                setup.castling_rights.add(square);
            }
        }
        setup.ep_square = (ep != NO_EP).then(|| Square::try_from(ep)).transpose().ok()?;
        setup.halfmoves = halfmoves;
        setup.fullmoves = NonZeroU32::new(fullmoves)?;
        // Accept positions that no game reaches: data generators make them, and they can be played.
        let mode = castling_mode(&setup);
        Chess::from_setup(setup, mode)
            .or_else(PositionError::ignore_impossible_check)
            .or_else(PositionError::ignore_too_much_material)
            .ok()
    }
}

/// The mode of castling: Chess960 only if standard squares cannot express the rights, so that moves print in standard
/// notation.
fn castling_mode(setup: &Setup) -> CastlingMode {
    let standard = setup.castling_rights.is_subset(Bitboard::CORNERS)
        && Color::ALL.iter().all(|&color| {
            let home = Bitboard::from_rank(color.relative_rank(shakmaty::Rank::First));
            setup.castling_rights.is_disjoint(home)
                || setup.board.king_of(color) == Some(color.fold_wb(Square::E1, Square::E8))
        });
    CastlingMode::from_standard(standard)
}

const PIECES: [Option<Piece>; 16] = {
    const ROLES: [Role; 7] =
        [Role::Pawn, Role::Knight, Role::Bishop, Role::Rook, Role::Queen, Role::King, Role::Rook];
    let mut pieces = [None; 16];
    let mut role = 0;
    while role < ROLES.len() {
        pieces[role] = Some(Piece { color: Color::White, role: ROLES[role] });
        pieces[8 + role] = Some(Piece { color: Color::Black, role: ROLES[role] });
        role += 1;
    }
    pieces
};

/// The en passant square of a position if a legal capture exists, else [`NO_EP`].
pub fn ep_code(position: &Chess) -> u8 {
    position.ep_square(EnPassantMode::Legal).map_or(NO_EP, u8::from)
}

/// A move in 16 bits: from, to (6 bits each), promotion (0 none, 1 knight … 4 queen; 3 bits), castling (1 bit).
/// Castling is the king taking its own rook, in standard chess too. 0 is no move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[repr(transparent)]
pub struct PackedMove(pub u16);

impl PackedMove {
    pub const NONE: PackedMove = PackedMove(0);

    #[inline]
    pub fn pack(m: Move) -> PackedMove {
        let MoveParts { from, to, promotion, .. } = MoveParts::new(m);
        let promotion = promotion.map_or(0, |role| role as u16 - 1);
        PackedMove(from as u16 | (to as u16) << 6 | promotion << 12 | u16::from(m.is_castle()) << 15)
    }

    #[inline]
    pub fn from(self) -> Square {
        Square::new(u32::from(self.0 & 63))
    }

    #[inline]
    pub fn to(self) -> Square {
        Square::new(u32::from(self.0 >> 6 & 63))
    }

    #[inline]
    pub fn promotion(self) -> Option<Role> {
        match self.0 >> 12 & 7 {
            0 => None,
            code => Role::try_from(code as u8 + 1).ok(),
        }
    }

    /// Restores the move, only as legal as the packed one was; `None` if the mover has no piece on `from`.
    #[inline]
    pub fn unpack(self, position: &Chess) -> Option<Move> {
        if self == PackedMove::NONE {
            return None;
        }
        let (from, to) = (self.from(), self.to());
        let board = position.board();
        if !position.us().contains(from) {
            return None;
        }
        if self.0 >> 15 == 1 {
            return Some(Move::Castle { king: from, rook: to });
        }
        let role = board.role_at(from)?;
        let capture = board.role_at(to);
        if role == Role::Pawn && capture.is_none() && from.file() != to.file() {
            return Some(Move::EnPassant { from, to });
        }
        Some(Move::Normal { role, from, capture, to, promotion: self.promotion() })
    }
}

pub fn castling_side(king: Square, rook: Square) -> CastlingSide {
    CastlingSide::from_king_side(king < rook)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::KIWIPETE;

    fn position(text: &str) -> Chess {
        crate::fen::position(text, true).unwrap()
    }

    #[test]
    fn positions_and_their_moves_survive_packing() {
        for fen in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            KIWIPETE,
            "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
            "1r2k1r1/8/8/8/8/8/8/1R2K1R1 b BGbg - 5 40",
            "4k2r/8/8/8/8/8/8/4K3 b k - 12 77",
            "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N w - - 0 1",
        ] {
            let before = position(fen);
            let after = PackedBoard::pack(&before)
                .unpack(before.turn(), ep_code(&before), before.halfmoves(), before.fullmoves().get())
                .unwrap();
            assert_eq!(before, after, "{fen}");
            assert_eq!((before.halfmoves(), before.fullmoves()), (after.halfmoves(), after.fullmoves()));
            for m in before.legal_moves() {
                assert_eq!(PackedMove::pack(m).unpack(&before), Some(m), "{fen} {m:?}");
            }
        }
    }

    #[test]
    fn a_mirrored_board_is_that_of_the_mirrored_position() {
        for (fen, mirror) in [
            ("8/2k5/8/1pP3q1/8/8/5N2/K6R w - - 0 1", "8/5k2/8/1q3Pp1/8/8/2N5/R6K w - - 0 1"),
            ("k7/ppp5/8/8/8/8/5PPP/7K b - - 0 1", "7k/5ppp/8/8/8/8/PPP5/K7 b - - 0 1"),
        ] {
            let board = PackedBoard::pack(&position(fen));
            assert_eq!(board.mirrored(), Some(PackedBoard::pack(&position(mirror))), "{fen}");
        }
        assert_eq!(PackedBoard::pack(&position("4k3/8/8/8/8/8/8/4K2R w K - 0 1")).mirrored(), None);
    }

    #[test]
    fn junk_does_not_unpack() {
        for occupied in [u64::MAX, 3] {
            let mut bytes = [0xff; 24];
            bytes[..8].copy_from_slice(&occupied.to_le_bytes());
            assert!(PackedBoard(bytes).unpack(Color::White, NO_EP, 0, 1).is_none());
        }
    }
}
