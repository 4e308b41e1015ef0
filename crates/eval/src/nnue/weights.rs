//! Plain weights of a network; [`network`](super::network) has their order and units.

use super::architecture::Architecture;
use super::error::BodyError;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dense {
    /// `[output][input]`, in 1/QB.
    pub weights: Vec<i16>,
    /// In 1/(QA·QB).
    pub bias: Vec<i16>,
}

/// The weights of a network, row by row and without padding: the content of a raw body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weights {
    /// Feature weights, `[row][hidden]`, in 1/QA.
    pub features: Vec<i16>,
    /// Bias of the hidden layer, in 1/QA.
    pub bias: Vec<i16>,
    /// Piece-square values, `[row][output bucket]`, in 1/QA; empty without a skip connection.
    pub psqt: Vec<i16>,
    /// The layers after the hidden one, `[output bucket][layer]`.
    pub dense: Vec<Vec<Dense>>,
    /// K of a WDL head, in 1/256.
    pub wdl_k: Option<i16>,
}

impl Weights {
    /// Weights of a plain network; `output` has the side to move first, then the other side.
    pub fn plain(features: Vec<i16>, bias: Vec<i16>, output: Vec<i16>, output_bias: i16) -> Weights {
        let dense = Dense { weights: output, bias: vec![output_bias] };
        Weights { features, bias, psqt: Vec::new(), dense: vec![vec![dense]], wdl_k: None }
    }

    /// Tests whether every length agrees with the architecture.
    pub(super) fn fits(&self, architecture: &Architecture) -> bool {
        let shapes = architecture.dense();
        let layer = |(dense, [inputs, outputs]): (&Dense, &[usize; 2])| {
            dense.weights.len() == inputs * outputs && dense.bias.len() == *outputs
        };
        self.features.len() == architecture.rows() * architecture.hidden
            && self.bias.len() == architecture.hidden
            && self.psqt.len() == architecture.psqt_values()
            && self.dense.len() == architecture.output_buckets
            && self.wdl_k.is_some() == architecture.wdl_head
            && self
                .dense
                .iter()
                .all(|layers| layers.len() == shapes.len() && layers.iter().zip(&shapes).all(layer))
    }

    /// Checks that the bits of the first further layer can hold its weights, and that a WDL head has a K.
    pub(super) fn check_values(&self, architecture: &Architecture) -> Result<(), BodyError> {
        if let Some(k) = self.wdl_k.filter(|k| *k < 1) {
            return Err(BodyError(format!("the K of its WDL head, {k}/256, is not above 0")));
        }
        let mut first = self.dense.iter().flat_map(|layers| &layers[0].weights);
        if !architecture.in_bytes() || first.all(|weight| i8::try_from(*weight).is_ok()) {
            return Ok(());
        }
        Err(BodyError("a weight of its first further layer is beyond 8 bits".into()))
    }

    /// Moves pairs of hidden neurons: pair `i` is the former pair `order[i]`. No evaluation changes.
    pub(super) fn reorder_pairs(&mut self, architecture: &Architecture, order: &[usize]) {
        let reorder = |numbers: &mut Vec<i16>| {
            let halves = numbers.chunks_exact(order.len());
            *numbers = halves.flat_map(|half| order.iter().map(|pair| half[*pair])).collect();
        };
        debug_assert_eq!(order.len(), architecture.outputs_per_perspective());
        reorder(&mut self.features);
        reorder(&mut self.bias);
        self.dense.iter_mut().for_each(|layers| reorder(&mut layers[0].weights));
    }

    /// The numbers of a raw body, in order.
    pub fn numbers(&self) -> impl Iterator<Item = i16> + '_ {
        let layers = || self.dense.iter().flatten();
        let output = layers().flat_map(|dense| &dense.weights).chain(layers().flat_map(|dense| &dense.bias));
        self.features.iter().chain(&self.bias).chain(&self.psqt).chain(output).chain(&self.wdl_k).copied()
    }

    /// Takes as many numbers of a raw body as the architecture has parameters.
    pub(super) fn read(architecture: &Architecture, numbers: &mut impl Iterator<Item = i16>) -> Weights {
        let mut take = |count: usize| numbers.by_ref().take(count).collect::<Vec<i16>>();
        let features = take(architecture.rows() * architecture.hidden);
        let bias = take(architecture.hidden);
        let psqt = take(architecture.psqt_values());
        let shapes = architecture.dense();
        let mut dense: Vec<Vec<Dense>> = Vec::new();
        for _ in 0..architecture.output_buckets {
            let layer =
                |[inputs, outputs]: &[usize; 2]| Dense { weights: take(inputs * outputs), bias: Vec::new() };
            dense.push(shapes.iter().map(layer).collect());
        }
        for layers in &mut dense {
            for (layer, [_, outputs]) in layers.iter_mut().zip(&shapes) {
                layer.bias = take(*outputs);
            }
        }
        let wdl_k = if architecture.wdl_head { take(1).pop() } else { None };
        Weights { features, bias, psqt, dense, wdl_k }
    }
}
