//! Races between candidates of known strength, instead of games.

use std::fmt;

use serde::Serialize;

use super::allotment::AllotmentArgs;
use crate::simulated_games::SimulatedGamesArgs;
use crate::{Error, Result, Status, Ui};
use patzer_experiments::race::simulate::{Field, Simulated, simulate};
use patzer_io::Named;

/// Looks at a simulated race, spaced evenly in the logarithm of its games.
const LOOKS: u32 = 60;

const EXAMPLES: &str = "Examples:\n  \
    patzer race simulate --strengths 30,27,20,10,0 --confidence 0.9      what would a race cost?\n  \
    patzer race simulate --strengths 20,10,0 --games 2000 --policy ucb1 --count 10000";

/// Simulate races between candidates of known strength
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SimulateArgs {
    /// Elo of each candidate
    #[arg(long, value_name = "ELO,…", required = true, value_delimiter = ',', allow_hyphen_values = true)]
    strengths: Vec<f64>,

    /// Number of races to simulate
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    count: u64,

    /// Common opponent of all candidates [default: they meet each other]
    ///
    /// Its strength is 0, whatever its name.
    #[arg(long, value_name = "NAME", help_heading = "Race")]
    against: Option<String>,

    #[command(flatten)]
    allotment: AllotmentArgs,

    #[command(flatten)]
    simulated: SimulatedGamesArgs,
}

#[derive(Serialize)]
struct SimulationResult {
    policy: &'static str,
    candidates: usize,
    draws: f64,
    bias: f64,
    #[serde(flatten)]
    simulated: Simulated,
    /// Games from which on the leader is right with 90 %.
    games_until_90: Option<f64>,
}

pub(super) fn run(args: &SimulateArgs, ui: &Ui) -> Result<Status> {
    crate::interrupt::listen()?;
    let settings =
        args.allotment.settings(args.strengths.len(), args.against.is_some(), args.simulated.seed)?;
    if args.strengths.iter().any(|elo| !elo.is_finite()) {
        return Err(Error::usage("--strengths: write Elo of each candidate, such as 30,20,0"));
    }
    let conditions = args.simulated.conditions();
    let field = Field::new(&args.strengths, settings.anchor, conditions)?;
    let simulated = simulate(&settings, &field, &looks(settings.budget), args.count)?;
    ui.result(&SimulationResult {
        policy: settings.policy.name(),
        candidates: settings.candidates,
        draws: conditions.draws,
        bias: conditions.bias,
        games_until_90: simulated.games_until(0.9),
        simulated,
    })
}

/// Numbers of pairs from 10 to the budget.
fn looks(budget: u64) -> Vec<u64> {
    let growth = (budget as f64 / 10.0).max(1.0).powf(1.0 / f64::from(LOOKS));
    let mut looks: Vec<u64> = (0..LOOKS).map(|look| (10.0 * growth.powf(look.into())) as u64).collect();
    looks.push(budget);
    looks.retain(|look| (1..=budget).contains(look));
    looks.dedup();
    looks
}

impl fmt::Display for SimulationResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = &self.simulated;
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        writeln!(f, "{}: {} races of {} candidates", self.policy, s.races, self.candidates)?;
        writeln!(
            f,
            "best found  {}, {} to {}",
            percent(s.found),
            percent(s.found_low),
            percent(s.found_high)
        )?;
        writeln!(
            f,
            "games       {:.0} on average, half within {}, 95 % within {}",
            s.games, s.games_median, s.games_95
        )?;
        writeln!(f, "undecided   {}", s.undecided)?;
        writeln!(f, "a bound wrong at some time  {}", percent(s.missed))?;
        if let Some(games) = self.games_until_90 {
            writeln!(f, "leader right with 90 %  from {games:.0} games on")?;
        }
        write!(f, "\n{:>10}  {:>12}  {:>12}", "games", "leader right", "points lost")?;
        for (games, found, regret) in s.curve.iter().step_by(6) {
            write!(f, "\n{games:>10}  {:>12}  {regret:>12.1}", percent(*found))?;
        }
        Ok(())
    }
}
