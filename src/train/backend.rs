//! What computes losses and gradients: a seam behind which a device of another kind can stand.
//!
//! In: positions, the model, a loss and a target. Out: numbers. Losses, loaders, optimisers and recipes know nothing
//! else of how it is done. [`Cpu`](super::cpu::Cpu) is what stands behind it.

use super::TrainItem;
use super::loss::{Loss, Target};
use super::model::Model;

/// Something that computes losses and gradients. Its numbers follow from what it is given alone.
pub trait Backend {
    /// The sum of the losses of a batch, given as indices into items, and the gradient of their mean, one number a
    /// parameter. The caller may change it.
    fn gradient(
        &mut self,
        model: &Model,
        loss: Loss,
        target: Target,
        items: &[TrainItem],
        batch: &[u32],
    ) -> (f64, &mut [f32]);

    /// The mean loss over positions.
    fn mean_loss(&mut self, model: &Model, loss: Loss, target: Target, items: &[TrainItem]) -> f64;

    /// The float network's evaluation of positions, in centipawns for the side to move.
    fn centipawns(&mut self, model: &Model, items: &[TrainItem]) -> Vec<f32>;
}
