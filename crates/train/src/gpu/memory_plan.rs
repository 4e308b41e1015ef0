//! How much memory a run takes on a device, and how its batches are cut.
//!
//! In: the shape of a network, the largest batch, and what the optimiser remembers. Out: sizes. They follow from these alone
//! and not from the device, so that every device does the same sums in the same order.

use super::kernel_args::Windows;
use super::launch::BLOCK;
use crate::param_layout::Shape;
use crate::{Forward, OptimiserKind, Settings};
use patzer_eval::nnue::Architecture;

/// The most memory that the positions in work take together, and the most positions: larger batches are worked through
/// part by part.
const MOST_BYTES: usize = 2 << 30;
const MOST_POSITIONS: usize = 3 << 15;
/// Positions of a part are a multiple of this: whole words of bits, and whole groups of three.
const UNIT: usize = 96;
/// Runs of positions that the gradients of further layers are summed over: so many, of no fewer positions, and with
/// partial sums of no more floats.
const SPLITS: usize = 32;
const SPLIT: usize = 64;
const MOST_PARTS: usize = 1 << 24;
/// Views of a window, as in scatter.cu: their gradients of a tile are 40 KiB, two of which any multiprocessor holds. All
/// views are one where a table has more rows than the other, since then hardly two views of a window would share a row.
const WINDOW: usize = 320;
const WINDOWED_ROWS: usize = 2048;
/// Members of an item (common.cuh), positions of a block (flat.cu), weights of a block (optimise.cu).
pub const SEGMENT: usize = 64;
pub const FLAT_CHUNK: usize = 256;
pub const SQUARES_CHUNK: usize = 1 << 14;

/// Sizes of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The network.
    pub shape: Shape,
    /// Whether sums are taken from a copy in 16 bits.
    pub shorts: bool,
    /// Vectors that the optimiser remembers, one number a weight each.
    pub vectors: usize,
    /// Whether averaged weights are kept.
    pub averaged: bool,
    /// Positions of the largest batch.
    pub batch: usize,
    /// Positions that are worked on together.
    pub part: usize,
    /// Places in a view's list of rows: the most that can hold, in whole words.
    pub stride: usize,
}

impl Plan {
    /// For a run with batches of at most so many positions.
    pub fn new(shape: &Shape, settings: &Settings, batch: usize) -> Plan {
        let vectors = match settings.optimiser {
            OptimiserKind::AdamW | OptimiserKind::Adam | OptimiserKind::RAdam => 2,
            OptimiserKind::Ranger => 3,
            OptimiserKind::Sgd => 1,
        };
        let mut plan = Plan {
            shape: shape.clone(),
            shorts: settings.forward == Forward::I16,
            vectors,
            averaged: settings.average > 0.0,
            batch,
            part: batch.min(MOST_POSITIONS).next_multiple_of(UNIT),
            stride: shape.architecture.features.most().next_multiple_of(4),
        };
        while plan.part > UNIT && plan.of_part() > MOST_BYTES {
            plan.part = (plan.part / 2).next_multiple_of(UNIT);
        }
        plan
    }

    /// Views of a part.
    pub fn views(&self) -> usize {
        self.part * self.shape.architecture.views
    }

    /// Whether views are cut into windows.
    pub fn is_cut(&self) -> bool {
        self.shape.rows <= WINDOWED_ROWS
    }

    /// Views of a window, whole words of bits.
    fn window(&self) -> usize {
        if self.is_cut() { WINDOW } else { self.views().next_multiple_of(32) }
    }

    /// How many windows so many views make.
    pub fn windows(&self, views: usize) -> usize {
        views.div_ceil(self.window())
    }

    /// Windows of a part, and how much each has at most: words of bits; pairs of a view and one of its rows, where the
    /// biases count as a row of all; items; partial sums.
    pub fn cut(&self) -> (usize, Windows) {
        let (window, count) = (self.window(), self.windows(self.views()));
        // A row's list takes a multiple of four places.
        let pairs = window * (self.stride + 1);
        let members = (pairs + 3 * (self.shape.rows + 1).min(pairs)).next_multiple_of(4);
        let items = self.shape.rows.min(pairs) + 1 + pairs / SEGMENT;
        // In a single window only rows of several items have some: less than twice their members over SEGMENT.
        let parts = if count > 1 { items } else { 2 * pairs / SEGMENT + 2 };
        let [words, members, items, parts] = [window / 32, members, items, parts].map(|size| size as u32);
        (count, Windows { words, members, items, parts })
    }

    /// What all windows have of which each has so many.
    fn in_windows(&self, each: u32) -> usize {
        self.cut().0 * each as usize
    }

    /// Words of bits of all rows.
    pub fn bits(&self) -> usize {
        self.in_windows(self.cut().1.words) * self.shape.rows
    }

    /// The most pairs of a view and one of its rows or the biases.
    pub fn members(&self) -> usize {
        self.in_windows(self.cut().1.members)
    }

    /// The most items of rows and of the biases.
    pub fn items(&self) -> usize {
        self.in_windows(self.cut().1.items)
    }

    /// The most partial sums.
    pub fn scattered(&self) -> usize {
        self.in_windows(self.cut().1.parts)
    }

