//! Which moves give check, without making them.
//!
//! In: a position. Out: for each legal move of it, whether the other side is in check behind it. A search judges many
//! moves that it never makes.

use shakmaty::{Bitboard, Chess, Move, Position, Role, Square, attacks};

use super::captures::screens;
use super::{legal, played, sliders};

/// From where the enemy king of a position is attacked.
#[derive(Debug, Clone, Copy)]
pub struct Checks {
    king: Square,
    /// By the role of our piece; the first is of none.
    from: [Bitboard; 7],
    /// Our pieces that alone stand between a slider of ours and the king.
    screens: Bitboard,
}

impl Checks {
    /// What there is to know of a position.
    #[inline]
    pub fn of(position: &Chess) -> Checks {
        let board = position.board();
        // A legal position has one.
        let king = board.king_of(!position.turn()).unwrap_or(Square::A1);
        let occupied = board.occupied();
        let pawn = attacks::pawn_attacks(!position.turn(), king);
        let knight = attacks::knight_attacks(king);
        let bishop = sliders::reach(Role::Bishop, king, occupied);
        let rook = sliders::reach(Role::Rook, king, occupied);
        Checks {
            king,
            from: [Bitboard::EMPTY, pawn, knight, bishop, rook, bishop | rook, Bitboard::EMPTY],
            screens: screens(board, king, position.us()) & position.us(),
        }
    }

    /// Whether a legal move of the position gives check.
    #[inline]
    pub fn gives(&self, position: &Chess, m: Move) -> bool {
        let Move::Normal { role, from, to, promotion: None, .. } = m else { return rare(position, m) };
        self.targets(role, from).contains(to)
    }

    /// The squares to which a piece of ours gives check by going there as what it is, whether it can or not: from there
    /// itself, or because it no longer stands before another.
    #[inline]
    pub fn targets(&self, role: Role, from: Square) -> Bitboard {
        let off_the_line =
            if self.screens.contains(from) { !attacks::ray(from, self.king) } else { Bitboard::EMPTY };
        self.from[role as usize] | off_the_line
    }
}

/// Castling, promotions and captures en passant: more than one square changes, or the piece does.
#[cold]
fn rare(position: &Chess, m: Move) -> bool {
    legal::in_check(&played(position, m))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fen;
    use crate::testing::along_random_games;

    fn check(position: &Chess) -> usize {
        let checks = Checks::of(position);
        let mut given = 0;
        for m in position.legal_moves() {
            let gives = checks.gives(position, m);
            assert_eq!(gives, rare(position, m), "{position:?} {m:?}");
            given += usize::from(gives);
        }
        given
    }

    #[test]
    fn a_move_gives_check_if_the_other_side_is_in_check_behind_it() {
        for (text, given) in [
            // A rook behind its king, a knight before a bishop, castling, promotion, en passant.
            ("4k3/8/8/8/8/8/4K3/4R3 w - - 0 1", 6),
            ("7k/8/8/4N3/3P4/2B5/8/K7 w - - 0 1", 2),
            ("5k2/8/8/8/8/8/8/4K2R w K - 0 1", 3),
            ("3k4/P7/8/8/8/8/8/K7 w - - 0 1", 2),
            ("8/8/8/k2pP2R/8/8/8/4K3 w - d6 0 1", 1),
        ] {
            assert_eq!(check(&fen::position(text, false).unwrap()), given, "{text}");
        }
        along_random_games(8, 60, 150, |position| {
            check(position);
        });
    }
}
