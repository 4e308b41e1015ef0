//! Where the parameters of a network lie while it is trained.
//!
//! In: an architecture, and whether buckets share a factor. Out: places in one vector of 32-bit floats, so that the
//! optimiser and the gradients need no shape.
//!
//! The order is: feature table `[tile][row][lane]`, bias `[tile][lane]`, factor `[tile][feature][lane]`, and for each
//! output bucket its layers, each `[output][view][tile][lane]` (further ones `[output][input]`) and then its biases. A
//! tile is 32 or 16 neurons, so that the rows of a tile that a batch touches stay in a core's nearest cache, which whole
//! rows of a kilobyte would not. Neurons are padded to whole tiles; a padding neuron begins with zeros, gets no gradient
//! and is cut off again. A pairwise tile holds the first factors in its lower half, the second in its upper half. Behind
//! the neurons come tiles of piece-square values, one lane an output bucket.

use std::ops::Range;

use patzer_eval::nnue::network::{QA, QB};
use patzer_eval::nnue::{Activation, Architecture};

/// No output weight or bias may leave ±1.98: then it is at most 127/64, and a bias fits 16 bits in units of 1/(QA·QB).
pub const LIMIT: f32 = 1.98;

/// The largest sum of the hidden layer that fits 16 bits.
const LARGEST: f32 = i16::MAX as f32 / QA as f32;

/// Places of all parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// The network.
    pub architecture: Architecture,
    /// Neurons of a tile.
    pub tile: usize,
    /// Tiles of neurons, without those of piece-square values.
    pub hidden_tiles: usize,
    /// All tiles.
    pub tiles: usize,
    /// Rows of the feature table.
    pub rows: usize,
    /// Features that all input buckets share; 0 without a factoriser.
    pub factor_rows: usize,
    /// Where the bias begins.
    pub bias: usize,
    /// Where the factor begins.
    pub factor: usize,
    /// Where the first output bucket begins.
    pub heads: usize,
    /// Parameters of an output bucket.
    pub head: usize,
    /// All parameters.
    pub len: usize,
    /// Inputs and outputs of the layers behind the hidden one, inputs with their padding.
    pub dense: Vec<[usize; 2]>,
}

impl Shape {
    /// Lays out an architecture.
    pub fn new(architecture: &Architecture, factoriser: bool) -> Shape {
        let hidden = architecture.hidden;
        let tile = if hidden.next_multiple_of(32) == hidden.next_multiple_of(16) { 32 } else { 16 };
        let hidden_tiles = hidden.div_ceil(tile);
        let psqt = if architecture.psqt { architecture.output_buckets.div_ceil(tile) } else { 0 };
        let tiles = hidden_tiles + psqt;
        let rows = architecture.rows();
        let factor_rows = if factoriser { architecture.features.count() } else { 0 };
        let mut dense = architecture.dense();
        dense[0][0] = architecture.views * hidden_tiles * tile;
        let head = dense.iter().map(|[inputs, outputs]| (inputs + 1) * outputs).sum::<usize>();
        let bias = rows * tiles * tile;
        let factor = bias + tiles * tile;
        let heads = factor + factor_rows * tiles * tile;
        let len = heads + head * architecture.output_buckets;
        let architecture = architecture.clone();
        Shape {
            architecture,
            tile,
            hidden_tiles,
            tiles,
            rows,
            factor_rows,
            bias,
            factor,
            heads,
            head,
            len,
            dense,
        }
    }

    /// Whether the output follows the hidden layer at once.
    #[inline]
    pub fn is_flat(&self) -> bool {
        self.dense.len() == 1
    }

    /// Neurons of all tiles of the hidden layer.
    #[inline]
    pub fn hidden_width(&self) -> usize {
        self.hidden_tiles * self.tile
    }

    /// A neuron's tile and lane.
    fn place(&self, neuron: usize) -> [usize; 2] {
        if self.architecture.activation != Activation::Pairwise {
            return [neuron / self.tile, neuron % self.tile];
        }
        let (half, lanes) = (self.architecture.hidden / 2, self.tile / 2);
        let (pair, upper) = if neuron < half { (neuron, 0) } else { (neuron - half, lanes) };
        [pair / lanes, upper + pair % lanes]
    }

