//! Piece counts of a packed board by colour and role, counted with bit operations on all 32 piece codes at once.

use patzer_chess::PackedBoard;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PieceCounts {
    /// White's pieces, king and pawns included.
    pub white: u32,
    pub black: u32,
    /// White's by role, pawns first and kings last.
    pub white_roles: [u32; 6],
    pub black_roles: [u32; 6],
}

/// Value of each role, in pawns.
const VALUES: [u32; 6] = [1, 3, 3, 5, 9, 0];

/// One bit for each of the 32 codes.
const ONES: u128 = 0x1111_1111_1111_1111_1111_1111_1111_1111;

impl PieceCounts {
    #[inline]
    pub fn of(board: &PackedBoard) -> PieceCounts {
        let codes = u128::from_le_bytes(patzer_formats::bytes::field(&board.0, 8));
        let number = board.count().min(32);
        let taken = if number == 32 { ONES } else { ONES & ((1 << (4 * number)) - 1) };
        let bit = |index: u32| codes >> index & taken;
        let (b0, b1, b2, black) = (bit(0), bit(1), bit(2), bit(3));
        let (n0, n1, n2) = (taken & !b0, taken & !b1, taken & !b2);
        // Pawn 0, knight 1, bishop 2, rook 3, queen 4, king 5, and 6 a rook that may castle.
        let rook = (b0 & b1 & n2) | (n0 & b1 & b2);
        let roles = [n0 & n1 & n2, b0 & n1 & n2, n0 & b1 & n2, rook, n0 & n1 & b2, b0 & n1 & b2];
        let dark = black.count_ones();
        PieceCounts {
            white: number - dark,
            black: dark,
            white_roles: roles.map(|role| (role & !black).count_ones()),
            black_roles: roles.map(|role| (role & black).count_ones()),
        }
    }

    #[inline]
    pub fn non_pawns(&self) -> u32 {
        self.white + self.black - self.white_roles[0] - self.black_roles[0]
    }

    /// Material of both sides in pawns: pawn 1, knight and bishop 3, rook 5, queen 9; 78 at the start.
    #[inline]
    pub fn material(&self) -> u32 {
        worth(&self.white_roles) + worth(&self.black_roles)
    }

    /// White's material less Black's, in pawns.
    #[inline]
    pub fn balance(&self) -> i32 {
        worth(&self.white_roles) as i32 - worth(&self.black_roles) as i32
    }
}

#[inline]
fn worth(roles: &[u32; 6]) -> u32 {
    roles.iter().zip(VALUES).map(|(count, value)| count * value).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::fen;
    use shakmaty::{Color, Role};

    fn slow(board: &PackedBoard) -> PieceCounts {
        let mut counts = PieceCounts::default();
        for (_, piece) in board.pieces() {
            let role = piece.role as usize - Role::Pawn as usize;
            match piece.color {
                Color::White => (counts.white += 1, counts.white_roles[role] += 1),
                Color::Black => (counts.black += 1, counts.black_roles[role] += 1),
            };
        }
        counts
    }

    #[test]
    fn counting_at_once_is_counting_square_by_square() {
        for text in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "8/8/4k3/8/8/3QK3/8/8 b - - 0 1",
            "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N w - - 0 1",
            "1r2k1r1/8/8/8/8/8/8/1R2K1R1 b BGbg - 5 40",
        ] {
            let board = PackedBoard::pack(&fen::position(text, true).unwrap());
            assert_eq!(PieceCounts::of(&board), slow(&board), "{text}");
        }
        let start = PackedBoard::pack(&shakmaty::Chess::default());
        let counts = PieceCounts::of(&start);
        assert_eq!((counts.material(), counts.balance(), counts.non_pawns()), (78, 0, 16));
    }
}
