//! The evaluation compiled for the processor at hand.
//!
//! In: a board. Out: the same sum whatever the processor. The terms count squares all the time, which takes one
//! instruction where the processor has it and a dozen where a portable program may not assume it. So the same
//! source is compiled twice, and the choice is made where the program runs.

use shakmaty::{Board, Color};

use super::sink::{Packed, Table};

/// White's sum of weights minus Black's.
#[inline]
pub fn sum(table: &Table, board: &Board, turn: Color) -> Packed {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("popcnt") && std::arch::is_x86_feature_detected!("bmi1") {
        // SAFETY: the processor has just been found to have these instructions.
        return unsafe { sum_with_counting(table, board, turn) };
    }
    super::sum(table, board, turn)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi1")]
fn sum_with_counting(table: &Table, board: &Board, turn: Color) -> Packed {
    super::sum(table, board, turn)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_give_the_same() {
        let mut table = [Packed::default(); super::super::COUNT];
        table
            .iter_mut()
            .enumerate()
            .for_each(|(i, w)| *w = Packed::new(i as i32 * 31 % 97, i as i32 * 17 % 89));
        let fen = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
        let board = fen.parse::<shakmaty::fen::Fen>().unwrap().into_setup().board;
        let turn = Color::Black;
        assert_eq!(sum(&table, &board, turn), super::super::sum(&table, &board, turn));
    }
}