    /// Where the weight of a row for a neuron lies.
    pub fn feature_at(&self, row: usize, neuron: usize) -> usize {
        let [tile, lane] = self.place(neuron);
        (tile * self.rows + row) * self.tile + lane
    }

    /// Where the bias of a neuron lies.
    pub fn bias_at(&self, neuron: usize) -> usize {
        let [tile, lane] = self.place(neuron);
        self.bias + tile * self.tile + lane
    }

    /// Where the shared weight of a feature for a neuron lies.
    pub fn factor_at(&self, feature: usize, neuron: usize) -> usize {
        let [tile, lane] = self.place(neuron);
        self.factor + (tile * self.factor_rows + feature) * self.tile + lane
    }

    /// Where the piece-square value of a row for an output bucket lies.
    pub fn psqt_at(&self, row: usize, bucket: usize) -> usize {
        let tile = self.hidden_tiles + bucket / self.tile;
        (tile * self.rows + row) * self.tile + bucket % self.tile
    }

    /// Where the shared piece-square value of a feature lies.
    pub fn psqt_factor_at(&self, feature: usize, bucket: usize) -> usize {
        let tile = self.hidden_tiles + bucket / self.tile;
        self.factor + (tile * self.factor_rows + feature) * self.tile + bucket % self.tile
    }

    /// Where a layer of an output bucket begins.
    pub fn layer(&self, bucket: usize, layer: usize) -> usize {
        let before: usize = self.dense[..layer].iter().map(|[inputs, outputs]| (inputs + 1) * outputs).sum();
        self.heads + bucket * self.head + before
    }

    /// Where the weight of a layer lies; the inputs of the first layer are those of the architecture, the side to
    /// move's first.
    pub fn weight_at(&self, bucket: usize, layer: usize, output: usize, input: usize) -> usize {
        let start = self.layer(bucket, layer) + output * self.dense[layer][0];
        if layer > 0 {
            return start + input;
        }
        let a_view = self.architecture.outputs_per_perspective();
        let [tile, lane] = self.place(input % a_view);
        start + input / a_view * self.hidden_width() + tile * self.tile + lane
    }

    /// Where the bias of a layer's output lies.
    pub fn dense_bias_at(&self, bucket: usize, layer: usize, output: usize) -> usize {
        let [inputs, outputs] = self.dense[layer];
        self.layer(bucket, layer) + inputs * outputs + output
    }

    /// The parameters of each kind, with their name.
    pub fn parts(&self) -> [(&'static str, Range<usize>); 4] {
        [
            ("feature weights' gradients", 0..self.bias),
            ("biases' gradients", self.bias..self.factor),
            ("shared weights' gradients", self.factor..self.heads),
            ("output weights' gradients", self.heads..self.len),
        ]
    }

    /// How far from 0 each parameter may go, so that the quantised network cannot overflow: all features that can hold
    /// at once, with the bias, sum to less than 2^15/QA.
    pub fn limits(&self) -> Vec<f32> {
        let features = &self.architecture.features;
        let share = (LARGEST - LIMIT) * 0.99 / features.blocks().len() as f32;
        let parts = if self.factor_rows > 0 { 2.0 } else { 1.0 };
        let mut row = Vec::with_capacity(features.count());
        for set in features.blocks() {
            row.extend(std::iter::repeat_n(share / set.most as f32, set.count));
        }
        let mut limits = vec![LIMIT; self.len];
        for (at, limit) in limits.iter_mut().enumerate() {
            let (within, rows) = match at {
                at if at < self.bias => (at, self.rows),
                at if at >= self.factor && at < self.heads => (at - self.factor, self.factor_rows),
                _ => continue,
            };
            let (tile, feature) = (within / self.tile / rows, within / self.tile % rows % features.count());
            // A piece-square value is worth up to a queen and more; a weight is as the field clips it.
            let most = if tile < self.hidden_tiles { LIMIT } else { f32::INFINITY };
            *limit = row[feature].min(most) / parts;
        }
        debug_assert!(LIMIT * (QA * QB) as f32 <= i16::MAX as f32);
        limits
    }
}