    /// Neurons and piece-square values of a view.
    pub fn width(&self) -> usize {
        self.shape.tiles * self.shape.tile
    }

    /// Whether positions have to be sorted by output bucket.
    pub fn layered(&self) -> bool {
        !self.shape.is_flat()
    }

    /// Outputs of the layers behind the hidden one but the last.
    pub fn inner(&self) -> usize {
        let dense = &self.shape.dense;
        dense[..dense.len() - 1].iter().map(|[_, outputs]| outputs).sum()
    }

    /// Parameters of all output buckets.
    pub fn heads(&self) -> usize {
        self.shape.len - self.shape.heads
    }

    /// Runs that the positions of a bucket are cut into for the gradient of further layers.
    pub fn splits(&self) -> usize {
        (MOST_PARTS / self.heads()).min(self.part / SPLIT).clamp(1, SPLITS)
    }

    /// Rows of partial sums of the output buckets' gradient.
    pub fn head_parts(&self) -> usize {
        if self.layered() { self.splits() } else { self.part.div_ceil(FLAT_CHUNK) }
    }

    /// Numbers of 16 bits in the copy of the table, with its biases.
    pub fn short_table(&self) -> usize {
        self.shape.tiles.div_ceil(2) * (self.shape.rows + 1) * 2 * self.shape.tile
    }

    /// Bytes of all that a weight has one number of, and of the tables.
    fn of_weights(&self) -> usize {
        let vectors = 3 + self.vectors + usize::from(self.averaged);
        let floats = if self.shape.factor_rows > 0 { self.shape.bias } else { 0 };
        let shorts = if self.shorts { self.short_table() } else { 0 };
        4 * (vectors * self.shape.len + floats) + 2 * shorts
    }

    /// Bytes of all that there is for a part.
    fn of_part(&self) -> usize {
        let (views, rows) = (self.views(), self.shape.rows);
        let starts = 20 * (rows + 2) * self.cut().0;
        let lists = 2 * views * self.stride + 4 * (views + self.members() + self.items()) + starts;
        let bits = 4 * self.bits();
        let sums = 4 * self.width() * (views + self.scattered());
        let heads = 4 * self.heads() * self.head_parts();
        let positions = self.part * 4 * (4 + 2 * self.inner()) + 8 * self.part.div_ceil(BLOCK);
        lists + bits + sums + heads + positions
    }

    /// Bytes on the device.
    pub fn bytes(&self) -> usize {
        self.of_weights() + self.of_part() + 2 * self.batch * super::records::RECORD
    }

    /// What to say if only so many bytes are free.
    pub fn too_large(&self, free: u64, settings: &Settings) -> String {
        let mebibytes = |bytes: u64| bytes.div_ceil(1 << 20);
        let (network, needed) = (&self.shape.architecture, self.bytes() as u64);
        let hidden = (1..self.shape.architecture.hidden / 32).rev().map(|n| 32 * n).find(|hidden| {
            let smaller = Architecture { hidden: *hidden, ..network.clone() };
            let shape = Shape::new(&smaller, self.shape.factor_rows > 0);
            Plan::new(&shape, settings, self.batch).bytes() as u64 <= free
        });
        let advice = match hidden {
            Some(hidden) => format!("hidden = {hidden} would fit, and so would --device cpu"),
            None => "no hidden layer of 32 neurons or more would fit; --device cpu would".to_string(),
        };
        format!(
            "{network} needs {} MiB of the GPU's memory ({} for weights and optimiser), and {} MiB are free; {advice}",
            mebibytes(needed),
            mebibytes(self.of_weights() as u64),
            mebibytes(free)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_says_what_would() {
        let settings = Settings { hidden: 1024, ..Settings::default() };
        let plan =
            |settings: &Settings| Plan::new(&Shape::new(&settings.architecture(), false), settings, 16_384);
        let whole = plan(&settings);
        let free = whole.bytes() as u64 - 1;
        let said = whole.too_large(free, &settings);
        assert!(
            said.starts_with("(768->1024)x2->1 screlu needs ")
                && said.contains("hidden = 992 would fit, and")
        );
        assert!(plan(&Settings { hidden: 992, ..settings.clone() }).bytes() as u64 <= free);
        assert!(whole.too_large(1 << 10, &settings).contains("; --device cpu would"));
    }

    #[test]
    fn the_kernels_have_the_same_sizes() {
        let source = |name| std::fs::read_to_string(super::super::ptx::folder().join(name)).unwrap();
        assert!(source("scatter.cu").contains(&format!("const u32 STAGED = {WINDOW},")));
        assert!(source("common.cuh").contains(&format!("const u32 SEGMENT = {SEGMENT};")));
    }

    #[test]
    fn large_batches_are_cut_and_whole_groups_stay_together() {
        let settings = Settings::default();
        for (hidden, batch) in [(32, 1 << 20), (2048, 1 << 16), (128, 8192), (16, 1)] {
            let shape = Shape::new(&Architecture::plain(hidden), false);
            let plan = Plan::new(&shape, &settings, batch);
            assert!(plan.part.is_multiple_of(96) && plan.part <= MOST_POSITIONS);
            assert!(plan.of_part() <= MOST_BYTES, "{hidden} {batch}");
        }
    }
}
