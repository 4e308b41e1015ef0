//! Kernel parameters: the C structures of `kernels/` as numbers, in their order.

use super::address::Address;
use crate::loss::Loss;
use crate::param_layout::ParamLayout;
use crate::rounding::activation_unit;
use crate::target::Target;
use patzer_eval::nnue::features::{pawn_pairs, threats};
use patzer_eval::nnue::{Architecture, LayerActivation, OutputBy, RowChanges};
use patzer_fit::optim::Step;

/// Feature blocks in the order of features.cuh; other blocks cannot train on a GPU.
pub(super) const BLOCKS: [&str; 12] =
    ["all", "h", "v", "d1", "d2", "ph", "pv", "mb", "mc", "pp", "threats", "clock"];

/// The first of some feature blocks that no kernel knows.
pub(super) fn unknown_block<'a>(mut names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    names.find(|name| !BLOCKS.contains(name))
}

/// Tests for a sum of blocks whose rows the kernels list in the order of the CPU, which sorts the rows of others.
pub(super) fn lists_in_order(shape: &Architecture) -> bool {
    shape.features.bucketed() == shape.features.count() || RowChanges::new(shape).is_some()
}

/// Network sizes; `NetArgs` in common.cuh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NetArgs(pub [u32; 18]);

impl NetArgs {
    pub(crate) fn new(layout: &ParamLayout, stride: usize) -> NetArgs {
        let architecture = &layout.architecture;
        let sets = architecture.features.blocks();
        let has = |name: &&str| sets.iter().any(|set| set.name == *name);
        let bits = BLOCKS.iter().zip(0..).filter(|(name, _)| has(name)).map(|(_, bit)| 1 << bit);
        let sizes = [
            architecture.perspectives,
            usize::from(architecture.white_perspective),
            layout.tile,
            layout.hidden_tiles,
            layout.tiles,
            layout.rows,
            architecture.features.bucketed(),
            layout.numbers.bucketed_rows(),
            layout.factor_rows,
            architecture.activation as usize,
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
pub(super) fn tables(architecture: &Architecture) -> Vec<u8> {
    let king = |square: usize| {
        let (flip, bucket) = architecture.orientation(square);
        bucket as u8 | if flip > 0 { 128 } else { 0 }
    };
    (0..64).map(king).chain(architecture.output_bucket_table()).collect()
}

/// Bytes of `PairNumbers` in unbucketed.cu.
pub(super) const PAIR_NUMBERS: usize = 18 * 64 * (8 + 4) + 12 * 12 * 2 * 4;

/// `PairNumbers` in unbucketed.cu: the tables by which `pp` and `threats` number their features.
pub(super) fn pair_numbers() -> Vec<u8> {
    let mut bytes = Vec::with_capacity(PAIR_NUMBERS);
    for pairs in [&pawn_pairs::ONE_SIDE, &pawn_pairs::BOTH_SIDES].into_iter().chain(&threats::SHAPES) {
        bytes.extend(pairs.masks.iter().flat_map(|mask| mask.to_le_bytes()));
        bytes.extend(pairs.offsets.iter().flat_map(|offset| u32::from(*offset).to_le_bytes()));
    }
    for pair in threats::PAIRS.iter().flatten().flatten() {
        let number = u32::from(pair.base) | u32::from(pair.shape) << 16 | u32::from(pair.swap) << 24;
        bytes.extend(number.to_le_bytes());
    }
    bytes
}

/// A layer after the hidden one; `LayerArgs` in dense.cu.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LayerArgs {
    pub inputs: u32,
    pub outputs: u32,
    pub start: u32,
    pub first: bool,
    /// Sums of the further layer below, its activation, and how many sums it passes on.
    pub below: u32,
    pub activation: u32,
    pub passed: u32,
    pub is_dual: bool,
    /// Gradient of the penalty on activations of the hidden layer.
    pub penalty: f32,
    /// Unit of the inputs in rounded passes.
    pub unit: f32,
}

impl LayerArgs {
    pub(crate) fn all(layout: &ParamLayout) -> Vec<LayerArgs> {
        let architecture = &layout.architecture;
        let layer = |(at, [inputs, outputs]): (usize, &[usize; 2])| {
            let activation = at.checked_sub(1).map(|below| architecture.layer_activation(below));
            let is_dual = activation == Some(LayerActivation::Dual);
            LayerArgs {
                inputs: *inputs as u32,
                outputs: *outputs as u32,
                start: (layout.layer(0, at) - layout.output_start) as u32,
                first: at == 0,
                below: at.checked_sub(1).map_or(0, |below| layout.dense[below][1]) as u32,
                activation: activation.map_or(0, |activation| activation as u32),
                passed: *inputs as u32 / if is_dual { 2 } else { 1 },
                is_dual,
                penalty: 0.0,
                unit: activation_unit(layout).unwrap_or_default(),
            }
        };
        layout.dense.iter().enumerate().map(layer).collect()
    }

    pub(super) fn words(&self) -> [u32; 9] {
        let LayerArgs { inputs, outputs, start, below, activation, passed, .. } = *self;
        let [penalty, unit] = [self.penalty, self.unit].map(f32::to_bits);
        [inputs, outputs, start, self.first.into(), below, activation, passed, penalty, unit]
    }
}

/// Capacities of a window; `WindowArgs` in common.cuh.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WindowArgs {
    /// Words of a row's bits, 32 perspectives each.
    pub words: u32,
    pub members: u32,
    pub items: u32,
    pub parts: u32,
}

/// The positions by output bucket; `OrderArgs` in dense.cu.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OrderArgs {
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
pub(super) fn loss_words(loss: &Loss) -> [u32; 7] {
    let floats = [loss.power, loss.kappa, loss.k, loss.offset, loss.asymmetry, loss.scale];
    let [power, kappa, k, offset, asymmetry, scale] = floats.map(f32::to_bits);
    [loss.kind as u32, power, kappa, k, offset, asymmetry, scale]
}

/// `Target` in extract.cu.
pub(super) fn target_words(target: Target) -> [u32; 3] {
    [target.wdl, target.k, target.offset].map(f32::to_bits)
}

/// An optimiser step; `Step` in optimise.cu.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StepArgs {
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
    use patzer_eval::nnue::Activation;
    use patzer_eval::nnue::features::FEATURE_BLOCKS;

