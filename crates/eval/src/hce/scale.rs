//! Endgame scale factors, in 64ths, by material, opposite-coloured bishops and pawns on one wing; not tuned.
//! The cases are those of the classical Stockfish and of Ethereal. Each factor is the one that predicts the results of
//! its case best in 725,000 positions of engine games.

use shakmaty::{Bitboard, Board, ByColor, Color};

use super::pawn_structure::PawnStructure;

pub const FULL_SCALE: i32 = 64;

/// Piece counts of one side: pawns, knights, bishops, rooks, queens.
pub type Counts = [i32; 5];

#[inline(always)]
pub fn counts(board: &Board) -> ByColor<Counts> {
    let kinds = [board.pawns(), board.knights(), board.bishops(), board.rooks(), board.queens()];
    let of = |side: Bitboard| kinds.map(|kind| (kind & side).count() as i32);
    ByColor { black: of(board.black()), white: of(board.white()) }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scales {
    pub bishop_each: bool,
    pub normal: u8,
    pub one_wing: u8,
    pub opposite: u8,
}

impl Scales {
    pub fn of(counts: &ByColor<Counts>) -> Scales {
        let bishop_each = counts.iter().all(|c| c[2] == 1);
        let worth = counts.as_ref().map(|c| 3 * (c[1] + c[2]) + 5 * c[3] + 9 * c[4]);
        let rank = |color: Color| (worth[color] + counts[color][0], worth[color]);
        let strong = if rank(Color::White) > rank(Color::Black) { Color::White } else { Color::Black };
        let pawns = counts[strong][0] as usize;
        if pawns == 0 && worth[strong] - worth[!strong] <= 4 {
            // No pawn to promote, and not enough ahead to force mate.
            let scale = if worth[strong] <= 3 { 0 } else { 8 };
            return Scales { bishop_each, normal: scale, one_wing: scale, opposite: scale };
        }
        let each = |pieces: [i32; 4]| counts.iter().all(|c| c[1..] == pieces);
        let one_wing = match pawns {
            // The stronger side can still win the other side's pawns.
            0 => FULL_SCALE as u8,
            _ if each([0, 0, 1, 0]) => 28,
            _ => 50,
        };
        let opposite: [u8; 6] = if each([0, 1, 0, 0]) {
            [8, 8, 8, 22, 28, 32]
        } else if each([1, 1, 0, 0]) {
            [8, 8, 12, 32, 44, 60]
        } else if each([0, 1, 1, 0]) {
            [8, 8, 40, 60, 60, 60]
        } else {
            [60; 6]
        };
        Scales { bishop_each, normal: FULL_SCALE as u8, one_wing, opposite: opposite[pawns.min(5)] }
    }

    #[inline(always)]
    pub fn choose(&self, board: &Board, structure: &PawnStructure) -> i32 {
        let scale = if self.bishop_each && (board.bishops() & Bitboard::LIGHT_SQUARES).count() == 1 {
            self.opposite
        } else if structure.one_wing {
            self.one_wing
        } else {
            self.normal
        };
        i32::from(scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::fen::Fen;

    fn scale(fen: &str) -> i32 {
        let board = fen.parse::<Fen>().unwrap().into_setup().board;
        let mut flipped = board.clone();
        flipped.flip_vertical();
        flipped.swap_colors();
        let scale = crate::hce::scale(&board);
        assert_eq!(scale, crate::hce::scale(&flipped), "{fen}");
        scale
    }

    #[test]
    fn endgames_scale_by_material_opposite_bishops_and_wings() {
        assert_eq!(scale("4k3/8/8/8/8/8/8/4KB2 w - - 0 1"), 0);
        assert_eq!(scale("4k3/8/8/8/8/2n5/8/4KR2 w - - 0 1"), 8);
        assert_eq!(scale("4k3/8/8/8/8/8/8/4KR2 w - - 0 1"), FULL_SCALE);
        assert_eq!(scale("4k3/8/8/8/8/2p5/8/4KR2 w - - 0 1"), FULL_SCALE);
        assert_eq!(scale("4kb2/8/8/8/8/8/PP3P2/4KB2 w - - 0 1"), 22);
        // f1 is light and c8 too.
        assert_eq!(scale("2b1k3/8/8/8/8/8/PP3P2/4KB2 w - - 0 1"), FULL_SCALE);
        assert_eq!(scale("r3kb2/8/8/8/8/8/PP3P2/4KB1R w - - 0 1"), 60);
        assert_eq!(scale("4kr2/5pp1/8/8/8/8/5PPP/4KR2 w - - 0 1"), 28);
        assert_eq!(scale("4kr2/p4pp1/8/8/8/8/P4PPP/4KR2 w - - 0 1"), FULL_SCALE);
    }
}
