//! Positions as the tuner sees them: which weights count, for which side, and nothing else.
//!
//! In: boards with targets, and the weights that are not to change. Out: blocks of traces. A trace lists the
//! numbers of the weights that count for White, then those that count for Black, one entry a count, so that a
//! pass needs additions alone. Weights that stay fixed are summed into one constant a position.

use rayon::prelude::*;

use super::TuneItem;
use crate::error::{Error, Result};
use crate::eval::hce::{self, COUNT, FULL_PHASE};

/// Positions in a block: the unit of parallel work and of shuffling, fixed so that sums do not depend on the
/// number of threads.
pub const BLOCK: usize = 1024;

/// Traces of up to [`BLOCK`] positions.
#[derive(Debug, Clone, Default)]
pub struct Block {
    /// One row a position.
    pub rows: Vec<Row>,
    /// The entries of all rows, one row after another.
    pub entries: Vec<u16>,
}

/// One position.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Number of entries that count for White.
    pub plus: u16,
    /// Number of entries, after those, that count for Black.
    pub minus: u16,
    /// Share of the midgame, from 0 to 1.
    pub phase: f32,
    /// What the fixed weights give, in centipawns from White's side.
    pub constant: f32,
    /// The result to predict, from White's side, from 0 to 1.
    pub target: f32,
}

/// Traces positions, in the order given by `order`, in blocks.
///
/// # Errors
/// If an item does not hold a board; the message has its number.
pub fn build(
    items: &[TuneItem],
    order: &[u32],
    weights: &[[f32; 2]],
    tuned: &[bool; COUNT],
) -> Result<Vec<Block>> {
    order.par_chunks(BLOCK).map(|chunk| block(items, chunk, weights, tuned)).collect()
}

fn block(items: &[TuneItem], chunk: &[u32], weights: &[[f32; 2]], tuned: &[bool; COUNT]) -> Result<Block> {
    let mut tracer = hce::Trace::default();
    let mut entries: Vec<u16> = Vec::with_capacity(chunk.len() * 64);
    let mut rows: Vec<(usize, Row)> = Vec::with_capacity(chunk.len());
    let mut minus: Vec<u16> = Vec::new();
    for &index in chunk {
        let item = &items[index as usize];
        let board = (item.board.board())
            .ok_or_else(|| Error::usage(format!("position {} of the dataset holds no board", index + 1)))?;
        hce::trace(&board, item.turn, &mut tracer);
        let phase = hce::phase(&board) as f32 / FULL_PHASE as f32;
        let (start, mut fixed) = (entries.len(), [0.0f32; 2]);
        minus.clear();
        tracer.drain(|weight, count| {
            if tuned[usize::from(weight)] {
                let side = if count > 0 { &mut entries } else { &mut minus };
                side.extend(std::iter::repeat_n(weight, usize::from(count.unsigned_abs())));
            } else {
                let [mg, eg] = weights[usize::from(weight)];
                fixed = [fixed[0] + f32::from(count) * mg, fixed[1] + f32::from(count) * eg];
            }
        });
        let plus = (entries.len() - start) as u16;
        entries.extend_from_slice(&minus);
        let constant = phase * fixed[0] + (1.0 - phase) * fixed[1];
        rows.push((start, Row { plus, minus: minus.len() as u16, phase, constant, target: item.target }));
    }
    // Rows of equal lengths next to each other: the ends of the loops over entries become predictable.
    rows.sort_by_key(|(_, row)| (row.plus, row.minus));
    let mut sorted =
        Block { rows: Vec::with_capacity(rows.len()), entries: Vec::with_capacity(entries.len()) };
    for (start, row) in rows {
        sorted.entries.extend_from_slice(&entries[start..start + usize::from(row.plus + row.minus)]);
        sorted.rows.push(row);
    }
    Ok(sorted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::PackedBoard;
    use crate::eval::hce::{Hce, Weights};
    use shakmaty::{CastlingMode, Chess, Color, Position, fen::Fen};

    #[test]
    fn a_fixed_term_and_a_tuned_term_give_the_same_sum() {
        let fen = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 0 1";
        let position: Chess = fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap();
        let item = TuneItem { board: PackedBoard::pack(&position), turn: Color::Black, target: 0.5 };
        let pairs: Vec<[i32; 2]> = (0..COUNT as i32).map(|i| [i * 7 % 97 - 48, i * 13 % 89 - 44]).collect();
        let weights: Vec<[f32; 2]> = pairs.iter().map(|pair| pair.map(|v| v as f32)).collect();
        let hce = Hce::new(std::sync::Arc::new(Weights::from_pairs(1.0, &pairs).unwrap()));
        let truth = hce.white(position.board(), Color::Black) as f32;
        for share in [0, 1, 2, 3] {
            let mut tuned = [false; COUNT];
            tuned.iter_mut().enumerate().for_each(|(i, t)| *t = i % 3 < share);
            let blocks = build(&[item], &[0], &weights, &tuned).unwrap();
            let row = blocks[0].rows[0];
            let (plus, minus) = blocks[0].entries.split_at(usize::from(row.plus));
            let sum = |entries: &[u16], half: usize| {
                entries.iter().map(|&i| weights[i as usize][half]).sum::<f32>()
            };
            let [mg, eg] = [0, 1].map(|half| sum(plus, half) - sum(minus, half));
            let score = row.constant + row.phase * mg + (1.0 - row.phase) * eg;
            assert!((score - truth).abs() < 1.0, "{share}: {score} and {truth}");
        }
    }

    #[test]
    fn a_broken_board_is_named_by_its_number() {
        let good = PackedBoard::pack(&Chess::default());
        let item = |board| TuneItem { board, turn: Color::White, target: 0.5 };
        let items = [item(good), item(PackedBoard([0xff; 24]))];
        let weights = vec![[0.0; 2]; COUNT];
        let error = build(&items, &[0, 1], &weights, &[true; COUNT]).unwrap_err();
        assert!(error.to_string().contains("position 2"), "{error}");
    }
}
