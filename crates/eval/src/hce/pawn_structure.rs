//! Values that depend on the pawns alone; the pawn hash table keeps them.

use shakmaty::{Bitboard, Board, ByColor, Color};

use super::squares::{above, below, beside, relative};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PawnStructure {
    pub passed: ByColor<Bitboard>,
    /// Closedness, from 0 (open) to 8.
    pub closed: u8,
    /// Set if there are pawns, all on files a to d or all on e to h.
    pub one_wing: bool,
}

/// Illegal ranks for pawns: such a board must not index out of a table.
pub const END_RANKS: Bitboard = Bitboard(0xff00_0000_0000_00ff);

const QUEEN_SIDE: Bitboard = Bitboard(0x0f0f_0f0f_0f0f_0f0f);

impl PawnStructure {
    #[inline(always)]
    pub fn of(board: &Board) -> PawnStructure {
        let pawns = board.pawns();
        let passed = |us: Color| {
            let ours = relative(us, pawns & board.by_color(us)).without(END_RANKS);
            let theirs = relative(us, pawns & board.by_color(!us));
            relative(us, ours.without(below(theirs | beside(theirs)) | below(ours)))
        };
        PawnStructure {
            passed: ByColor { black: passed(Color::Black), white: passed(Color::White) },
            closed: closed(board),
            one_wing: pawns.any() && (pawns.is_subset(QUEEN_SIDE) || pawns.is_disjoint(QUEEN_SIDE)),
        }
    }
}

/// Ethereal 12's closedness: many pawns, many of them rammed, few open files.
fn closed(board: &Board) -> u8 {
    let pawns = board.pawns();
    let rammed = (board.white() & pawns).shift(8) & board.black() & pawns;
    let files = (pawns | above(pawns) | below(pawns)) & Bitboard(0xff);
    let open = 8 - files.count() as i32;
    ((pawns.count() as i32 + 3 * rammed.count() as i32 - 4 * open) / 3).clamp(0, 8) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::{Square, fen::Fen};

    fn structure(fen: &str) -> PawnStructure {
        PawnStructure::of(&fen.parse::<Fen>().unwrap().into_setup().board)
    }

    #[test]
    fn no_enemy_pawn_can_stop_a_passed_pawn() {
        // a5 and the front of the doubled f-pawns are passed; c4 is held by d6; Black's h3 is passed.
        let found = structure("6k1/8/3p4/P4P2/2P2P2/7p/8/6K1 w - - 0 1");
        assert_eq!(found.passed.white, Bitboard::from_square(Square::A5).with(Square::F5));
        assert_eq!(found.passed.black, Bitboard::from_square(Square::H3));
    }

    #[test]
    fn closedness_and_wings_follow_the_pawns() {
        assert_eq!(structure("4k3/8/8/8/8/8/8/4K3 w - - 0 1").closed, 0);
        assert_eq!(structure("4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1").closed, 5);
        assert_eq!(structure("4k3/8/pppppppp/PPPPPPPP/8/8/8/4K3 w - - 0 1").closed, 8);
        assert!(structure("4k3/5ppp/8/8/8/8/4PPP1/4K3 w - - 0 1").one_wing);
        assert!(!structure("4k3/5ppp/8/8/8/8/3PPPP1/4K3 w - - 0 1").one_wing);
        assert!(!structure("4k3/8/8/8/8/8/8/4K3 w - - 0 1").one_wing);
    }
}
