//! The first further layer in bytes: activations of 0 to 127, weights of 8 bits. Blocks of four zero activations are
//! skipped. Source: the sparse affine layer of Stockfish.

use super::block::{Block, LANES};
use super::units::QA;

/// Number of inputs that are skipped together.
pub const INPUTS: usize = 4;
/// Number of neurons whose weights for a block of inputs are one line.
pub const NEURONS: usize = 16;
/// Products of two activations in 1/QA by an activation in bytes; 255² / 512 rounds to 127.
pub const SHIFT: u32 = 9;

/// Weights of a block of inputs, `[neuron][input]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Line(pub [i8; NEURONS * INPUTS]);

/// Activations of as many pairs as a [`Block`] has lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(32))]
pub struct ByteBlock(pub [u8; LANES]);

impl ByteBlock {
    pub const ZERO: ByteBlock = ByteBlock([0; LANES]);
}

/// Weights by groups of neurons, the last one filled with zeros.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ByteLayer {
    pub groups: Vec<Vec<Line>>,
}

/// Activations of all perspectives, and the list of their non-zero blocks of four.
#[derive(Debug, Clone, Default)]
pub struct ByteInputs {
    pub active: Vec<ByteBlock>,
    pub nonzero: Vec<u16>,
}

impl ByteLayer {
    /// Lays out the weights of each neuron by perspective, which all fit 8 bits.
    pub fn new(neurons: &[[Vec<Block>; 2]]) -> ByteLayer {
        let group = |group: &[[Vec<Block>; 2]]| {
            let inputs: Vec<Vec<i16>> = group
                .iter()
                .map(|[us, them]| us.iter().chain(them).flat_map(|block| block.0).collect())
                .collect();
            let line = |block: usize| {
                let mut line = Line([0; NEURONS * INPUTS]);
                for (weights, inputs) in line.0.chunks_exact_mut(INPUTS).zip(&inputs) {
                    for (weight, input) in weights.iter_mut().zip(&inputs[block * INPUTS..]) {
                        *weight = *input as i8;
                    }
                }
                line
            };
            (0..inputs[0].len() / INPUTS).map(line).collect()
        };
        ByteLayer { groups: neurons.chunks(NEURONS).map(group).collect() }
    }
}

/// Converts a sum of bytes times weights in 1/QB to 1/(QA·QB).
#[inline]
pub fn unit(sum: i32) -> i64 {
    (i64::from(sum) << SHIFT) / i64::from(QA)
}
