//! How to tune: the settings, their defaults, and what makes sense.

use serde::Serialize;

use super::chunk::CHUNK;
use super::traces::Traces;
use crate::optim::{Decay, Schedule};
use patzer_io::error::{Error, Result};

/// Ways to the optimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Optimizer {
    /// The fastest that applies: gauss-newton, or lbfgs where a matrix does not pay
    Auto,
    /// Second order, on the matrix of slopes; reaches the optimum in about five passes
    GaussNewton,
    /// Second order, on the matrix of exact second derivatives, where that is positive
    Newton,
    /// Limited-memory BFGS; needs no matrix, holds no bounds
    Lbfgs,
    /// First order, Kingma and Ba (2015)
    Adam,
    /// First order, Duchi, Hazan and Singer (2011)
    Adagrad,
    /// First order: gradient descent with momentum 0.9
    Sgd,
}

/// Most parameters for which `auto` takes a method with a matrix: it has so many squared entries of 8 bytes.
pub const LARGEST_MATRIX: usize = 6_000;

/// A matrix over so many parameters costs next to nothing.
const LARGEST_SMALL: usize = 500;

/// Positions a parameter from which a larger matrix is worth its cost.
const FILLED: usize = 20;

impl Optimizer {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Optimizer::Auto => "auto",
            Optimizer::GaussNewton => "gauss-newton",
            Optimizer::Newton => "newton",
            Optimizer::Lbfgs => "lbfgs",
            Optimizer::Adam => "adam",
            Optimizer::Adagrad => "adagrad",
            Optimizer::Sgd => "sgd",
        }
    }

    /// What `auto` stands for with so many parameters and positions: a matrix pays where there is enough to fill it.
    pub fn resolve(self, parameters: usize, positions: usize, bounded: bool) -> Optimizer {
        let filled = parameters <= LARGEST_SMALL || positions >= FILLED * parameters;
        match self {
            Optimizer::Auto if parameters <= LARGEST_MATRIX && (filled || bounded) => Optimizer::GaussNewton,
            Optimizer::Auto if bounded => Optimizer::Adam,
            Optimizer::Auto => Optimizer::Lbfgs,
            named => named,
        }
    }

    /// Whether it steps on mini-batches.
    pub fn first_order(self) -> bool {
        matches!(self, Optimizer::Adam | Optimizer::Adagrad | Optimizer::Sgd)
    }

    /// Most passes unless told otherwise.
    pub fn epochs(self) -> usize {
        match self {
            Optimizer::Auto | Optimizer::GaussNewton | Optimizer::Newton => 50,
            Optimizer::Lbfgs => 300,
            Optimizer::Adam | Optimizer::Adagrad | Optimizer::Sgd => 60,
        }
    }

    /// The first learning rate unless told otherwise: in centipawns for those that scale their steps, in
    /// centipawns a unit of gradient for `sgd`.
    pub fn learning_rate(self) -> f32 {
        match self {
            Optimizer::Adagrad => 10.0,
            Optimizer::Sgd => 2e5,
            _ => 1.0,
        }
    }
}

/// Settings of tuning; the defaults suit a few hundred thousand positions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Settings {
    /// How to look for the optimum.
    pub optimizer: Optimizer,
    /// Most passes over the training positions; `None` for what suits the optimiser.
    pub epochs: Option<usize>,
    /// Positions in a batch of a first-order optimiser, rounded up to whole chunks; 0 for all.
    pub batch: usize,
    /// Learning rate of the first epoch; `None` for what suits the optimiser.
    pub learning_rate: Option<f32>,
    /// The learning rate of the last epoch as a share of the first.
    pub final_share: f32,
    /// The way from the first to the last.
    pub decay: Decay,
    /// Stop when the validation loss has not fallen for so many epochs.
    pub patience: usize,
    /// Pull towards the initial weights: the loss added for a value 100 centipawns away from its start.
    pub l2: f64,
    /// A pull beside it that wanes as data grow, so that it decides only where they say little: this over the number
    /// of games, because the positions of a game share its result. Every position is a game where games are unknown.
    pub prior: f64,
    /// K of the sigmoid; `None` to fit it to the initial weights.
    pub k: Option<f64>,
    /// Seed of the order of positions.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            optimizer: Optimizer::Auto,
            epochs: None,
            batch: 16_384,
            learning_rate: None,
            final_share: 0.01,
            decay: Decay::Cosine,
            patience: 15,
            l2: 0.0,
            prior: 0.0,
            k: None,
            seed: 0,
        }
    }
}

