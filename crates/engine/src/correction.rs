//! Correction history: corrects the static evaluation by the average error that searches found with the same
//! pawns, or the same pieces of one side. Source: Caissa (W. Waltos, 2023), then Stockfish.

use shakmaty::{Bitboard, Chess, Color, Position};

use super::history_table::HistoryTable;
use super::params::Params;
use patzer_chess::score::Score;

const ENTRIES: usize = 1 << 14;
/// Units of an entry per centipawn.
const GRAIN: i32 = 256;
const MAX_ENTRY: i32 = 96 * GRAIN;
/// Largest correction, in centipawns.
const MAX_CORRECTION: i32 = 150;

#[derive(Debug)]
pub(crate) struct CorrectionHistory {
    /// Tables by pawns, by White's pieces and by Black's, each for both sides to move.
    tables: [HistoryTable; 3],
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CorrectionIndex([usize; 3]);

impl CorrectionIndex {
    #[inline]
    pub(crate) fn new(position: &Chess) -> CorrectionIndex {
        let board = position.board();
        let side = usize::from(position.turn() == Color::Black);
        let pawns = hash(board.pawns() & board.white(), 0) ^ hash(board.pawns() & board.black(), 1);
        let pieces = |ours: Bitboard| {
            [board.knights(), board.bishops(), board.rooks(), board.queens(), board.kings()]
                .into_iter()
                .zip(2..)
                .fold(0, |sum, (squares, salt)| sum ^ hash(squares & ours, salt))
        };
        let entry = |bits: u64| 2 * ((bits ^ bits >> 32) as usize % ENTRIES) + side;
        CorrectionIndex([entry(pawns), entry(pieces(board.white())), entry(pieces(board.black()))])
    }
}

/// Multiplicative hash. Folds both halves of the product: their low bits depend on few squares, the high on all.
#[inline(always)]
fn hash(squares: Bitboard, salt: u32) -> u64 {
    let product = u128::from(squares.0) * u128::from(0x9e37_79b9_7f4a_7c15_u64.rotate_left(7 * salt));
    (product >> 64) as u64 ^ product as u64
}

impl CorrectionHistory {
    pub(crate) fn new() -> CorrectionHistory {
        CorrectionHistory { tables: std::array::from_fn(|_| HistoryTable::new(2 * ENTRIES)) }
    }

    pub(crate) fn clear(&mut self) {
        self.tables.iter_mut().for_each(HistoryTable::clear);
    }

    /// Correction to add to the evaluation, in centipawns.
    #[inline]
    pub(crate) fn get(&self, index: CorrectionIndex, params: &Params) -> Score {
        let of = |i: usize| i32::from(self.tables[i][index.0[i]]);
        let sum = of(0) * params.correct_pawns + (of(1) + of(2)) * params.correct_pieces;
        (sum / (128 * GRAIN)).clamp(-MAX_CORRECTION, MAX_CORRECTION)
    }

    pub(crate) fn update(&mut self, index: CorrectionIndex, difference: Score, depth: i32) {
        let bonus = (difference * depth * 3).clamp(-MAX_ENTRY / 4, MAX_ENTRY / 4);
        for (table, at) in self.tables.iter_mut().zip(index.0) {
            table.update(at, bonus, MAX_ENTRY);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::testing::from_fen;

    #[test]
    fn a_correction_is_for_positions_with_the_same_pawns_or_pieces() {
        let index = |text: &str| CorrectionIndex::new(&from_fen(text));
        let here = index("4k3/pp6/8/8/8/8/PP6/R3K3 w - - 0 1");
        let same_pawns = index("4k3/pp6/8/8/8/8/PP6/3RK3 w - - 0 1");
        let nothing = index("3k4/1p6/8/8/8/8/P7/1R4K1 w - - 0 1");
        let (mut correction, params) = (CorrectionHistory::new(), Params::default());
        for _ in 0..1000 {
            correction.update(here, 60, 8);
        }
        let full = correction.get(here, &params);
        assert!((1..=MAX_CORRECTION).contains(&full), "{full}");
        let half = correction.get(same_pawns, &params);
        assert!(0 < half && half < full);
        assert_eq!(correction.get(nothing, &params), 0);
        correction.clear();
        assert_eq!(correction.get(here, &params), 0);
    }
}
