//! Sizes of device buffers, and how batches are split. They depend on network, batch size and optimiser
//! alone, so that every device sums in the same order.

use super::kernel_args::WindowArgs;
use crate::param_layout::ParamLayout;
use crate::position_weight::WeightRule;
use crate::{Forward, OptimiserKind, Settings};
use patzer_eval::nnue::Architecture;

/// Bounds on memory and positions of a sub-batch; larger batches are split.
const MOST_BYTES: usize = 2 << 30;
const MOST_POSITIONS: usize = 3 << 15;
/// Sub-batches are multiples of this: whole words of bits, and whole PQR groups.
const UNIT: usize = 96;
/// Splits of a bucket's positions in the gradient of further layers: number, least positions, partial sums.
const SPLITS: usize = 128;
const SPLIT: usize = 64;
const MOST_PARTS: usize = 1 << 24;
/// Perspectives per window, as in scatter.cu: a tile of their gradients is 40 KiB, two of which fit any
/// multiprocessor. Tables with more than `WINDOWED_ROWS` rows use a single window, because few perspectives
/// of a small one would share a row.
const WINDOW: usize = 320;
const WINDOWED_ROWS: usize = 2048;
/// Threads of a block.
pub(super) const BLOCK: usize = 256;
/// Members per item (common.cuh), positions per block (output.cu), weights per block (optimise.cu).
pub(super) const SEGMENT: usize = 64;
pub(super) const OUTPUT_CHUNK: usize = 256;
pub(super) const SQUARES_CHUNK: usize = 1 << 14;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct MemoryPlan {
    pub layout: ParamLayout,
    pub shorts: bool,
    pub vectors: usize,
    pub averaged: bool,
    pub pulled: bool,
    /// Some passes are rounded as the quantised network.
    pub rounds: bool,
    pub weight: Option<WeightRule>,
    pub batch: usize,
    pub sub_batch: usize,
    /// Capacity of a perspective's row list: the most active features, in whole words.
    pub stride: usize,
}

impl MemoryPlan {
    pub(super) fn new(layout: &ParamLayout, settings: &Settings, batch: usize) -> MemoryPlan {
        let vectors = match settings.optimiser {
            OptimiserKind::AdamW | OptimiserKind::Adam | OptimiserKind::RAdam => 2,
            OptimiserKind::Ranger => 3,
            OptimiserKind::Sgd => 1,
        };
        let mut plan = MemoryPlan {
            layout: layout.clone(),
            shorts: settings.forward == Forward::I16,
            vectors,
            averaged: settings.average > 0.0,
            pulled: settings.pull > 0.0,
            rounds: settings.quantisation_aware > 0.0,
            weight: settings.position_weight.as_ref().and_then(|weight| weight.0.first().cloned()),
            batch,
            sub_batch: batch.min(MOST_POSITIONS).next_multiple_of(UNIT),
            stride: layout.architecture.features.most().next_multiple_of(4),
        };
        while plan.sub_batch > UNIT && plan.sub_batch_bytes() > MOST_BYTES {
            plan.sub_batch = (plan.sub_batch / 2).next_multiple_of(UNIT);
        }
        plan
    }

    /// Feature blocks whose rows all king buckets share.
    pub(super) fn has_unbucketed(&self) -> bool {
        self.layout.numbers.bucketed_rows() < self.layout.rows
    }

    pub(super) fn perspectives(&self) -> usize {
        self.sub_batch * self.layout.architecture.perspectives
    }

    pub(super) fn is_windowed(&self) -> bool {
        self.layout.rows <= WINDOWED_ROWS
    }

    fn window(&self) -> usize {
        if self.is_windowed() { WINDOW } else { self.perspectives().next_multiple_of(32) }
    }

    pub(super) fn windows(&self, perspectives: usize) -> usize {
        perspectives.div_ceil(self.window())
    }

    /// Windows per sub-batch, and the capacity of each; the biases count as a row.
    pub(super) fn cut(&self) -> (usize, WindowArgs) {
        let (window, count) = (self.window(), self.windows(self.perspectives()));
        // Row lists are padded to four places.
        let pairs = window * (self.stride + 1);
        let members = (pairs + 3 * (self.layout.rows + 1).min(pairs)).next_multiple_of(4);
        let items = self.layout.rows.min(pairs) + 1 + pairs / SEGMENT;
        // In a single window only rows of several items have partial sums: below twice their members / SEGMENT.
        let parts = if count > 1 { items } else { 2 * pairs / SEGMENT + 2 };
        let [words, members, items, parts] = [window / 32, members, items, parts].map(|size| size as u32);
        (count, WindowArgs { words, members, items, parts })
    }

    /// Words of all rows' bits, members, items and partial sums of all windows.
    pub(super) fn in_windows(&self) -> [usize; 4] {
        let (count, cut) = self.cut();
        let [words, members, items, parts] =
            [cut.words, cut.members, cut.items, cut.parts].map(|each| count * each as usize);
        [words * self.layout.rows, members, items, parts]
    }

    /// Accumulators per perspective, piece-square values included.
    pub(super) fn width(&self) -> usize {
        self.layout.tiles * self.layout.tile
    }

