//! Screens of changes of known effect, instead of games.

use std::fmt;

use serde::Serialize;

use super::settings::SettingArgs;
use crate::simulated_games::SimulatedGamesArgs;
use crate::{Result, Status, Ui};
use patzer_experiments::screen::Factors;
use patzer_experiments::screen::simulate::{Simulated, simulate};

const EXAMPLES: &str = "Examples:\n  \
    patzer screen simulate --effects 10,5,0,0,-5 --games 20000              what would it find?\n  \
    patzer screen simulate --effects 3,3,3,0,0,0,0 --worth 1 --count 2000   how many games with a least worth?";

/// Simulate screens of changes of known effect
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SimulateArgs {
    /// Elo of each change
    #[arg(long, value_name = "ELO,…", required = true, value_delimiter = ',', allow_hyphen_values = true)]
    effects: Vec<f64>,

    /// Number of screens to simulate
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    count: u64,

    #[command(flatten)]
    settings: SettingArgs,

    /// Games at most, in whole pairs
    #[arg(long, value_name = "N", default_value_t = 20_000, help_heading = "Games", value_parser = clap::value_parser!(u64).range(2..=1_000_000_000))]
    games: u64,

    #[command(flatten)]
    simulated: SimulatedGamesArgs,
}

#[derive(Serialize)]
struct SimulationResult {
    changes: usize,
    draws: f64,
    bias: f64,
    #[serde(rename = "simulated")]
    found: Simulated,
}

pub(super) fn run(args: &SimulateArgs, ui: &Ui) -> Result<Status> {
    crate::interrupt::listen()?;
    let changes = args.effects.len();
    let design = args.settings.design(Factors::unnamed(changes), Vec::new(), args.simulated.seed)?;
    let conditions = args.simulated.conditions();
    let found = simulate(&design, &args.effects, args.games.div_ceil(2), conditions, args.count)?;
    ui.result(&SimulationResult { changes, draws: conditions.draws, bias: conditions.bias, found })
}

impl fmt::Display for SimulationResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = &self.found;
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        writeln!(
            f,
            "{} screens of {} changes, {:.0} games each on average",
            s.screens, self.changes, s.games
        )?;
        writeln!(f, "decided                     {} of the changes", percent(s.decided))?;
        writeln!(f, "kept                        {} of the changes that gain", percent(s.kept))?;
        writeln!(f, "a wrong decision            {} of the screens", percent(s.wrong))?;
        writeln!(f, "a bound wrong at some time  {} of the screens", percent(s.missed))?;
        writeln!(f, "95 % intervals that hold    {}", percent(s.coverage))?;
        writeln!(f, "error of an effect          {:.2} Elo", s.error)?;
        for (name, bias, share) in [
            ("plain estimates", s.bias, s.too_far),
            ("unbiased estimates", s.unbiased_bias, s.unbiased_too_far),
        ] {
            let share = percent(share);
            writeln!(f, "{name:<27} {share} too far from 0, by {bias:+.2} Elo on average")?;
        }
        write!(f, "their 95 % intervals        {} hold", percent(s.unbiased_coverage))
    }
}
