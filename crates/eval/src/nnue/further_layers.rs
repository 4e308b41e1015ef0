//! Sizes and activations of the layers after the hidden one.

use super::activation::{Activation, LayerActivation};
use super::architecture::Architecture;
use super::error::ArchitectureError;

/// Maximum number of further layers.
pub const MAX_LAYERS: usize = 3;
/// Maximum number of neurons of a further layer.
pub const MAX_LAYER: usize = 128;

impl Architecture {
    /// Outputs of the network: one, or the three of a WDL head.
    #[inline]
    pub fn outputs(&self) -> usize {
        if self.wdl_head { 3 } else { 1 }
    }

    /// Tests for one output without further layers: the hidden layer's activations are weighed without rounding.
    #[inline]
    pub fn is_single_layer(&self) -> bool {
        self.layers.is_empty() && !self.wdl_head
    }

    /// Inputs and outputs of each layer after the hidden one, the output last.
    pub fn dense(&self) -> Vec<[usize; 2]> {
        let mut inputs = self.perspectives * self.outputs_per_perspective();
        let mut shapes = Vec::new();
        for (layer, outputs) in self.layers.iter().copied().chain([self.outputs()]).enumerate() {
            shapes.push([inputs, outputs]);
            let skipped = usize::from(layer == 0 && self.skip_neuron);
            inputs = (outputs - skipped) * self.layer_activation(layer).values();
        }
        shapes
    }

    /// Activation of a further layer, numbered from 0.
    #[inline]
    pub fn layer_activation(&self, layer: usize) -> LayerActivation {
        self.layer_activations.get(layer).copied().unwrap_or(self.activation.of_further_layers())
    }

    /// Tests whether the first further layer multiplies bytes.
    #[inline]
    pub fn in_bytes(&self) -> bool {
        self.first_layer_bits == 8
    }

    /// Finds the first fault of the further layers.
    pub(super) fn check_layers(&self) -> Result<(), ArchitectureError> {
        let fault = |key, reason| Err(ArchitectureError::new(key, reason));
        let (layers, activations) = (&self.layers, self.layer_activations.len());
        if layers.len() > MAX_LAYERS || !layers.iter().all(|n| (1..=MAX_LAYER).contains(n)) {
            return fault(
                "layers",
                format!(" = {layers:?}: at most {MAX_LAYERS}, of 1 to {MAX_LAYER} neurons"),
            );
        }
        if activations > 0 && activations != layers.len() {
            let reason = format!(": {activations} of them for {} further layers", layers.len());
            return fault("layer_activations", reason);
        }
        if self.skip_neuron && layers.first().is_none_or(|neurons| *neurons < 2) {
            let reason = " = true: needs a first further layer of at least two neurons".to_string();
            return fault("skip_neuron", reason);
        }
        let bits = self.first_layer_bits;
        if ![8, 16].contains(&bits) {
            return fault("first_layer_bits", format!(" = {bits}: has to be 8 or 16"));
        }
        if self.in_bytes() && (layers.is_empty() || self.activation != Activation::Pairwise) {
            let reason = " = 8: needs activation = \"pairwise\" and a further layer".to_string();
            return fault("first_layer_bits", reason);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_pass_on_what_their_activations_say() {
        let stockfish = Architecture {
            layers: vec![16, 32],
            layer_activations: vec![LayerActivation::Dual, LayerActivation::Crelu],
            skip_neuron: true,
            activation: Activation::Pairwise,
            ..Architecture::plain(64)
        };
        assert_eq!(stockfish.dense(), [[64, 16], [30, 32], [32, 1]]);
        assert_eq!(stockfish.to_string(), "(768->64)x2->15+1(dual)->32(crelu)->1 pairwise");
        let usual = Architecture { layer_activations: Vec::new(), skip_neuron: false, ..stockfish.clone() };
        assert_eq!([0, 1].map(|layer| usual.layer_activation(layer)), [LayerActivation::Screlu; 2]);
        let key = |architecture: Architecture| architecture.check().unwrap_err().key();
        assert!(stockfish.check().is_ok());
        assert_eq!(key(Architecture { layers: vec![16], ..stockfish.clone() }), "layer_activations");
        let bytes = Architecture { first_layer_bits: 8, ..stockfish.clone() };
        assert!(bytes.check().is_ok() && bytes.to_string().ends_with("->1 pairwise i8"));
        let clipped = Architecture { activation: Activation::Crelu, ..bytes.clone() };
        assert_eq!(key(clipped), "first_layer_bits");
        assert_eq!(key(Architecture { first_layer_bits: 12, ..bytes }), "first_layer_bits");
        let single = Architecture { layers: vec![1, 32], ..stockfish };
        assert_eq!(key(single), "skip_neuron");
        assert_eq!(key(Architecture { skip_neuron: true, ..Architecture::plain(8) }), "skip_neuron");
    }
}
