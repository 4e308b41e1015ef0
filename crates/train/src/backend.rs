//! What holds a network while it is trained, and takes steps: a seam behind which devices of different kinds stand.
//!
//! In: batches with a loss, a target and a learning rate. Out: losses, and the weights. Losses, loaders, schedules and
//! checkpoints know nothing else of how it is done. [`Host`](super::cpu_backend::Host) and [`Gpu`](super::gpu::Gpu) stand behind
//! it; the state of either goes on in the other.

use super::TrainItem;
use super::loss::{Loss, Target};
use patzer_io::error::Result;

/// What a step is taken with, besides positions.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// Counted from 1 over the whole run.
    pub number: u64,
    /// The loss; its scale follows from the batch.
    pub loss: Loss,
    /// The target.
    pub target: Target,
    /// The learning rate.
    pub rate: f32,
}

/// All that a run has to remember between two epochs besides its best weights.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// The weights.
    pub parameters: Vec<f32>,
    /// Steps that the optimiser remembers, and one number a weight in each vector.
    pub steps: u64,
    /// Its vectors.
    pub optimiser: Vec<Vec<f32>>,
    /// The average of the weights, if one is kept.
    pub average: Option<Vec<f32>>,
}

/// A network on some device, with its optimiser. What it computes follows from what it is given alone.
pub trait Backend {
    /// The device, for people.
    fn device(&self) -> &str;

    /// Takes a step on a batch, given as indices into items. It may still be under way afterwards.
    ///
    /// # Errors
    /// If the device fails, as everywhere here.
    fn step(&mut self, step: &Step, items: &[TrainItem], batch: &[u32]) -> Result<()>;

    /// The sum of the losses of the first step that was not asked for yet; `None` if there is none, or if it is still
    /// under way and is not to be waited for.
    ///
    /// # Errors
    /// As above.
    fn loss(&mut self, wait: bool) -> Result<Option<f64>>;

    /// The mean loss over positions, of the weights that are to be judged.
    ///
    /// # Errors
    /// As above.
    fn mean_loss(&mut self, loss: Loss, target: Target, items: &[TrainItem]) -> Result<f64>;

    /// The weights that are validated and kept: the averaged ones, if there are any.
    ///
    /// # Errors
    /// As above.
    fn judged(&mut self) -> Result<Vec<f32>>;

    /// The state after the steps so far.
    ///
    /// # Errors
    /// As above.
    fn save(&mut self) -> Result<State>;

    /// Goes on from a state; false if it is not one of this network and optimiser.
    ///
    /// # Errors
    /// As above.
    fn restore(&mut self, state: &State) -> Result<bool>;
}

/// What a step, counted from 1, keeps of averaged weights. The first steps count for more, so that nothing is left of the
/// weights at the start.
pub fn kept(keep: f32, step: u64) -> f32 {
    keep.min(step as f32 / (10 + step) as f32)
}
