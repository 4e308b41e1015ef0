//! The evaluation compiled for the processor at hand.
//!
//! In: a board. Out: the same sum whatever the processor. The terms count squares all the time, which takes one
//! instruction where the processor has it and a dozen where a portable program may not assume it. So the same
//! source is compiled twice, and the choice is made where the program runs.

use shakmaty::{Board, Color};

use super::cache::Cache;
use super::sink::Table;
use patzer_chess::score::Score;

/// The worth of a board in centipawns from White's side.
#[inline]
pub fn white(table: &Table, cache: &mut Cache, board: &Board, turn: Color) -> Score {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("popcnt") && std::arch::is_x86_feature_detected!("bmi1") {
        // SAFETY: the processor has just been found to have these instructions.
        return unsafe { white_with_counting(table, cache, board, turn) };
    }
    super::remembered(table, cache, board, turn)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi1")]
fn white_with_counting(table: &Table, cache: &mut Cache, board: &Board, turn: Color) -> Score {
    super::remembered(table, cache, board, turn)
}

#[cfg(test)]
mod tests {
    use super::super::{COUNT, Weights};
    use super::*;

    #[test]
    fn both_ways_give_the_same() {
        let pairs: Vec<_> = (0..COUNT as i32).map(|i| [i * 31 % 97, i * 17 % 89]).collect();
        let table = Table::new(&Weights::from_pairs(1.0, &pairs).unwrap());
        let fen = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
        let board = fen.parse::<shakmaty::fen::Fen>().unwrap().into_setup().board;
        let turn = Color::Black;
        let plain = super::super::plain(&table, &board, turn);
        assert_eq!(white(&table, &mut Cache::new(), &board, turn), plain);
    }
}
