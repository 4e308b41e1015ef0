//! Results of a training run, and the state that a stage leaves to the next.

use serde::Serialize;

use super::callbacks::Epoch;
use super::model::Model;
use super::safetensors;
use patzer_eval::nnue::Network;

/// State that a stage takes over from those before it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Earlier {
    /// Number of finished stages.
    pub stages: u64,
    /// Fitted K of all stages whose recipe has none.
    pub k: Option<f32>,
    /// Weights that the last stage kept.
    pub weights: Vec<f32>,
    /// Epochs of all finished stages.
    pub epochs: Vec<Epoch>,
}

/// Result of a stage of training.
#[derive(Debug, Clone)]
pub struct TrainOutcome {
    /// The network kept, quantised.
    pub network: Network,
    /// Epochs of the stage.
    pub epochs: Vec<Epoch>,
    /// Epoch of the network kept, counted from 1: that with the lowest validation loss (else training loss), 0 if the
    /// start was better; or the last.
    pub best_epoch: usize,
    /// Losses of the network.
    pub losses: Losses,
    /// Difference of the network from the float weights.
    pub quantisation: Quantisation,
    /// Number of the network's parameters.
    pub parameters: usize,
    /// Name of the device it was trained on.
    pub device: String,
    pub(super) model: Model,
}

impl TrainOutcome {
    /// The float weights as a safetensors file.
    pub fn safetensors(&self) -> Vec<u8> {
        safetensors::safetensors(&self.model, &self.network.about().description)
    }

    /// State for the next stage.
    pub fn handover(&self, earlier: Earlier, k: Option<f32>) -> Earlier {
        let mut epochs = earlier.epochs;
        epochs.extend(&self.epochs);
        Earlier { stages: earlier.stages + 1, k, weights: self.model.parameters.clone(), epochs }
    }
}

/// Mean losses of the network kept, and of baselines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Losses {
    /// Loss on positions trained on, evenly drawn from all.
    pub train: f64,
    /// Loss on the held-out positions; `None` without any.
    pub validation: Option<f64>,
    /// Loss of the starting weights on the held-out positions.
    pub start: Option<f64>,
    /// Loss of the mean target for every position, on the held-out positions if there are any.
    pub constant: f64,
}

/// Share of the validation loss by which the training loss may be lower before data count as few.
const GAP: f64 = 0.1;

impl Losses {
    /// Number of positions that would suffice, if these do not: the gap between validation and training loss falls
    /// about as 1 / positions, and has to be below a tenth.
    pub fn needed(&self, positions: usize) -> Option<usize> {
        let validation = self.validation?;
        let (gap, middle) = (validation - self.train, (validation + self.train) / 2.0);
        (gap > GAP * validation).then(|| (positions as f64 * gap / (GAP * middle)) as usize)
    }

    /// The kept network's loss, on held-out positions if there are any.
    pub fn kept(&self) -> f64 {
        self.validation.unwrap_or(self.train)
    }
}

/// Absolute difference of the quantised from the float network in centipawns, and its zeros, over validation positions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Quantisation {
    /// Mean difference in centipawns.
    pub mean_error: f64,
    /// Largest difference in centipawns.
    pub max_error: f64,
    /// Share of the hidden layer's activations that are 0 in the quantised network.
    pub zero_activations: f64,
    /// Share of the blocks of four activations that are all 0, which a first further layer in bytes skips.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zero_blocks: Option<f64>,
}
