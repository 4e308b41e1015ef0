//! Arguments common to screens and their simulation.

use serde::{Deserialize, Serialize};

use crate::Result;
use patzer_experiments::screen::{Design, Factors, Levels};

/// Decisions of a screen.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(next_help_heading = "Screen")]
pub struct SettingArgs {
    /// Elo that a change must be worth: it is dropped once it is known to be worth less
    #[arg(long, value_name = "ELO", default_value_t = 0.0, allow_negative_numbers = true)]
    worth: f64,

    /// Probability that all bounds hold together, at any time
    #[arg(
        long,
        hide_short_help = true,
        value_name = "P",
        default_value_t = 0.95,
        allow_negative_numbers = true
    )]
    confidence: f64,

    /// Probability of a player to play with an open change; a small one measures each change beside few of the others
    #[arg(
        long,
        hide_short_help = true,
        value_name = "P",
        default_value_t = 0.5,
        allow_negative_numbers = true
    )]
    share: f64,

    /// Pairs assigned at once, from the results up to the batch before the last; more boards than this wait
    #[arg(long, hide_short_help = true, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pairs: u32,

    /// Let no change leave the games before their end
    #[arg(long, hide_short_help = true)]
    fixed: bool,
}

impl SettingArgs {
    /// Makes a design of the settings, and checks it.
    pub fn design(&self, factors: Factors, builds: Vec<Levels>, seed: u64) -> Result<Design> {
        let SettingArgs { worth, confidence, share, pairs, fixed } = *self;
        let batch = pairs as usize;
        let design = Design { factors, builds, confidence, worth, share, batch, seed, fixed };
        design.check().map(|()| design)
    }
}
