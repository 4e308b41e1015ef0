//! Plain weights of a network: what a raw body holds.
//!
//! In: the numbers of a body, or a trainer's tables. Out: the tables, or the numbers; [`network`](super::network) has
//! their order and units.

use super::architecture::Architecture;

/// A layer's plain weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dense {
    /// `[output][input]`, in 1/QB.
    pub weights: Vec<i16>,
    /// In 1/(QA·QB).
    pub bias: Vec<i16>,
}

/// Plain weights, row by row and without padding: what a raw body holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weights {
    /// Feature weights, `[row][hidden]`, in 1/QA.
    pub features: Vec<i16>,
    /// Bias of the hidden layer, in 1/QA.
    pub bias: Vec<i16>,
    /// Piece-square values, `[row][output bucket]`, in 1/QA; empty without a skip connection.
    pub psqt: Vec<i16>,
    /// The layers behind the hidden one, `[output bucket][layer]`.
    pub dense: Vec<Vec<Dense>>,
}

impl Weights {
    /// Weights of a plain network: output weights for the side to move, then for the other.
    pub fn plain(features: Vec<i16>, bias: Vec<i16>, output: Vec<i16>, output_bias: i16) -> Weights {
        let dense = Dense { weights: output, bias: vec![output_bias] };
        Weights { features, bias, psqt: Vec::new(), dense: vec![vec![dense]] }
    }

    /// Whether all lengths are those of the architecture.
    pub(super) fn fits(&self, architecture: &Architecture) -> bool {
        let (rows, shapes) = (architecture.rows(), architecture.dense());
        let psqt = if architecture.psqt { rows * architecture.output_buckets } else { 0 };
        let layer = |(dense, [inputs, outputs]): (&Dense, &[usize; 2])| {
            dense.weights.len() == inputs * outputs && dense.bias.len() == *outputs
        };
        self.features.len() == rows * architecture.hidden
            && self.bias.len() == architecture.hidden
            && self.psqt.len() == psqt
            && self.dense.len() == architecture.output_buckets
            && self.dense.iter().all(|head| head.len() == shapes.len() && head.iter().zip(&shapes).all(layer))
    }

    /// The numbers of a raw body.
    pub(super) fn numbers(&self) -> impl Iterator<Item = i16> + '_ {
        let layers = || self.dense.iter().flatten();
        let output = layers().flat_map(|dense| &dense.weights).chain(layers().flat_map(|dense| &dense.bias));
        self.features.iter().chain(&self.bias).chain(&self.psqt).chain(output).copied()
    }

    /// Weights from the numbers of a raw body, of which there are enough.
    pub(super) fn read(architecture: &Architecture, numbers: &mut impl Iterator<Item = i16>) -> Weights {
        let mut take = |count: usize| numbers.by_ref().take(count).collect::<Vec<i16>>();
        let rows = architecture.rows();
        let features = take(rows * architecture.hidden);
        let bias = take(architecture.hidden);
        let psqt = take(if architecture.psqt { rows * architecture.output_buckets } else { 0 });
        let shapes = architecture.dense();
        let mut dense: Vec<Vec<Dense>> = Vec::new();
        for _ in 0..architecture.output_buckets {
            let layer =
                |[inputs, outputs]: &[usize; 2]| Dense { weights: take(inputs * outputs), bias: Vec::new() };
            dense.push(shapes.iter().map(layer).collect());
        }
        for head in &mut dense {
            for (layer, [_, outputs]) in head.iter_mut().zip(&shapes) {
                layer.bias = take(*outputs);
            }
        }
        Weights { features, bias, psqt, dense }
    }
}
