//! How far the evaluation has been off in positions like this one.
//!
//! In: a position, its static evaluation and what a search found it to be worth. Out: a correction in centipawns for
//! positions with the same pawns, and with the same pieces of one side. Source: "correction history", as
//! Caissa (W. Waltos, 2023) introduced it and Stockfish took it up.

use shakmaty::{Bitboard, Chess, Color, Position};

use super::history_table::Tallies;
use super::params::Params;
use patzer_chess::score::Score;

const ENTRIES: usize = 1 << 14;
/// Entries count in 1/GRAIN centipawn.
const GRAIN: i32 = 256;
/// Entries stay within this.
const MAX: i32 = 96 * GRAIN;
/// No correction is greater, in centipawns.
const MOST: i32 = 150;

/// Averages of what searches found beyond the evaluation.
#[derive(Debug)]
pub struct Correction {
    /// For each side to move, by pawns; by White's pieces; by Black's pieces.
    tables: [Tallies; 3],
}

/// Where a position's corrections are.
#[derive(Debug, Clone, Copy, Default)]
pub struct Place([usize; 3]);

impl Place {
    /// The place of a position.
    #[inline]
    pub fn of(position: &Chess) -> Place {
        let board = position.board();
        let side = usize::from(position.turn() == Color::Black);
        let pawns = hash(board.pawns() & board.white(), 0) ^ hash(board.pawns() & board.black(), 1);
        let pieces = |ours: Bitboard| {
            [board.knights(), board.bishops(), board.rooks(), board.queens(), board.kings()]
                .into_iter()
                .zip(2..)
                .fold(0, |sum, (squares, salt)| sum ^ hash(squares & ours, salt))
        };
        let index = |bits: u64| 2 * ((bits ^ bits >> 32) as usize % ENTRIES) + side;
        Place([index(pawns), index(pieces(board.white())), index(pieces(board.black()))])
    }
}

/// Multiplication by a number without pattern, another one for each kind of piece. Both halves of the product are
/// taken, since the low bits of each half depend on few squares and the high bits on all.
#[inline(always)]
fn hash(squares: Bitboard, salt: u32) -> u64 {
    let product = u128::from(squares.0) * u128::from(0x9e37_79b9_7f4a_7c15_u64.rotate_left(7 * salt));
    (product >> 64) as u64 ^ product as u64
}

impl Correction {
    /// Nothing known yet.
    pub fn new() -> Correction {
        Correction { tables: std::array::from_fn(|_| Tallies::new(2 * ENTRIES)) }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.tables.iter_mut().for_each(Tallies::clear);
    }

    /// What to add to the evaluation of a position at this place, in centipawns.
    #[inline]
    pub fn at(&self, place: Place, params: &Params) -> Score {
        let of = |i: usize| i32::from(self.tables[i][place.0[i]]);
        let sum = of(0) * params.correct_pawns + (of(1) + of(2)) * params.correct_pieces;
        (sum / (128 * GRAIN)).clamp(-MOST, MOST)
    }

    /// Learns that a search of this depth found `difference` centipawns beyond the evaluation.
    pub fn learn(&mut self, place: Place, difference: Score, depth: i32) {
        let bonus = (difference * depth * 3).clamp(-MAX / 4, MAX / 4);
        for (table, at) in self.tables.iter_mut().zip(place.0) {
            table.nudge(at, bonus, MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::fen;

    #[test]
    fn a_correction_is_for_positions_with_the_same_pawns_or_pieces() {
        let place = |text: &str| Place::of(&fen::position(text, false).unwrap());
        let here = place("4k3/pp6/8/8/8/8/PP6/R3K3 w - - 0 1");
        let same_pawns = place("4k3/pp6/8/8/8/8/PP6/3RK3 w - - 0 1");
        let nothing = place("3k4/1p6/8/8/8/8/P7/1R4K1 w - - 0 1");
        let (mut correction, params) = (Correction::new(), Params::default());
        for _ in 0..1000 {
            correction.learn(here, 60, 8);
        }
        let full = correction.at(here, &params);
        assert!((1..=MOST).contains(&full), "{full}");
        let half = correction.at(same_pawns, &params);
        assert!(0 < half && half < full);
        assert_eq!(correction.at(nothing, &params), 0);
        correction.clear();
        assert_eq!(correction.at(here, &params), 0);
    }
}
