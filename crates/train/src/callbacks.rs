//! Callbacks of a training run.

use serde::Serialize;

use patzer_eval::nnue::Network;
use patzer_io::error::{Error, Result};

/// Losses and speed of an epoch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Epoch {
    /// Number of the epoch, from 1.
    pub epoch: usize,
    /// Mean loss over its steps.
    pub train_loss: f64,
    /// Mean loss on the held-out positions; `None` without any.
    pub validation_loss: Option<f64>,
    /// Learning rate of its last step.
    pub learning_rate: f32,
    /// Positions trained on per second.
    pub positions_per_second: f64,
}

/// Callbacks of a training run. A closure that takes an [`Epoch`] is one.
pub trait TrainingCallbacks {
    /// Called after every epoch, and for the epochs of a resumed run.
    fn epoch(&mut self, epoch: &Epoch);

    /// Called at the start for the bytes of a checkpoint to resume from. An error ends the run.
    fn resume(&mut self) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    /// Called if the GPU failed its check and the CPU trains instead.
    fn gpu_rejected(&mut self, _reason: &Error) {}

    /// Called if the checkpoint is of another device: the run continues within rounding, not to the byte.
    fn device_changed(&mut self, _from: &str, _to: &str) {}

    /// Called after every epoch; `state` gives the bytes of a checkpoint. An error ends the run.
    fn save_checkpoint(&mut self, _state: &mut dyn FnMut() -> Result<Vec<u8>>) -> Result<()> {
        Ok(())
    }

    /// Called after every epoch, before its checkpoint; `network` quantises its weights. An error ends the run.
    fn save_network(&mut self, _network: &mut dyn FnMut() -> Result<Network>) -> Result<()> {
        Ok(())
    }
}

impl<F: FnMut(&Epoch)> TrainingCallbacks for F {
    fn epoch(&mut self, epoch: &Epoch) {
        self(epoch);
    }
}
