//! Arguments of games that are simulated.

use patzer_stats::plan::Conditions;

/// Games by their probabilities alone.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Games")]
pub struct SimulatedGamesArgs {
    /// Share of single games that are drawn, 0 to 1
    #[arg(long, value_name = "P", default_value_t = 0.5)]
    draws: f64,

    /// Advantage that an opening gives to one colour, in Elo
    #[arg(long, value_name = "ELO", default_value_t = 0.0)]
    bias: f64,

    /// Seed of the simulation
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

impl SimulatedGamesArgs {
    pub fn conditions(&self) -> Conditions {
        Conditions { draws: self.draws, bias: self.bias }
    }
}
