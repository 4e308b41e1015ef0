//! Compiles the evaluation twice, with and without `popcnt` and `bmi1`, and chooses at run time: the terms count
//! squares all the time, one instruction with them and a dozen without.

use shakmaty::{Board, Color};

use super::cache::Cache;
use super::evaluate::cached;
use super::sink::WeightTable;
use patzer_chess::score::Score;

#[inline]
pub fn white(table: &WeightTable, cache: &mut Cache, board: &Board, turn: Color) -> Score {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("popcnt") && std::arch::is_x86_feature_detected!("bmi1") {
        // SAFETY: the processor has just been found to have these instructions.
        return unsafe { white_with_counting(table, cache, board, turn) };
    }
    cached(table, cache, board, turn)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi1")]
fn white_with_counting(table: &WeightTable, cache: &mut Cache, board: &Board, turn: Color) -> Score {
    cached(table, cache, board, turn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hce::{COUNT, Weights};

    #[test]
    fn both_versions_give_the_full_evaluation() {
        let pairs: Vec<_> = (0..COUNT as i32).map(|i| [i * 31 % 97, i * 17 % 89]).collect();
        let table = WeightTable::new(&Weights::from_pairs(1.0, &pairs).unwrap());
        let fen = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
        let board = fen.parse::<shakmaty::fen::Fen>().unwrap().into_setup().board;
        let turn = Color::Black;
        let full = crate::hce::evaluate::full(&table, &board, turn);
        assert_eq!(white(&table, &mut Cache::new(), &board, turn), full);
    }
}