    /// True with further layers, which need positions sorted by output bucket.
    pub(super) fn layered(&self) -> bool {
        !self.layout.is_single_layer()
    }

    pub(super) fn output_params(&self) -> usize {
        self.layout.len - self.layout.output_start
    }

    pub(super) fn splits(&self) -> usize {
        (MOST_PARTS / self.output_params()).min(self.sub_batch / SPLIT).clamp(1, SPLITS)
    }

    pub(super) fn output_partials(&self) -> usize {
        if self.layered() { self.splits() } else { self.sub_batch.div_ceil(OUTPUT_CHUNK) }
    }

    pub(super) fn short_table(&self) -> usize {
        self.layout.tiles.div_ceil(2) * (self.layout.rows + 1) * 2 * self.layout.tile
    }

    fn weight_bytes(&self) -> usize {
        let others = [self.averaged, self.pulled, self.rounds].map(usize::from);
        let vectors = 3 + self.vectors + others.iter().sum::<usize>();
        let floats = if self.layout.factor_rows > 0 { self.layout.bias } else { 0 };
        let shorts = if self.shorts { self.short_table() } else { 0 };
        4 * (vectors * self.layout.len + floats) + 2 * shorts
    }

    fn sub_batch_bytes(&self) -> usize {
        let (perspectives, rows) = (self.perspectives(), self.layout.rows);
        let [bits, members, items, scattered] = self.in_windows();
        let starts = 20 * (rows + 2) * self.cut().0;
        let lists = 2 * perspectives * self.stride + 4 * (perspectives + members + items) + starts;
        let sums = 4 * self.width() * (perspectives + scattered);
        let outputs = 4 * self.output_params() * self.output_partials();
        let inner: usize = self.layout.inner().iter().map(|[_, outputs]| outputs).sum();
        let outputs_of_all = 2 * (self.layout.architecture.outputs() + inner);
        let positions = self.sub_batch * 4 * (2 + usize::from(self.weight.is_some()) + outputs_of_all)
            + 8 * self.sub_batch.div_ceil(BLOCK);
        lists + 4 * bits + sums + outputs + positions
    }

    pub(super) fn bytes(&self) -> usize {
        self.weight_bytes() + self.sub_batch_bytes() + 2 * self.batch * super::records::RECORD
    }

    pub(super) fn too_large(&self, free: u64, settings: &Settings) -> String {
        let weights = self.weight_bytes() as u64;
        let [needed, weights, free_now] =
            [self.bytes() as u64, weights, free].map(|bytes| bytes.div_ceil(1 << 20));
        let network = &self.layout.architecture;
        let hidden = (1..self.layout.architecture.hidden / 32).rev().map(|n| 32 * n).find(|hidden| {
            let smaller = Architecture { hidden: *hidden, ..network.clone() };
            let layout = ParamLayout::new(&smaller, self.layout.factor_rows > 0);
            MemoryPlan::new(&layout, settings, self.batch).bytes() as u64 <= free
        });
        let advice = match hidden {
            Some(hidden) => format!("hidden = {hidden} would fit, and so would the CPU's memory"),
            None => "no hidden layer of 32 neurons or more would fit; the CPU's memory may".to_string(),
        };
        format!(
            "{network} needs {needed} MiB of the GPU's memory ({weights} for weights and optimiser), and {free_now} MiB \
             are free; {advice}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_says_what_would() {
        let settings = Settings { hidden: 1024, ..Settings::default() };
        let layout = |settings: &Settings| ParamLayout::new(&settings.architecture(), false);
        let plan = |settings: &Settings| MemoryPlan::new(&layout(settings), settings, 16_384);
        let whole = plan(&settings);
        let free = whole.bytes() as u64 - 1;
        let said = whole.too_large(free, &settings);
        assert!(said.starts_with("(768->1024)x2->1 screlu needs "));
        assert!(said.contains("hidden = 992 would fit, and"));
        assert!(plan(&Settings { hidden: 992, ..settings.clone() }).bytes() as u64 <= free);
        assert!(whole.too_large(1 << 10, &settings).contains("; the CPU's memory may"));
    }

    #[test]
    fn the_kernels_have_the_same_sizes() {
        let source = |name| std::fs::read_to_string(crate::gpu::ptx::folder().join(name)).unwrap();
        assert!(source("scatter.cu").contains(&format!("const u32 STAGED = {WINDOW},")));
        assert!(source("common.cuh").contains(&format!("const u32 SEGMENT = {SEGMENT};")));
    }

    #[test]
    fn large_batches_are_cut_and_whole_groups_stay_together() {
        let settings = Settings::default();
        for (hidden, batch) in [(32, 1 << 20), (4096, 1 << 16), (128, 8192), (16, 1)] {
            let layout = ParamLayout::new(&Architecture::plain(hidden), false);
            let plan = MemoryPlan::new(&layout, &settings, batch);
            assert!(plan.sub_batch.is_multiple_of(96) && plan.sub_batch <= MOST_POSITIONS);
            assert!(plan.sub_batch_bytes() <= MOST_BYTES, "{hidden} {batch}");
        }
    }
}
