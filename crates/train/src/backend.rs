//! The seam between a training run and its device. A checkpoint of one backend continues on the other.

use super::TrainItem;
use super::loss::Loss;
use super::target::Target;
use patzer_io::error::Result;

#[derive(Debug, Clone, Copy)]
pub(crate) struct StepParams {
    /// Counted from 1 over the whole run.
    pub number: u64,
    /// The scale follows from the batch.
    pub loss: Loss,
    pub target: Target,
    pub rate: f32,
    /// Weights and activations are rounded as in the quantised network, in the forward pass.
    pub rounds: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TrainingState {
    pub parameters: Vec<f32>,
    pub steps: u64,
    pub optimiser: Vec<Vec<f32>>,
    pub average: Option<Vec<f32>>,
}

/// A network and its optimiser on one device. Every method fails if the device does.
pub(crate) trait Backend {
    fn device(&self) -> &str;

    /// Takes a step on a batch of indices into `items`. The step may still be running on return.
    fn step(&mut self, step: &StepParams, items: &[TrainItem], batch: &[u32]) -> Result<()>;

    /// Summed loss of the oldest unread step; `None` if there is none or, without `wait`, it is running.
    fn loss(&mut self, wait: bool) -> Result<Option<f64>>;

    fn mean_loss(&mut self, loss: Loss, target: Target, items: &[TrainItem]) -> Result<f64>;

    /// The weights that are validated and exported: the averaged weights if averaging is on.
    fn validated_weights(&mut self) -> Result<Vec<f32>>;

    fn save(&mut self) -> Result<TrainingState>;

    /// Restores a state; false if it belongs to another network or optimiser.
    fn restore(&mut self, state: &TrainingState) -> Result<bool>;
}

/// Decay of the weight average at a step, counted from 1: low at first, so that the initial weights vanish.
pub(crate) fn average_decay(keep: f32, step: u64) -> f32 {
    keep.min(step as f32 / (10 + step) as f32)
}

/// Share of a weight that stays its own at a step of this rate; the rest is its start's.
pub(crate) fn pull_keep(pull: f32, rate: f32) -> f32 {
    (1.0 - rate * pull).max(0.0)
}
