//! The order of hidden neurons in which most blocks of four activations are zero, so that a first further layer in
//! bytes skips them.

use super::TrainItem;
use super::loader::evenly;
use patzer_eval::nnue::{BYTE_INPUTS as BLOCK, Network, Nnue};
use patzer_io::error::{Error, Result};

/// Positions whose activations are looked at.
const POSITIONS: usize = 4096;

/// Zero activations, alone and in blocks.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Zeros {
    activations: usize,
    zeros: usize,
    blocks: usize,
    zero_blocks: usize,
}

impl Zeros {
    /// Adds the activations of a position, `width` for each perspective.
    pub(crate) fn count(&mut self, activations: &[i16], width: usize) {
        let zeros = |values: &[i16]| values.iter().all(|value| *value == 0);
        self.activations += activations.len();
        self.zeros += activations.iter().filter(|value| **value == 0).count();
        for block in activations.chunks(width).flat_map(|perspective| perspective.chunks(BLOCK)) {
            self.blocks += 1;
            self.zero_blocks += usize::from(zeros(block));
        }
    }

    pub(crate) fn share_of_activations(&self) -> f64 {
        self.zeros as f64 / self.activations.max(1) as f64
    }

    pub(crate) fn share_of_blocks(&self) -> f64 {
        self.zero_blocks as f64 / self.blocks.max(1) as f64
    }
}

/// Orders the pairs of a network with a first further layer in bytes; another network stays as it is. No evaluation
/// changes.
pub(crate) fn in_order_of_zeros(network: Network, items: &[TrainItem]) -> Result<Network> {
    if !network.architecture().in_bytes() {
        return Ok(network);
    }
    let items: Vec<TrainItem> = evenly(items, 1, POSITIONS).copied().collect();
    let order = order(&active(&network, &items));
    network.with_pairs_in(&order).ok_or_else(|| Error::internal("the order of neurons is none"))
}

/// The perspectives in which each pair is active, as bits.
fn active(network: &Network, items: &[TrainItem]) -> Vec<Vec<u64>> {
    let shape = network.architecture();
    let (pairs, words) = (shape.outputs_per_perspective(), (shape.perspectives * items.len()).div_ceil(64));
    let mut nnue = Nnue::new(network.clone().into());
    let mut active = vec![vec![0; words]; pairs];
    let mut perspective = 0;
    for item in items {
        let Some(board) = item.board.board() else { continue };
        for activations in nnue.hidden_activations(&board, item.halfmoves, item.turn).chunks(pairs) {
            for (bits, activation) in active.iter_mut().zip(activations) {
                bits[perspective / 64] |= u64::from(*activation != 0) << (perspective % 64);
            }
            perspective += 1;
        }
    }
    active
}

/// Begins each block with the least active pair that is left, and adds those that make the block active least often.
fn order(active: &[Vec<u64>]) -> Vec<usize> {
    let ones = |bits: &[u64]| bits.iter().map(|word| word.count_ones()).sum::<u32>();
    let with =
        |block: &[u64], bits: &[u64]| block.iter().zip(bits).map(|(a, b)| (a | b).count_ones()).sum::<u32>();
    let mut left: Vec<usize> = (0..active.len()).collect();
    left.sort_by_key(|pair| ones(&active[*pair]));
    let mut order = Vec::with_capacity(active.len());
    let mut block = Vec::new();
    while !left.is_empty() {
        let best = match order.len() % BLOCK {
            0 => 0,
            // The first of equals, which is the least active.
            _ => (0..left.len()).min_by_key(|at| with(&block, &active[left[*at]])).unwrap_or(0),
        };
        let pair = left.remove(best);
        if order.len() % BLOCK == 0 {
            block.clone_from(&active[pair]);
        } else {
            block.iter_mut().zip(&active[pair]).for_each(|(word, bits)| *word |= bits);
        }
        order.push(pair);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::tests::{enlarge, items};
    use crate::{Epoch, Settings, fit};
    use patzer_chess::rng::Rng;
    use patzer_eval::BoardEvaluator;
    use patzer_eval::nnue::{About, Activation, Architecture};

    fn in_bytes(hidden: usize) -> Architecture {
        let plain =
            Architecture { layers: vec![8], activation: Activation::Pairwise, ..Architecture::plain(hidden) };
        Architecture { first_layer_bits: 8, ..plain }
    }

    fn zeros(network: &Network, items: &[TrainItem]) -> Zeros {
        let (mut nnue, mut zeros) = (Nnue::new(network.clone().into()), Zeros::default());
        for item in items {
            let active = nnue.hidden_activations(&item.board.board().unwrap(), item.halfmoves, item.turn);
            zeros.count(&active, network.architecture().outputs_per_perspective());
        }
        zeros
    }

    #[test]
    fn neurons_that_are_active_together_share_a_block() {
        let bits = |word: u64| vec![word];
        let active =
            [0b0_0011, 0b0_1100, 0b0_0011, 0b0_1100, 0b1_0011, 0b1_1100, 0b0_0011, 0b0_1100].map(bits);
        let order = order(&active);
        let mut blocks: Vec<Vec<usize>> = order.chunks(BLOCK).map(<[usize]>::to_vec).collect();
        blocks.iter_mut().for_each(|block| block.sort_unstable());
        assert_eq!(blocks, [[0, 2, 4, 6], [1, 3, 5, 7]]);
    }

    #[test]
    fn the_order_keeps_every_value_and_makes_more_blocks_zero() {
        let items = items(800, 3);
        let mut model = Model::random(&in_bytes(128), false, 9);
        enlarge(&mut model, &mut Rng::new(6));
        let network = model.quantise(About::default()).unwrap();
        let sorted = in_order_of_zeros(network.clone(), &items[..400]).unwrap();
        let (before, after) = (zeros(&network, &items[400..]), zeros(&sorted, &items[400..]));
        assert_eq!(before.share_of_activations(), after.share_of_activations());
        assert!(after.share_of_blocks() > before.share_of_blocks(), "{before:?} {after:?}");
        let (mut one, mut other) = (Nnue::new(network.into()), Nnue::new(sorted.into()));
        for item in &items {
            let board = item.board.board().unwrap();
            let value = one.evaluate_board(&board, 0, item.turn, 0);
            assert_eq!(other.evaluate_board(&board, 0, item.turn, 0), value);
        }
    }

    #[test]
    fn a_network_in_bytes_is_trained_and_its_zeros_are_reported() {
        let items = items(1000, 4);
        let settings =
            Settings { epochs: 4, batch: 100, learning_rate: 0.003, ..Settings::of(&in_bytes(32)) };
        let fitted = |settings: &Settings| fit(&items, &[], settings, &mut |_: &Epoch| ()).unwrap();
        let (bytes, usual) =
            (fitted(&settings), fitted(&Settings { first_layer_bits: 16, ..settings.clone() }));
        assert_eq!(bytes.losses.train, usual.losses.train, "only the quantised network differs");
        assert!(bytes.quantisation.mean_error < 30.0, "{:?}", bytes.quantisation);
        let found = zeros(&bytes.network, &items);
        assert_eq!(bytes.quantisation.zero_blocks, Some(found.share_of_blocks()));
        assert_eq!(usual.quantisation.zero_blocks, None);
    }
}
