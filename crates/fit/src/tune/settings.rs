use serde::Serialize;

use super::chunk::CHUNK_POSITIONS;
use crate::optim::{Decay, Schedule};
use patzer_io::error::{Error, Result};

patzer_io::named! {
    /// Optimiser of a fit.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Optimizer {
        Auto: "auto", "The fastest that applies: gauss-newton, or lbfgs where a matrix does not pay; adam if \
            a learning rate, batch or schedule is given";
        GaussNewton: "gauss-newton", "Second order, on the matrix of slopes; reaches the optimum in about five passes";
        Newton: "newton", "Second order, on the matrix of exact second derivatives, where that is positive";
        Lbfgs: "lbfgs", "Limited-memory BFGS; needs no matrix, holds no bounds";
        Adam: "adam", "First order, Kingma and Ba (2015)";
        Adagrad: "adagrad", "First order, Duchi, Hazan and Singer (2011)";
        Sgd: "sgd", "First order: gradient descent with momentum 0.9";
    }
}

/// Largest number of parameters for which `auto` takes a matrix method.
pub const LARGEST_MATRIX: usize = 6_000;

/// Up to this many parameters a matrix costs next to nothing.
const LARGEST_SMALL: usize = 500;

/// Positions per parameter from which a larger matrix pays.
const FILLED: usize = 20;

impl Optimizer {
    /// Resolves `auto`: a matrix method where it pays or bounds need it.
    pub fn resolve(self, parameters: usize, positions: usize, bounded: bool) -> Optimizer {
        let filled = parameters <= LARGEST_SMALL || positions >= FILLED * parameters;
        match self {
            Optimizer::Auto if parameters <= LARGEST_MATRIX && (filled || bounded) => Optimizer::GaussNewton,
            Optimizer::Auto if bounded => Optimizer::Adam,
            Optimizer::Auto => Optimizer::Lbfgs,
            named => named,
        }
    }

    pub fn first_order(self) -> bool {
        matches!(self, Optimizer::Adam | Optimizer::Adagrad | Optimizer::Sgd)
    }

    pub fn epochs(self) -> usize {
        match self {
            Optimizer::Auto | Optimizer::GaussNewton | Optimizer::Newton => 50,
            Optimizer::Lbfgs => 300,
            Optimizer::Adam | Optimizer::Adagrad | Optimizer::Sgd => 60,
        }
    }

    /// Default first learning rate, in centipawns; for `sgd` in centipawns per unit of gradient.
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
    pub optimizer: Optimizer,
    /// `None` for the optimiser's default.
    pub epochs: Option<usize>,
    /// Positions per step of first-order optimisers, rounded up to whole chunks; 0 for all.
    pub batch: usize,
    pub learning_rate: Option<f32>,
    /// Last learning rate over the first.
    pub final_share: f32,
    pub decay: Decay,
    /// Epochs without a lower validation loss before stopping.
    pub patience: usize,
    /// L2 prior: loss added for a value 100 centipawns from its start.
    pub l2: f64,
    /// True if the data set an L2 prior besides, see `evidence`.
    pub evidence: bool,
    /// Positions that the start values have learnt from, if that is known: as many count for them as the data have
    /// for the optimum. Both losses have about the same shape, so their joint optimum lies between the two by their
    /// numbers of positions.
    pub start_positions: usize,
    /// Rescale the values to the mean absolute evaluation of the start; K follows.
    pub keep_scale: bool,
    pub k: Option<f64>,
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
            evidence: false,
            start_positions: 0,
            keep_scale: false,
            k: None,
            seed: 0,
        }
    }
}

impl Settings {
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
        if !self.l2.is_finite() || self.l2 < 0.0 {
            return Err(Error::usage(format!("the L2 prior cannot be {}", self.l2)));
        }
        Ok(())
    }

    /// Share of `positions` among all that the result rests on.
    pub fn share_of_new(&self, positions: usize) -> f64 {
        positions as f64 / (positions + self.start_positions).max(1) as f64
    }

    /// Positions per chunk, a thread's work: batches consist of several chunks where that pays.
    pub fn chunk(&self) -> usize {
        const LEAST: usize = 2_048;
        match self.batch {
            batch if self.optimizer.first_order() && batch > 0 => {
                batch.div_ceil(batch.div_ceil(CHUNK_POSITIONS).max((batch / LEAST).clamp(1, 4))).max(256)
            }
            _ => CHUNK_POSITIONS,
        }
    }

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
        ] {
            assert!(wrong.validate().is_err(), "{wrong:?}");
        }
    }
}
