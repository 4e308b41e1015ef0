//! The layers after the first further one, in plain integers.

use super::{Network, OutputLayers, wdl_head};
use crate::nnue::activation::LayerActivation;
use crate::nnue::units::{ONE, QB};

impl Network {
    /// Computes the output by the layers after the first one, from its outputs before activation; in 1/(QA·QB).
    pub(in crate::nnue) fn inner(&self, layers: &OutputLayers, first: &[i64]) -> i64 {
        let (values, skipped) = self.outputs_after(layers, first);
        match self.wdl_k {
            Some(k) => wdl_head::in_units(&values, k),
            None => values.first().copied().unwrap_or(0) + skipped,
        }
    }

    /// Win, draw and loss probability for the side to move, from the outputs of the first further layer; `None` without
    /// a WDL head.
    pub(in crate::nnue) fn chances(&self, layers: &OutputLayers, first: &[i64]) -> Option<[f64; 3]> {
        let k = f64::from(self.wdl_k?) / wdl_head::K_UNIT;
        Some(wdl_head::chances(wdl_head::numbers(&self.outputs_after(layers, first).0), k))
    }

    /// The outputs of the last layer, and the neuron that skips the others.
    fn outputs_after(&self, layers: &OutputLayers, first: &[i64]) -> (Vec<i64>, i64) {
        let (mut values, mut skipped) = (first.to_vec(), 0);
        for (layer, dense) in layers.inner.iter().enumerate() {
            if layer == 0 && self.architecture.skip_neuron {
                skipped = values.pop().unwrap_or(0);
            }
            activate(self.architecture.layer_activation(layer), &mut values);
            let rows = dense.weights.chunks_exact(values.len()).zip(&dense.bias);
            let output = |(row, bias): (&[i16], &i16)| {
                let sum: i64 = row.iter().zip(&values).map(|(w, x)| i64::from(*w) * x).sum();
                sum / i64::from(QB) + i64::from(*bias)
            };
            values = rows.map(output).collect();
        }
        (values, skipped)
    }
}

/// Activates the outputs of a layer, in 1/(QA·QB).
fn activate(activation: LayerActivation, values: &mut Vec<i64>) {
    let clipped = |value: i64| value.clamp(0, ONE);
    let squared = |value: i64| value * value / ONE;
    let each = |value: i64| match activation {
        // Far above the values of any sound network, and small enough for the products.
        LayerActivation::Relu => value.clamp(0, 1 << 32),
        LayerActivation::Crelu | LayerActivation::Dual => clipped(value),
        LayerActivation::Screlu => squared(clipped(value)),
    };
    if activation.values() == 2 {
        let squares = values.iter().map(|value| squared((*value).clamp(-ONE, ONE)));
        *values = squares.chain(values.iter().copied().map(each)).collect();
        return;
    }
    values.iter_mut().for_each(|value| *value = each(*value));
}
