//! Networks of Stockfish with HalfKAv2_hm inputs (SFNNv5 to v9, Stockfish 15.1 to 17.1), evaluated in their own
//! integers, to Stockfish's outputs.
//! Source: the sources of Stockfish 15.1 to 17.1.

mod leb128;
pub mod network;
pub mod parameters;

use std::sync::Arc;

use shakmaty::{Board, Chess, Color, Position};

pub use self::network::Network;
use self::network::joined;
use self::parameters::{FIRST, SECOND, SECOND_INPUTS, Stack};
pub use self::parameters::{Parameters, has_magic};
use crate::evaluator::{BoardEvaluator, Evaluator};
use crate::nnue::byte_layer::{ByteInputs, Products};
use crate::nnue::piece_stack::PieceStack;
use crate::nnue::{Architecture, Kernel, KingBuckets, RowChanges};
use patzer_chess::score::{MATE_IN_MAX, Score};

/// Licence of Stockfish and of the networks that come with it.
pub const LICENCE: &str = "GPL-3.0-or-later";

/// Words for the origin of what such a network has scored.
pub fn origin() -> String {
    format!("a network of Stockfish, {LICENCE}")
}

/// Outputs of [`Output`] for one of the engine's internal units.
const OUTPUT_SCALE: i32 = 16;
/// A weight of 1 in the layers, as a shift.
const WEIGHT_SHIFT: u32 = 6;
/// An activation of 1.
const ONE: i32 = 127;
/// An output of 1 of the neuron that goes straight to the output, in internal units.
const FORWARD: i32 = 600;

/// Evaluates with a network of Stockfish and keeps the accumulators of the current line.
#[derive(Debug, Clone)]
pub struct Stockfish {
    network: Arc<Network>,
    accumulators: PieceStack,
    kernel: Kernel,
    inputs: ByteInputs,
}

/// The two parts of an evaluation from the side to move, each in 1/16 of Stockfish's internal units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Output {
    /// Piece-square values, mostly material.
    pub psqt: i32,
    /// Output of the layers.
    pub positional: i32,
}

impl Stockfish {
    pub fn new(network: Arc<Network>) -> Stockfish {
        Stockfish::with(network, Kernel::best())
    }

    fn with(network: Arc<Network>, kernel: Kernel) -> Stockfish {
        // `all` alone, which lists its changes, mirrored, with a bucket for each square of the king.
        let king_buckets = KingBuckets::parse("halfka").expect("a known map");
        let rows = Architecture { mirror: true, king_buckets, ..Architecture::plain(network.hidden()) };
        let changes = RowChanges::new(&rows).expect("`all` lists its changes");
        let accumulators = PieceStack::new(&network.table, changes);
        Stockfish { network, accumulators, kernel, inputs: ByteInputs::default() }
    }

    fn score(&mut self, bucket: usize, board: &Board, side: Color, ply: usize) -> Score {
        let Output { psqt, positional } = self.output(bucket, board, side, ply);
        let sum = i64::from(psqt) + i64::from(positional);
        let score = sum * 100 / i64::from(OUTPUT_SCALE * self.network.pawn());
        score.clamp(i64::from(1 - MATE_IN_MAX), i64::from(MATE_IN_MAX - 1)) as Score
    }

    /// The parts of the evaluation by a bucket.
    pub fn output(&mut self, bucket: usize, board: &Board, side: Color, ply: usize) -> Output {
        let (network, kernel, sides) = (&*self.network, self.kernel, [side, side.other()]);
        self.accumulators.update(&network.table, kernel, (board, 0), &sides, ply);
        let both = sides.map(|side| self.accumulators.accumulator(side, ply));
        let [ours, theirs] = both.map(|row| joined(&row[network.hidden_blocks], bucket));
        kernel.byte_inputs(Products::Stockfish, &both, network.hidden_blocks, &mut self.inputs);
        let (first, stack) = &network.stacks[bucket];
        let sums = kernel.multiply(&self.inputs.active, &self.inputs.nonzero, &first.groups[0]);
        Output { psqt: (ours - theirs) / 2, positional: positional(stack, sums) }
    }

    pub fn network(&self) -> &Arc<Network> {
        &self.network
    }
}

/// The output of the layers, from the sums of the first one's inputs times weights.
fn positional(stack: &Stack, mut sums: [i32; FIRST]) -> i32 {
    sums.iter_mut().zip(&stack.first.bias).for_each(|(sum, bias)| *sum += bias);
    let mut inputs = [0; SECOND_INPUTS];
    let skipped = FIRST - 1;
    for (at, &sum) in sums[..skipped].iter().enumerate() {
        let square = (i64::from(sum) * i64::from(sum)) >> (2 * WEIGHT_SHIFT + 7);
        inputs[at] = square.min(ONE.into()) as i32;
        inputs[skipped + at] = clipped(sum);
    }
    let mut hidden = [0; SECOND];
    let neurons = stack.second.weights.as_chunks::<SECOND_INPUTS>().0.iter().zip(&stack.second.bias);
    for (hidden, (weights, bias)) in hidden.iter_mut().zip(neurons) {
        *hidden = clipped(bias + dot(&inputs, weights));
    }
    let weights = stack.output.weights.as_chunks::<SECOND>().0;
    let output = stack.output.bias[0] + dot(&hidden, &weights[0]);
    let forward =
        i64::from(sums[skipped]) * i64::from(FORWARD * OUTPUT_SCALE) / i64::from(ONE << WEIGHT_SHIFT);
    output + forward as i32
}

#[inline]
fn clipped(sum: i32) -> i32 {
    (sum >> WEIGHT_SHIFT).clamp(0, ONE)
}

#[inline]
fn dot<const N: usize>(inputs: &[i32; N], weights: &[i8; N]) -> i32 {
    inputs.iter().zip(weights).map(|(input, weight)| input * i32::from(*weight)).sum()
}

impl Evaluator for Stockfish {
    fn evaluate(&mut self, position: &Chess, ply: usize) -> Score {
        self.evaluate_board(position.board(), 0, position.turn(), ply)
    }
}

impl BoardEvaluator for Stockfish {
    fn evaluate_board(&mut self, board: &Board, _: u8, side: Color, ply: usize) -> Score {
        self.score(self.bucket(board), board, side, ply)
    }

    #[inline]
    fn bucket(&self, board: &Board) -> usize {
        (board.occupied().count().saturating_sub(1) / 4).min(parameters::BUCKETS - 1)
    }

    fn buckets(&mut self, board: &Board, _: u8, side: Color) -> Vec<Score> {
        (0..parameters::BUCKETS).map(|bucket| self.score(bucket, board, side, 0)).collect()
    }
}

#[cfg(test)]
mod tests;
