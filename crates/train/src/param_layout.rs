//! Layout of a network's parameters in one vector of 32-bit floats.
//!
//! Order: feature table `[tile][row][lane]`, biases `[tile][lane]`, factoriser `[tile][feature][lane]`, then
//! for each output bucket its layers, each `[output][perspective][tile][lane]` (further layers
//! `[output][input]`) followed by its biases. A tile is 32 or 16 neurons, so that the rows of a tile that a
//! batch touches stay in L1. Neurons are padded to whole tiles; padding starts at zero, gets no gradient and
//! is dropped on export. A pairwise tile holds first factors in its lower half, second factors in its upper
//! half. Tiles of piece-square values follow the neurons, one lane per output bucket.

use std::ops::Range;

use patzer_eval::nnue::network::{QA, QB};
use patzer_eval::nnue::{Architecture, RowNumbers};

/// Bound of output weights and biases: at most 127/64, and a bias fits 16 bits in units of 1/(QA·QB).
pub(crate) const LIMIT: f32 = 1.98;

const LARGEST: f32 = i16::MAX as f32 / QA as f32;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ParamLayout {
    pub architecture: Architecture,
    pub tile: usize,
    pub hidden_tiles: usize,
    pub tiles: usize,
    pub rows: usize,
    pub factor_rows: usize,
    pub numbers: RowNumbers,
    pub bias: usize,
    pub factor: usize,
    pub output_start: usize,
    pub output_size: usize,
    pub len: usize,
    /// Inputs (padded) and outputs of the layers after the hidden one.
    pub dense: Vec<[usize; 2]>,
}

impl ParamLayout {
    pub(crate) fn new(architecture: &Architecture, factoriser: bool) -> ParamLayout {
        let hidden = architecture.hidden;
        let tile = if hidden.next_multiple_of(32) == hidden.next_multiple_of(16) { 32 } else { 16 };
        let hidden_tiles = hidden.div_ceil(tile);
        let psqt = if architecture.psqt { architecture.output_buckets.div_ceil(tile) } else { 0 };
        let tiles = hidden_tiles + psqt;
        let rows = architecture.rows();
        let factor_rows = if factoriser { architecture.features.bucketed() } else { 0 };
        let mut dense = architecture.dense();
        dense[0][0] = architecture.perspectives * hidden_tiles * tile;
        let output_size = dense.iter().map(|[inputs, outputs]| (inputs + 1) * outputs).sum::<usize>();
        let bias = rows * tiles * tile;
        let factor = bias + tiles * tile;
        let output_start = factor + factor_rows * tiles * tile;
        let len = output_start + output_size * architecture.output_buckets;
        ParamLayout {
            architecture: architecture.clone(),
            tile,
            hidden_tiles,
            tiles,
            rows,
            factor_rows,
            numbers: architecture.row_numbers(),
            bias,
            factor,
            output_start,
            output_size,
            len,
            dense,
        }
    }

    #[inline]
    pub(crate) fn is_single_layer(&self) -> bool {
        self.architecture.is_single_layer()
    }

    pub(crate) fn inner(&self) -> &[[usize; 2]] {
        &self.dense[..self.dense.len() - 1]
    }

    #[inline]
    pub(crate) fn hidden_width(&self) -> usize {
        self.hidden_tiles * self.tile
    }

    fn place(&self, neuron: usize) -> [usize; 2] {
        if !self.architecture.activation.has_pairs() {
            return [neuron / self.tile, neuron % self.tile];
        }
        let (half, lanes) = (self.architecture.hidden / 2, self.tile / 2);
        let (pair, upper) = if neuron < half { (neuron, 0) } else { (neuron - half, lanes) };
        [pair / lanes, upper + pair % lanes]
    }

    fn psqt_place(&self, bucket: usize) -> [usize; 2] {
        [self.hidden_tiles + bucket / self.tile, bucket % self.tile]
    }

