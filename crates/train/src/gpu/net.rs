//! What the kernels are told: the twins of the structures in `kernels/`, as numbers.
//!
//! In: the shape of a network, a loss, an optimiser's step. Out: the same as plain numbers, in the order of the C
//! structures.

use super::driver::Address;
use crate::loss::{Loss, LossKind};
use crate::shape::Shape;
use patzer_eval::nnue::{Activation, Architecture, OutputBy};
use patzer_fit::optim::Step;

/// The feature blocks that features.cuh knows, in its order. A block that is not among them is no block of a GPU yet: a twin
/// there, with its size, and its name here make it one.
pub const BLOCKS: [&str; 9] = ["all", "h", "v", "d1", "d2", "ph", "pv", "mb", "mc"];

/// The shape of a network; `Net` in common.cuh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Net([u32; 17]);

impl Net {
    /// Of a shape whose views have so many places for rows.
    pub fn new(shape: &Shape, stride: usize) -> Net {
        let architecture = &shape.architecture;
        let sets = architecture.features.blocks();
        let has = |name: &&str| sets.iter().any(|set| set.name == *name);
        let bits = BLOCKS.iter().zip(0..).filter(|(name, _)| has(name)).map(|(_, bit)| 1 << bit);
        let sizes = [
            architecture.views,
            shape.tile,
            shape.hidden_tiles,
            shape.tiles,
            shape.rows,
            architecture.features.count(),
            shape.factor_rows,
            activation(architecture.activation),
            activation(architecture.inner()),
            architecture.output_buckets,
            usize::from(architecture.output_by == OutputBy::Phase),
            bits.sum(),
            stride,
            shape.bias,
            shape.factor,
            shape.heads,
            shape.head,
        ];
        Net(sizes.map(|size| size as u32))
    }

    pub(super) fn numbers(&self) -> [u32; 17] {
        self.0
    }
}

fn activation(activation: Activation) -> usize {
    match activation {
        Activation::Relu => 0,
        Activation::Crelu => 1,
        Activation::Screlu => 2,
        Activation::Pairwise => 3,
    }
}

/// For each king's square its input bucket, with 128 where left and right are exchanged; then the output bucket by
/// pieces or phase.
pub fn tables(architecture: &Architecture) -> Vec<u8> {
    let king = |square: usize| {
        let (flip, bucket) = architecture.orientation(square);
        if flip > 0 { bucket as u8 | 128 } else { bucket as u8 }
    };
    let output = |at: usize| architecture.output_bucket(at, at) as u8;
    (0..64).map(king).chain((0..=64).map(output)).collect()
}

/// A layer behind the hidden one; `Layer` in dense.cu.
#[derive(Debug, Clone, Copy)]
pub struct Layer {
    /// Inputs, with their padding.
    pub inputs: u32,
    /// Outputs.
    pub outputs: u32,
    /// Where it begins within an output bucket.
    pub start: u32,
    /// Whether its inputs are the hidden layer.
    pub first: bool,
}

impl Layer {
    /// All layers of a shape.
    pub fn all(shape: &Shape) -> Vec<Layer> {
        let layer = |(at, [inputs, outputs]): (usize, &[usize; 2])| Layer {
            inputs: *inputs as u32,
            outputs: *outputs as u32,
            start: (shape.layer(0, at) - shape.heads) as u32,
            first: at == 0,
        };
        shape.dense.iter().enumerate().map(layer).collect()
    }

    pub(super) fn numbers(&self) -> [u32; 4] {
        [self.inputs, self.outputs, self.start, self.first.into()]
    }
}

/// How views are cut into windows; `Windows` in common.cuh.
#[derive(Debug, Clone, Copy)]
pub struct Windows {
    /// Of a row's bits in a window, 32 views each.
    pub words: u32,
    /// Places for the members of a window, its items and its partial sums.
    pub members: u32,
    /// See above.
    pub items: u32,
    /// See above.
    pub parts: u32,
}

impl Windows {
    pub(super) fn numbers(&self) -> [u32; 4] {
        [self.words, self.members, self.items, self.parts]
    }
}

/// The positions by output bucket; `Order` in dense.cu.
#[derive(Debug, Clone, Copy)]
pub struct Order {
    /// The positions.
    pub positions: Address,
    /// Where each bucket's begin.
    pub starts: Address,
    /// How many positions.
    pub count: u32,
}

impl Order {
    /// With the padding that C puts behind a lone number of 32 bits.
    pub(super) fn numbers(&self) -> [u32; 6] {
        let [a, b] = [self.positions.0, self.starts.0].map(|at| [at as u32, (at >> 32) as u32]);
        [a[0], a[1], b[0], b[1], self.count, 0]
    }
}

/// A loss; `Loss` in loss.cu.
#[derive(Debug, Clone, Copy)]
pub struct LossNumbers(Loss);

impl LossNumbers {
    /// Of a loss.
    pub fn new(loss: Loss) -> LossNumbers {
        LossNumbers(loss)
    }

    pub(super) fn numbers(&self) -> [u32; 5] {
        let loss = &self.0;
        let kind = match loss.kind {
            LossKind::Power => 0,
            LossKind::CrossEntropy => 1,
            LossKind::Pqr => 2,
        };
        let [power, kappa, k, scale] = [loss.power, loss.kappa, loss.k, loss.scale].map(f32::to_bits);
        [kind, power, kappa, k, scale]
    }
}

/// A step of an optimiser; `Step` in optimise.cu.
#[derive(Debug, Clone, Copy)]
pub struct StepNumbers {
    /// Weights.
    pub count: u32,
    /// The rest.
    pub step: Step,
}

impl StepNumbers {
    pub(super) fn numbers(&self) -> [u32; 8] {
        let step = &self.step;
        let floats = [step.beta1, step.beta2, step.epsilon, step.keep, step.rate, step.unbias];
        let [beta1, beta2, epsilon, keep, rate, unbias] = floats.map(f32::to_bits);
        [self.count, beta1, beta2, epsilon, keep, rate, unbias, step.adaptive.into()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_eval::nnue::features::FEATURE_BLOCKS;

    #[test]
    fn the_kernels_know_every_block_in_the_order_of_the_table() {
        let names: Vec<&str> = FEATURE_BLOCKS.iter().map(|set| set.name).collect();
        assert_eq!(names, BLOCKS, "a new block needs its twin in features.cuh");
        let source = std::fs::read_to_string(super::super::ptx::folder().join("features.cuh")).unwrap();
        let counts: Vec<String> = FEATURE_BLOCKS.iter().map(|set| set.count.to_string()).collect();
        assert!(source.contains(&format!("SET_COUNTS[SETS] = {{{}}}", counts.join(", "))));
        assert!(FEATURE_BLOCKS.iter().map(|set| set.count).sum::<usize>() <= 32 * 144, "MOST_WORDS");
    }
}
