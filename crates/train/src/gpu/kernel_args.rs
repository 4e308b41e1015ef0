//! Kernel parameters: the C structures of `kernels/` as numbers, in their order.

use super::driver::Address;
use crate::loss::Loss;
use crate::param_layout::ParamLayout;
use patzer_eval::nnue::{Architecture, OutputBy};
use patzer_fit::optim::Step;

/// Feature blocks in the order of features.cuh; other blocks cannot train on a GPU.
pub const BLOCKS: [&str; 9] = ["all", "h", "v", "d1", "d2", "ph", "pv", "mb", "mc"];

/// The key of a form of networks that no kernel knows.
pub fn unknown_form(shape: &Architecture) -> Option<&'static str> {
    let keys = [
        ("layer_activations", !shape.layer_activations.is_empty()),
        ("skip_neuron", shape.skip_neuron),
        ("white_view", shape.white_view),
        ("wdl_head", shape.wdl_head),
    ];
    keys.into_iter().find(|(_, has)| *has).map(|(key, _)| key)
}

/// Network sizes; `NetArgs` in common.cuh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NetArgs(pub [u32; 17]);

impl NetArgs {
    pub fn new(layout: &ParamLayout, stride: usize) -> NetArgs {
        let architecture = &layout.architecture;
        let sets = architecture.features.blocks();
        let has = |name: &&str| sets.iter().any(|set| set.name == *name);
        let bits = BLOCKS.iter().zip(0..).filter(|(name, _)| has(name)).map(|(_, bit)| 1 << bit);
        let sizes = [
            architecture.views,
            layout.tile,
            layout.hidden_tiles,
            layout.tiles,
            layout.rows,
            architecture.features.count(),
            layout.factor_rows,
            architecture.activation as usize,
            architecture.layer_activation(0) as usize,
            architecture.output_buckets,
            usize::from(architecture.output_by == OutputBy::Phase),
            bits.sum(),
            stride,
            layout.bias,
            layout.factor,
            layout.output_start,
            layout.output_size,
        ];
        NetArgs(sizes.map(|size| size as u32))
    }
}

/// King bucket of each square, plus 128 if mirrored; then the output bucket by piece count or phase.
pub fn tables(architecture: &Architecture) -> Vec<u8> {
    let king = |square: usize| {
        let (flip, bucket) = architecture.orientation(square);
        bucket as u8 | if flip > 0 { 128 } else { 0 }
    };
    let output = |at: usize| architecture.output_bucket(at, at) as u8;
    (0..64).map(king).chain((0..=64).map(output)).collect()
}

/// A layer after the hidden one; `LayerArgs` in dense.cu.
#[derive(Debug, Clone, Copy)]
pub struct LayerArgs {
    pub inputs: u32,
    pub outputs: u32,
    pub start: u32,
    pub first: bool,
}

impl LayerArgs {
    pub fn all(layout: &ParamLayout) -> Vec<LayerArgs> {
        let layer = |(at, [inputs, outputs]): (usize, &[usize; 2])| LayerArgs {
            inputs: *inputs as u32,
            outputs: *outputs as u32,
            start: (layout.layer(0, at) - layout.output_start) as u32,
            first: at == 0,
        };
        layout.dense.iter().enumerate().map(layer).collect()
    }
}

/// Capacities of a window; `WindowArgs` in common.cuh.
#[derive(Debug, Clone, Copy)]
pub struct WindowArgs {
    /// Words of a row's bits, 32 perspectives each.
    pub words: u32,
    pub members: u32,
    pub items: u32,
    pub parts: u32,
}

/// The positions by output bucket; `OrderArgs` in dense.cu.
#[derive(Debug, Clone, Copy)]
pub struct OrderArgs {
    pub positions: Address,
    pub starts: Address,
    pub count: u32,
}

impl OrderArgs {
    /// Padded as in C.
    pub(super) fn words(&self) -> [u32; 6] {
        let [a, b] = [self.positions.0, self.starts.0].map(|at| [at as u32, (at >> 32) as u32]);
        [a[0], a[1], b[0], b[1], self.count, 0]
    }
}

/// `Loss` in loss.cu.
pub(super) fn loss_words(loss: &Loss) -> [u32; 5] {
    let [power, kappa, k, scale] = [loss.power, loss.kappa, loss.k, loss.scale].map(f32::to_bits);
    [loss.kind as u32, power, kappa, k, scale]
}

/// An optimiser step; `Step` in optimise.cu.
#[derive(Debug, Clone, Copy)]
pub struct StepArgs {
    pub count: u32,
    pub step: Step,
}

impl StepArgs {
    pub(super) fn words(&self) -> [u32; 8] {
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
    fn the_kernels_know_the_first_blocks_in_the_order_of_the_table() {
        let (known, others) = FEATURE_BLOCKS.split_at(BLOCKS.len());
        let names: Vec<&str> = known.iter().map(|set| set.name).collect();
        assert_eq!(names, BLOCKS);
        assert!(others.iter().all(|set| !set.bucketed), "a bucketed block needs its kernel in features.cuh");
        let source = std::fs::read_to_string(super::super::ptx::folder().join("features.cuh")).unwrap();
        let counts: Vec<String> = known.iter().map(|set| set.count.to_string()).collect();
        assert!(source.contains(&format!("SET_COUNTS[SETS] = {{{}}}", counts.join(", "))));
        assert!(known.iter().map(|set| set.count).sum::<usize>() <= 32 * 144, "MOST_WORDS");
    }
}
