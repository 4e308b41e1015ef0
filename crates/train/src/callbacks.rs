//! Callbacks of a training run.

use serde::Serialize;

use patzer_eval::nnue::Network;
use patzer_io::error::{Error, Result};

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Epoch {
    pub epoch: usize,
    pub train_loss: f64,
    pub validation_loss: Option<f64>,
    pub learning_rate: f32,
    pub positions_per_second: f64,
}

/// Callbacks of a training run. A closure that takes an [`Epoch`] is one.
pub trait TrainingCallbacks {
    /// Called after every epoch, and for the epochs of a resumed run.
    fn epoch(&mut self, epoch: &Epoch);

    fn resume(&mut self) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    /// Called if the GPU failed its check and the CPU trains instead.
    fn gpu_rejected(&mut self, _reason: &Error) {}

    /// Called if the checkpoint is of another device: the run continues within rounding, not to the byte.
    fn device_changed(&mut self, _from: &str, _to: &str) {}

    fn save_checkpoint(&mut self, _state: &mut dyn FnMut() -> Result<Vec<u8>>) -> Result<()> {
        Ok(())
    }

    /// Called after every epoch, before its checkpoint, with what makes the network of its weights.
    fn save_network(&mut self, _network: &mut dyn FnMut() -> Result<Network>) -> Result<()> {
        Ok(())
    }
}

impl<F: FnMut(&Epoch)> TrainingCallbacks for F {
    fn epoch(&mut self, epoch: &Epoch) {
        self(epoch);
    }
}
