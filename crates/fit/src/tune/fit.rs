//! Tuning as a whole: from traces to the best values.
//!
//! In: traces to learn from and to validate on, a model, settings. Out: the values of least loss on the validation
//! traces, or on the training traces where there are none, with the losses before and after.

use std::time::Instant;

use super::model::{Model, Space};
use super::objective::Objective;
use super::settings::{Optimizer, Settings};
use super::traces::Traces;
use super::{first_order, lbfgs, second_order};
use crate::wdl;
use patzer_io::error::{Error, Result};
use patzer_io::interrupt;

/// How an epoch went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Epoch {
    /// Its number, from 1.
    pub number: usize,
    /// Loss on the training positions: of the values after the epoch for second-order methods, the mean over the
    /// epoch's batches, each before its step, for first-order ones. With the pull towards the start.
    pub train_loss: f64,
    /// Loss on the validation positions after the epoch; `None` without such positions.
    pub validation_loss: Option<f64>,
    /// Learning rate of the epoch, or the share of the whole step that was taken.
    pub learning_rate: f64,
    /// Whether this is the best epoch so far.
    pub best: bool,
}

/// Losses on both parts of the data, without the pull towards the start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Losses {
    /// On the training positions.
    pub train: f64,
    /// On the validation positions; `None` without such positions.
    pub validation: Option<f64>,
}

/// What tuning gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The best values, by slot, in centipawns.
    pub values: Vec<f64>,
    /// K of the sigmoid.
    pub k: f64,
    /// The optimiser that was used.
    pub optimizer: Optimizer,
    /// Losses of the values to start from.
    pub before: Losses,
    /// Losses of the best values.
    pub exact: Losses,
    /// Losses of the best values rounded to whole centipawns.
    pub rounded: Losses,
    /// Epochs run.
    pub epochs: usize,
    /// The epoch after which the values were best; 0 if none was better than the start.
    pub best_epoch: usize,
    /// Passes over the training positions for a gradient or a matrix.
    pub passes: usize,
    /// Number of values that were tuned.
    pub parameters: usize,
    /// Seconds from the first pass to the last.
    pub seconds: f64,
    /// Training positions a second over all passes.
    pub positions_per_second: f64,
}

/// What every optimiser reports to.
pub struct Tracker<'a> {
    validation: Option<Objective<'a>>,
    progress: &'a mut dyn FnMut(&Epoch),
    patience: usize,
    limit: usize,
    best: Vec<f64>,
    best_loss: f64,
    best_epoch: usize,
    epochs: usize,
    /// Passes over the training positions.
    pub passes: usize,
}

impl Tracker<'_> {
    /// Takes note of the values after an epoch; says whether to go on.
    pub fn epoch(&mut self, parameters: &[f64], train_loss: f64, learning_rate: f64) -> bool {
        let validation_loss = self.validation.map(|objective| objective.loss(parameters));
        let judged = validation_loss.unwrap_or(train_loss);
        self.epochs += 1;
        let best = judged < self.best_loss;
        if best {
            (self.best, self.best_loss, self.best_epoch) = (parameters.to_vec(), judged, self.epochs);
        }
        let number = self.epochs;
        (self.progress)(&Epoch { number, train_loss, validation_loss, learning_rate, best });
        self.epochs < self.limit && self.epochs - self.best_epoch < self.patience && !interrupt::requested()
    }
}

/// Tunes the free values of a model.
///
/// Tuning ends when no step helps any more, after the most epochs, when the validation loss has not fallen for the
/// patience, or when the user interrupts; the best values so far are kept. The result depends on the data and the
/// settings alone, not on the number of threads.
///
/// # Errors
/// If there are no positions, nothing is free, a setting makes no sense, or K cannot be fitted.
pub fn fit(
    model: &Model,
    space: &Space,
    train: &Traces,
    validation: &Traces,
    settings: &Settings,
    progress: &mut dyn FnMut(&Epoch),
) -> Result<Outcome> {
    settings.validate()?;
    if train.positions == 0 {
        return Err(Error::usage("there are no positions to tune on"));
    }
    if space.parameters() == 0 {
        return Err(Error::usage("every term is fixed, so there is nothing to tune"));
    }
    let bounded = space.is_bounded(model);
    let optimizer = settings.optimizer.resolve(space.parameters(), train.positions, bounded);
    if optimizer == Optimizer::Lbfgs && bounded {
        return Err(Error::usage("lbfgs cannot hold bounds; take gauss-newton or adam"));
    }
    let start = space.parameters_of(&model.start());
    let mut objective = Objective { traces: train, model, space, k: 1.0, l2: settings.pull(train) };
    objective.k = match settings.k {
        Some(k) => k,
        None => fit_k(&objective, &start)?,
    };
    let validation =
        (validation.positions > 0).then_some(Objective { traces: validation, l2: 0.0, ..objective });
    let losses = |parameters: &[f64]| Losses {
        train: objective.loss(parameters),
        validation: validation.map(|objective| objective.loss(parameters)),
    };
    let before = losses(&start);
    let mut tracker = Tracker {
        validation,
        progress,
        patience: settings.patience,
        limit: settings.epochs.unwrap_or(optimizer.epochs()),
        best: start.clone(),
        best_loss: before.validation.unwrap_or(before.train),
        best_epoch: 0,
        epochs: 0,
        passes: 0,
    };
    let begun = Instant::now();
    match optimizer {
        Optimizer::Auto | Optimizer::GaussNewton | Optimizer::Newton => {
            second_order::run(&objective, start, optimizer == Optimizer::Newton, &mut tracker)
        }
        Optimizer::Lbfgs => lbfgs::run(&objective, start, &mut tracker)?,
        Optimizer::Adam | Optimizer::Adagrad | Optimizer::Sgd => {
            first_order::run(&objective, start, optimizer, settings, &mut tracker)?;
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    let best = tracker.best;
    let rounded: Vec<f64> = best.iter().map(|value| value.round()).collect();
    Ok(Outcome {
        k: objective.k,
        optimizer,
        before,
        exact: losses(&best),
        rounded: losses(&rounded),
        values: space.values(model, &best),
        epochs: tracker.epochs,
        best_epoch: tracker.best_epoch,
        passes: tracker.passes,
        parameters: space.parameters(),
        seconds,
        positions_per_second: (tracker.passes * train.positions) as f64 / seconds.max(1e-9),
    })
}

/// K for the values to start from.
fn fit_k(objective: &Objective<'_>, start: &[f64]) -> Result<f64> {
    let pairs = objective.scored(start);
    Ok(wdl::fit_k(&pairs).map_err(|e| Error::usage(format!("{e}; give K with --k")))?.k)
}