    fn cell(&self, [tile, lane]: [usize; 2], rows: usize, row: usize) -> usize {
        (tile * rows + row) * self.tile + lane
    }

    pub(crate) fn feature_at(&self, row: usize, neuron: usize) -> usize {
        self.cell(self.place(neuron), self.rows, row)
    }

    pub(crate) fn bias_at(&self, neuron: usize) -> usize {
        self.bias + self.cell(self.place(neuron), 1, 0)
    }

    pub(crate) fn factor_at(&self, feature: usize, neuron: usize) -> usize {
        self.factor + self.cell(self.place(neuron), self.factor_rows, feature)
    }

    pub(crate) fn psqt_at(&self, row: usize, bucket: usize) -> usize {
        self.cell(self.psqt_place(bucket), self.rows, row)
    }

    pub(crate) fn psqt_factor_at(&self, feature: usize, bucket: usize) -> usize {
        self.factor + self.cell(self.psqt_place(bucket), self.factor_rows, feature)
    }

    pub(crate) fn layer(&self, bucket: usize, layer: usize) -> usize {
        let before: usize = self.dense[..layer].iter().map(|[inputs, outputs]| (inputs + 1) * outputs).sum();
        self.output_start + bucket * self.output_size + before
    }

    /// Inputs of the first layer are numbered as in the architecture, the side to move's first.
    pub(crate) fn weight_at(&self, bucket: usize, layer: usize, output: usize, input: usize) -> usize {
        let start = self.layer(bucket, layer) + output * self.dense[layer][0];
        if layer > 0 {
            return start + input;
        }
        let a_view = self.architecture.outputs_per_perspective();
        let [tile, lane] = self.place(input % a_view);
        start + input / a_view * self.hidden_width() + tile * self.tile + lane
    }

    pub(crate) fn dense_bias_at(&self, bucket: usize, layer: usize, output: usize) -> usize {
        let [inputs, outputs] = self.dense[layer];
        self.layer(bucket, layer) + inputs * outputs + output
    }

    pub(crate) fn parts(&self) -> [(&'static str, Range<usize>); 4] {
        [
            ("feature weights' gradients", 0..self.bias),
            ("biases' gradients", self.bias..self.factor),
            ("shared weights' gradients", self.factor..self.output_start),
            ("output weights' gradients", self.output_start..self.len),
        ]
    }

    /// The row of the factoriser that is added to a row; rows that all king buckets share have none.
    pub(crate) fn factor_row(&self, row: usize) -> Option<usize> {
        let feature = self.numbers.feature(row);
        (feature < self.factor_rows).then_some(feature)
    }

    /// Largest magnitudes such that all features active together, and the bias, sum to less than 2^15/QA.
    pub(crate) fn limits(&self) -> Vec<f32> {
        let features = &self.architecture.features;
        let share = (LARGEST - LIMIT) * 0.99 / features.blocks().len() as f32;
        let blocks = features.blocks().iter();
        let row: Vec<f32> =
            blocks.flat_map(|set| std::iter::repeat_n(share / set.most as f32, set.count)).collect();
        let mut limits = vec![LIMIT; self.len];
        for (at, limit) in limits.iter_mut().enumerate() {
            let (within, rows) = match at {
                at if at < self.bias => (at, self.rows),
                at if at >= self.factor && at < self.output_start => (at - self.factor, self.factor_rows),
                _ => continue,
            };
            let (tile, row_of) = (within / self.tile / rows, within / self.tile % rows);
            let feature = if at < self.bias { self.numbers.feature(row_of) } else { row_of };
            let parts = if feature < self.factor_rows { 2.0 } else { 1.0 };
            // Feature weights have the usual clip; a piece-square value may exceed a queen's.
            let most = if tile < self.hidden_tiles { LIMIT } else { f32::INFINITY };
            *limit = row[feature].min(most) / parts;
        }
        debug_assert!(LIMIT * (QA * QB) as f32 <= i16::MAX as f32);
        limits
    }
}
