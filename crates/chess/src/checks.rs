use shakmaty::{Bitboard, Chess, Move, Position, Role, Square, attacks};

use super::captures::blockers;
use super::{legal, played, sliders};

/// The squares from which each role would check the enemy king, and the discovered-check candidates.
#[derive(Debug, Clone, Copy)]
pub struct CheckInfo {
    king: Square,
    /// Indexed by role; index 0 is unused.
    check_squares: [Bitboard; 7],
    /// Own pieces that alone block an own slider from the king.
    blockers: Bitboard,
}

impl CheckInfo {
    #[inline]
    pub fn new(position: &Chess) -> CheckInfo {
        let board = position.board();
        let king = board.king_of(!position.turn()).unwrap_or(Square::A1);
        let occupied = board.occupied();
        let pawn = attacks::pawn_attacks(!position.turn(), king);
        let knight = attacks::knight_attacks(king);
        let bishop = sliders::reach(Role::Bishop, king, occupied);
        let rook = sliders::reach(Role::Rook, king, occupied);
        CheckInfo {
            king,
            check_squares: [Bitboard::EMPTY, pawn, knight, bishop, rook, bishop | rook, Bitboard::EMPTY],
            blockers: blockers(board, king, position.us()) & position.us(),
        }
    }

    #[inline]
    pub fn gives_check(&self, position: &Chess, m: Move) -> bool {
        let Move::Normal { role, from, to, promotion: None, .. } = m else {
            return gives_check_slow(position, m);
        };
        self.targets(role, from).contains(to)
    }

    /// The squares on which a piece gives check, directly or by discovery, whether or not it can move there.
    #[inline]
    pub fn targets(&self, role: Role, from: Square) -> Bitboard {
        let off_the_line =
            if self.blockers.contains(from) { !attacks::ray(from, self.king) } else { Bitboard::EMPTY };
        self.check_squares[role as usize] | off_the_line
    }
}

/// Tests the moves that change more than one square, or the piece: castling, promotions, en passant.
#[cold]
fn gives_check_slow(position: &Chess, m: Move) -> bool {
    legal::in_check(&played(position, m))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{along_random_games, from_fen};

    fn check(position: &Chess) -> usize {
        let checks = CheckInfo::new(position);
        let mut given = 0;
        for m in position.legal_moves() {
            let gives = checks.gives_check(position, m);
            assert_eq!(gives, gives_check_slow(position, m), "{position:?} {m:?}");
            given += usize::from(gives);
        }
        given
    }

    #[test]
    fn a_move_gives_check_if_the_other_side_is_in_check_behind_it() {
        for (text, given) in [
            // King with a rook to discover, knight and bishop, castling, promotion, en passant.
            ("4k3/8/8/8/8/8/4K3/4R3 w - - 0 1", 6),
            ("7k/8/8/4N3/3P4/2B5/8/K7 w - - 0 1", 2),
            ("5k2/8/8/8/8/8/8/4K2R w K - 0 1", 3),
            ("3k4/P7/8/8/8/8/8/K7 w - - 0 1", 2),
            ("8/8/8/k2pP2R/8/8/8/4K3 w - d6 0 1", 1),
        ] {
            assert_eq!(check(&from_fen(text)), given, "{text}");
        }
        along_random_games(8, 60, 150, |position| {
            check(position);
        });
    }
}
