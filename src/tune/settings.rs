//! How to tune: the settings, their defaults, and what makes sense.

use serde::Serialize;

use crate::error::{Error, Result};
use crate::eval::hce::{COUNT, TERMS, Term};

/// Settings of tuning; the defaults suit a few hundred thousand positions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Settings {
    /// Most passes over the training positions.
    pub epochs: usize,
    /// Positions in a batch, that is for one step; rounded up to a multiple of 1,024.
    pub batch: usize,
    /// Learning rate of the first epoch, in centipawns: about how far one step moves a weight.
    pub learning_rate: f32,
    /// Learning rate of the last epoch; between, it follows a quarter of a cosine wave.
    pub final_learning_rate: f32,
    /// Stop when the validation loss has not fallen for so many epochs.
    pub patience: usize,
    /// Pull towards the initial weights: the loss added for a value 100 centipawns away from its start.
    pub l2: f32,
    /// Names of the terms to tune, such as `material`; empty for all. The others keep their weights.
    pub terms: Vec<String>,
    /// K of the sigmoid; `None` to fit it to the initial weights.
    pub k: Option<f64>,
    /// Seed of the order of positions.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            epochs: 60,
            batch: 16_384,
            learning_rate: 1.0,
            final_learning_rate: 0.01,
            patience: 15,
            l2: 0.0,
            terms: Vec::new(),
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
        self.check().map(|_| ())
    }

    /// Checks the settings and returns which weights they tune.
    pub(super) fn check(&self) -> Result<[bool; COUNT]> {
        let above_zero = |name: &str, value: f64| {
            let fine = value.is_finite() && value > 0.0;
            fine.then_some(()).ok_or_else(|| Error::usage(format!("{name} has to be above 0, not {value}")))
        };
        above_zero("the number of epochs", self.epochs as f64)?;
        above_zero("the batch", self.batch as f64)?;
        above_zero("the patience", self.patience as f64)?;
        above_zero("the learning rate", self.learning_rate.into())?;
        above_zero("the last learning rate", self.final_learning_rate.into())?;
        above_zero("K", self.k.unwrap_or(1.0))?;
        if !self.l2.is_finite() || self.l2 < 0.0 {
            return Err(Error::usage(format!("the pull towards the start cannot be {}", self.l2)));
        }
        let mut tuned = [self.terms.is_empty(); COUNT];
        for name in &self.terms {
            let term = Term::named(name).ok_or_else(|| {
                let known: Vec<&str> = TERMS.iter().map(|term| term.name).collect();
                Error::usage(format!("`{name}` is not a term; there are {}", known.join(", ")))
            })?;
            tuned[term.range()].fill(true);
        }
        Ok(tuned)
    }

    /// The learning rate of an epoch, counted from 1 (Loshchilov and Hutter, 2017, without restarts).
    pub(super) fn rate(&self, epoch: usize) -> f32 {
        let done = (epoch - 1) as f32 / self.epochs.saturating_sub(1).max(1) as f32;
        let share = 0.5 * (1.0 + (std::f32::consts::PI * done).cos());
        self.final_learning_rate + (self.learning_rate - self.final_learning_rate) * share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_falls_from_the_first_to_the_last() {
        let settings = Settings { epochs: 11, ..Settings::default() };
        assert_eq!(settings.rate(1), settings.learning_rate);
        assert!((settings.rate(11) - settings.final_learning_rate).abs() < 1e-6);
        assert!((1..11).all(|epoch| settings.rate(epoch + 1) < settings.rate(epoch)));
        assert_eq!(Settings { epochs: 1, ..settings.clone() }.rate(1), settings.learning_rate);
    }

    #[test]
    fn terms_select_their_weights_and_nothing_else() {
        let settings = Settings { terms: vec!["material".into(), "tempo".into()], ..Settings::default() };
        let tuned = settings.check().unwrap();
        assert_eq!(tuned.iter().filter(|tuned| **tuned).count(), 6);
        let wrong = Settings { terms: vec!["magic".into()], ..Settings::default() };
        let reason = wrong.check().unwrap_err().to_string();
        assert!(reason.contains("`magic` is not a term; there are material, psqt"), "{reason}");
    }

    #[test]
    fn settings_without_sense_are_refused() {
        let default = Settings::default;
        for wrong in [
            Settings { epochs: 0, ..default() },
            Settings { batch: 0, ..default() },
            Settings { patience: 0, ..default() },
            Settings { learning_rate: 0.0, ..default() },
            Settings { final_learning_rate: f32::NAN, ..default() },
            Settings { k: Some(-1.0), ..default() },
            Settings { l2: -1.0, ..default() },
        ] {
            assert!(wrong.check().is_err(), "{wrong:?}");
        }
    }
}