    #[test]
    fn the_kernels_know_every_block_in_the_order_of_the_table() {
        let names: Vec<&str> = FEATURE_BLOCKS.iter().map(|block| block.name).collect();
        assert_eq!(names, BLOCKS);
        let source = |name| std::fs::read_to_string(crate::gpu::ptx::folder().join(name)).unwrap();
        let counts = |is_bucketed: bool| {
            let blocks = FEATURE_BLOCKS.iter().filter(|block| block.bucketed == is_bucketed);
            blocks.map(|block| block.count.to_string()).collect::<Vec<_>>().join(", ")
        };
        assert!(source("features.cuh").contains(&format!("SET_COUNTS[SETS] = {{{}}}", counts(true))));
        assert!(source("unbucketed.cu").contains(&format!("UNBUCKETED_COUNTS[3] = {{{}}}", counts(false))));
        let bucketed = FEATURE_BLOCKS.iter().filter(|block| block.bucketed);
        assert!(bucketed.map(|block| block.count).sum::<usize>() <= 32 * 144, "MOST_WORDS");
    }

    #[test]
    fn the_kernels_number_activations_as_here() {
        let source = std::fs::read_to_string(crate::gpu::ptx::folder().join("common.cuh")).unwrap();
        let names: Vec<String> = Activation::ALL.iter().map(|each| each.name().to_uppercase()).collect();
        assert!(source.contains(&format!("enum Activation {{ {} }};", names.join(", "))));
        for each in Activation::ALL.iter().filter(|each| !each.has_pairs()) {
            let case = format!("case {}: ", each.name().to_uppercase());
            assert_eq!(source.matches(&case).count(), 2, "{case} in `value` and `slope_at`");
        }
        let further = LayerActivation::ALL.iter().filter(|each| each.values() == 1).map(|each| each.name());
        assert!(further.zip(Activation::ALL).all(|(name, each)| name == each.name()), "`value` is of both");
    }

    #[test]
    fn a_block_without_a_kernel_has_its_name() {
        assert_eq!(unknown_block(["all", "new", "clock"].into_iter()), Some("new"));
        assert_eq!(unknown_block(BLOCKS.into_iter()), None);
    }

    #[test]
    fn the_numbers_of_pairs_are_those_of_the_kernel() {
        let numbers = pair_numbers();
        assert_eq!(numbers.len(), PAIR_NUMBERS);
        let source = std::fs::read_to_string(crate::gpu::ptx::folder().join("unbucketed.cu")).unwrap();
        assert!(source.contains(&format!("const u32 ONE_SIDE = {};", pawn_pairs::ONE_SIDE.count)));
    }
}
