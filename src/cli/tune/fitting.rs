//! The arguments of a fit, shared by the bundled evaluation and by traces.

use super::TuneArgs;
use crate::optim::Decay;
use crate::tune::{Optimizer, Settings};

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Fitting of weights (with --hce or --traces)")]
pub(super) struct FitArgs {
    /// How to look for the optimum
    #[arg(long, value_enum, default_value = "auto", value_name = "NAME")]
    optimizer: Optimizer,

    /// Terms that keep their weights, with commas between them
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub(super) fix: Vec<String>,

    /// Pull towards the initial weights: the loss added for a weight 100 centipawns away from its start
    #[arg(long, value_name = "LOSS", default_value_t = 0.0, allow_negative_numbers = true)]
    l2: f64,

    /// Stop when the validation loss has not fallen for so many epochs
    #[arg(long, value_name = "N", default_value_t = Settings::default().patience)]
    patience: usize,

    /// How the learning rate falls over the epochs of a first-order optimiser, to a hundredth
    #[arg(long, value_enum, default_value = "cosine", value_name = "NAME")]
    schedule: Decay,
}

impl FitArgs {
    /// The settings of a fit.
    pub(super) fn settings(&self, args: &TuneArgs) -> Settings {
        let default = Settings::default();
        Settings {
            optimizer: self.optimizer,
            epochs: args.epochs,
            batch: args.batch.unwrap_or(default.batch),
            learning_rate: args.learning_rate,
            decay: self.schedule,
            patience: self.patience,
            l2: self.l2,
            k: args.k.map(f64::from),
            seed: args.seed.unwrap_or(default.seed),
            ..default
        }
    }
}
