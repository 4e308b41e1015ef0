//! Epochs of a fit: recorded, reported, and the best values kept.

use super::objective::Objective;
use patzer_io::interrupt;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Epoch {
    pub number: usize,
    /// The number at which the method stops at the latest.
    pub limit: usize,
    /// Training loss with the L2 prior; for first-order methods the mean over the batches before each step.
    pub train_loss: f64,
    pub validation_loss: Option<f64>,
    /// Learning rate, or the fraction of the full step taken.
    pub learning_rate: f64,
    pub best: bool,
}

/// News of a fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FitEvent<'a> {
    Epoch(&'a Epoch),
    /// Epochs begin again at 1, with another L2 prior.
    Restart,
    /// Name of the present stage, for passes that take seconds.
    Stage(&'static str),
}

/// Losses without the L2 prior.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Losses {
    pub train: f64,
    pub validation: Option<f64>,
}

/// Records epochs, keeps the best values and decides when to stop.
pub struct Tracker<'a> {
    pub validation: Option<Objective<'a>>,
    pub progress: &'a mut dyn FnMut(FitEvent<'_>),
    pub patience: usize,
    pub limit: usize,
    pub best: Vec<f64>,
    pub best_loss: f64,
    pub best_epoch: usize,
    pub epochs: usize,
    pub passes: usize,
}

impl Tracker<'_> {
    /// Records an epoch; returns whether to continue.
    pub fn epoch(&mut self, parameters: &[f64], train_loss: f64, learning_rate: f64) -> bool {
        let validation_loss = self.validation.map(|objective| objective.loss(parameters));
        // Passes after an interrupt are cut short, so their losses are none.
        if interrupt::requested() {
            return false;
        }
        let judged = validation_loss.unwrap_or(train_loss);
        self.epochs += 1;
        let best = judged < self.best_loss;
        if best {
            (self.best, self.best_loss, self.best_epoch) = (parameters.to_vec(), judged, self.epochs);
        }
        let (number, limit) = (self.epochs, self.limit);
        let epoch = Epoch { number, limit, train_loss, validation_loss, learning_rate, best };
        (self.progress)(FitEvent::Epoch(&epoch));
        let vain = self.epochs - self.best_epoch;
        self.epochs < self.limit && vain < self.patience
    }

    pub fn stage(&mut self, name: &'static str) {
        (self.progress)(FitEvent::Stage(name));
    }

    /// Forgets the epochs and their best values, since another L2 prior judges those to come, of which there are
    /// `limit` at most.
    pub fn restart(&mut self, start: &[f64], loss: f64, limit: usize) {
        (self.best, self.best_loss, self.best_epoch) = (start.to_vec(), loss, 0);
        (self.epochs, self.limit) = (0, limit);
        (self.progress)(FitEvent::Restart);
    }

    pub fn is_done(&self) -> bool {
        self.epochs >= self.limit || interrupt::requested()
    }
}
