//! Results of a training run, and what a stage leaves to the next.

use serde::Serialize;

use super::callbacks::Epoch;
use super::model::Model;
use super::safetensors;
use patzer_eval::nnue::Network;

/// State that a stage takes over from those before it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Earlier {
    pub stages: u64,
    /// K of all stages that name none, if one has fitted it.
    pub k: Option<f32>,
    pub weights: Vec<f32>,
    pub epochs: Vec<Epoch>,
}

#[derive(Debug, Clone)]
pub struct Outcome {
    pub network: Network,
    pub epochs: Vec<Epoch>,
    /// Epoch of the network kept, counted from 1: that with the lowest validation loss (else training loss), 0 if the
    /// start was better; or the last.
    pub best_epoch: usize,
    pub losses: Losses,
    pub quantisation: Quantisation,
    pub parameters: usize,
    pub device: String,
    pub(super) model: Model,
}

impl Outcome {
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

/// Mean losses of the network that was kept, and what they compare with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Losses {
    /// On positions trained on, evenly drawn from all.
    pub train: f64,
    pub validation: Option<f64>,
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
    pub mean_error: f64,
    pub max_error: f64,
    /// Share of the hidden layer's activations that are 0 in the quantised network.
    pub zero_activations: f64,
    /// Share of the blocks of four activations that are all 0, which a first further layer in bytes skips.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zero_blocks: Option<f64>,
}
