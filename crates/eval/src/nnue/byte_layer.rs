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

/// How the hidden layer's pairs become bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Products {
    /// Each factor cut to 0..QA, the product divided by 2^[`SHIFT`] and rounded
    Own,
    /// Each factor cut to 0..127, the product divided by 128 without its remainder
    Stockfish,
}

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
        let inputs = |[us, them]: &[Vec<Block>; 2]| -> Vec<i8> {
            us.iter().chain(them).flat_map(|block| block.0.map(|weight| weight as i8)).collect()
        };
        ByteLayer::of_neurons(&neurons.iter().map(inputs).collect::<Vec<_>>())
    }

    /// Lays out the weights of neurons, `[neuron][input]` with as many inputs in each.
    pub fn of_neurons<T: AsRef<[i8]>>(neurons: &[T]) -> ByteLayer {
        let group = |neurons: &[T]| {
            let line = |block: usize| {
                let mut line = Line([0; NEURONS * INPUTS]);
                for (weights, inputs) in line.0.chunks_exact_mut(INPUTS).zip(neurons) {
                    weights.copy_from_slice(&inputs.as_ref()[block * INPUTS..][..INPUTS]);
                }
                line
            };
            (0..neurons[0].as_ref().len() / INPUTS).map(line).collect()
        };
        ByteLayer { groups: neurons.chunks(NEURONS).map(group).collect() }
    }
}

/// Converts a sum of bytes times weights in 1/QB to 1/(QA·QB).
#[inline]
pub fn unit(sum: i32) -> i64 {
    (i64::from(sum) << SHIFT) / i64::from(QA)
}