impl Settings {
    /// Checks that every value makes sense.
    ///
    /// # Errors
    /// If one does not; names it.
    pub fn validate(&self) -> Result<()> {
        let above_zero = |name: &str, value: f64| {
            let fine = value.is_finite() && value > 0.0;
            fine.then_some(()).ok_or_else(|| Error::usage(format!("{name} has to be above 0, not {value}")))
        };
        above_zero("the number of epochs", self.epochs.unwrap_or(1) as f64)?;
        above_zero("the patience", self.patience as f64)?;
        above_zero("the learning rate", self.learning_rate.unwrap_or(1.0).into())?;
        above_zero("the share of the learning rate that is left", self.final_share.into())?;
        above_zero("K", self.k.unwrap_or(1.0))?;
        if let Some(wrong) = [self.l2, self.prior].into_iter().find(|pull| !pull.is_finite() || *pull < 0.0) {
            return Err(Error::usage(format!("the pull towards the start cannot be {wrong}")));
        }
        Ok(())
    }

    /// The whole pull of a fit to these traces, as [`Objective::l2`](super::objective::Objective::l2).
    pub fn pull(&self, traces: &Traces) -> f64 {
        let games = if traces.games > 0 { traces.games } else { traces.positions };
        self.l2 + self.prior / games.max(1) as f64
    }

    /// Positions in a chunk of traces, so that batches come out as asked, and of several chunks each where that
    /// pays: a chunk is the work of one thread.
    pub fn chunk(&self) -> usize {
        const LEAST: usize = 2_048;
        match self.batch {
            batch if self.optimizer.first_order() && batch > 0 => {
                batch.div_ceil(batch.div_ceil(CHUNK).max((batch / LEAST).clamp(1, 4))).max(256)
            }
            _ => CHUNK,
        }
    }

    /// The learning rate over all epochs of the optimiser, an epoch a step.
    pub fn schedule(&self, optimizer: Optimizer) -> Schedule {
        let start = self.learning_rate.unwrap_or(optimizer.learning_rate());
        let steps = self.epochs.unwrap_or(optimizer.epochs()) as u64;
        Schedule { start, end: start * self.final_share, decay: self.decay, warmup: 0, steps }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_takes_a_matrix_that_fits() {
        let auto = |parameters, positions, bounded| Optimizer::Auto.resolve(parameters, positions, bounded);
        assert_eq!(auto(768, 725_000, false), Optimizer::GaussNewton);
        assert_eq!(auto(24, 100, false), Optimizer::GaussNewton);
        assert_eq!(auto(768, 1_000, false), Optimizer::Lbfgs);
        assert_eq!(auto(768, 1_000, true), Optimizer::GaussNewton);
        assert_eq!(auto(100_000, 10_000_000, false), Optimizer::Lbfgs);
        assert_eq!(auto(100_000, 10_000_000, true), Optimizer::Adam);
        assert_eq!(Optimizer::Sgd.resolve(2, 1, false), Optimizer::Sgd);
    }

    #[test]
    fn settings_without_sense_are_refused() {
        let default = Settings::default;
        for wrong in [
            Settings { epochs: Some(0), ..default() },
            Settings { patience: 0, ..default() },
            Settings { learning_rate: Some(0.0), ..default() },
            Settings { final_share: f32::NAN, ..default() },
            Settings { k: Some(-1.0), ..default() },
            Settings { l2: -1.0, ..default() },
            Settings { prior: -1.0, ..default() },
        ] {
            assert!(wrong.validate().is_err(), "{wrong:?}");
        }
    }
}
