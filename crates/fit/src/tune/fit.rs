//! Tuning: from traces to the values of least validation loss, or of least training loss where no positions
//! are held out.

use std::time::Instant;

use super::model::{Model, Space};
use super::objective::Objective;
use super::settings::{Optimizer, Settings};
use super::traces::Traces;
use super::{first_order, lbfgs, second_order};
use crate::wdl;
use patzer_io::error::{Error, Result};
use patzer_io::interrupt;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Epoch {
    pub number: usize,
    /// With the L2 prior; for first-order methods the mean over the batches before each step.
    pub train_loss: f64,
    pub validation_loss: Option<f64>,
    /// Learning rate, or the fraction of the full step taken.
    pub learning_rate: f64,
    pub best: bool,
}

/// Losses without the L2 prior.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Losses {
    pub train: f64,
    pub validation: Option<f64>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    pub values: Vec<f64>,
    pub k: f64,
    pub optimizer: Optimizer,
    pub before: Losses,
    pub exact: Losses,
    /// At the best values rounded to whole centipawns.
    pub rounded: Losses,
    pub epochs: usize,
    /// 0 if no epoch improved on the start.
    pub best_epoch: usize,
    /// Passes over the training positions for a gradient or matrix.
    pub passes: usize,
    pub parameters: usize,
    pub seconds: f64,
    /// Training positions per second over all passes.
    pub positions_per_second: f64,
}

/// Records epochs, keeps the best values and decides when to stop.
pub struct Tracker<'a> {
    validation: Option<Objective<'a>>,
    progress: &'a mut dyn FnMut(&Epoch),
    patience: usize,
    limit: usize,
    best: Vec<f64>,
    best_loss: f64,
    best_epoch: usize,
    epochs: usize,
    pub passes: usize,
}

impl Tracker<'_> {
    /// Records an epoch; returns whether to continue.
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

/// Tunes the free values of a model until no step helps, `epochs` are over, the validation loss has not fallen for
/// `patience` epochs or the user interrupts; keeps the best values, which do not depend on the number of threads.
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
        return Err(Error::input("there are no positions to tune on"));
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
    let mut objective = Objective { traces: train, model, space, k: 1.0, l2: settings.l2_prior(train) };
    objective.k = match settings.k {
        Some(k) => k,
        None => {
            let fitted = wdl::fit_k(&objective.scored(&start));
            fitted.map_err(|e| Error::input(format!("{e}; give K with --k")))?.k
        }
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
