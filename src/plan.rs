//! Length of a sequential test before it is played.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::sprt::HypothesisArgs;
use crate::{Error, Result, Status, Ui};
use patzer_io::number::grouped;
use patzer_match::Tally;
use patzer_match::journal;
use patzer_match::record::{PairEntry, journal_of};
use patzer_stats::plan::{Conditions, Expectation, PlanRow, usual_differences};

const EXAMPLES: &str = "Examples:\n  \
    patzer plan                                  how long will a test of [0, 5] take?\n  \
    patzer plan -2,0,1,2,4 --elo1 2 --draws 0.7 --bias 90\n  \
    patzer plan --like sprt.journal              with the draws and openings of an earlier test";

/// Plan a test: its expected games and chance to pass
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct PlanArgs {
    /// True differences of the players, in Elo of the model [default: five around the hypotheses]
    #[arg(value_name = "ELO,…", value_parser = differences, allow_hyphen_values = true)]
    differences: Option<Differences>,

    #[command(flatten)]
    hypotheses: HypothesisArgs,

    /// Share of single games that are drawn, 0 to 1
    #[arg(long, value_name = "P", default_value_t = 0.5, help_heading = "Games")]
    draws: f64,

    /// Advantage that an opening gives to one colour, in Elo
    #[arg(long, value_name = "ELO", default_value_t = 0.0, help_heading = "Games")]
    bias: f64,

    /// Take draws and bias from the games of a match with the same book: its journal or PGN with a journal beside it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["draws", "bias"], help_heading = "Games")]
    like: Option<PathBuf>,

    /// Tests to simulate beside the formula; 0 for none
    #[arg(long, value_name = "N", default_value_t = 1000, help_heading = "Simulation",
        value_parser = clap::value_parser!(u64).range(..=10_000_000))]
    simulations: u64,

    /// Seed of the simulation
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Simulation")]
    seed: u64,
}

#[derive(Debug, Serialize)]
struct TestPlan {
    hypotheses: String,
    draws: f64,
    /// Logistic Elo.
    bias: f64,
    simulations: u64,
    rows: Vec<PlanRow>,
}

/// Values of one argument, so that options may follow a negative one.
#[derive(Debug, Clone)]
struct Differences(Vec<f64>);

fn differences(text: &str) -> std::result::Result<Differences, &'static str> {
    let elo: std::result::Result<_, _> = text.split(',').map(|elo| elo.trim().parse()).collect();
    elo.map(Differences).map_err(|_| "write Elo with commas between, such as -2,0,2")
}

pub fn run(args: &PlanArgs, ui: &Ui) -> Result<Status> {
    patzer_io::interrupt::listen()?;
    let test = &args.hypotheses.test()?;
    let given = Conditions { draws: args.draws, bias: args.bias };
    let conditions = args.like.as_deref().map_or(Ok(given), |file| conditions_of(file, ui))?;
    let usual = usual_differences(test);
    let differences = args.differences.as_ref().map_or(&usual[..], |given| &given.0);
    let rows = ui.with_progress("simulate", differences.len() as u64, |bar| {
        let row = |&difference: &f64| {
            let row = PlanRow::new(test, difference, conditions, args.simulations, args.seed)?;
            bar.inc(1);
            Ok(row)
        };
        differences.iter().map(row).collect::<Result<_>>()
    })?;
    ui.result(&TestPlan {
        hypotheses: test.to_string(),
        draws: conditions.draws,
        bias: conditions.bias,
        simulations: args.simulations,
        rows,
    })
}

/// Measures the conditions of a match.
fn conditions_of(file: &Path, ui: &Ui) -> Result<Conditions> {
    let journal = journal_of(file);
    let mut tally = Tally::default();
    journal::read::<PairEntry>(&journal)?.entries.iter().for_each(|entry| tally.add(entry));
    let measured = Conditions::measured(tally.games, tally.pairs);
    let conditions = measured.ok_or_else(|| Error::data(&journal, "holds no games"))?;
    let (games, draws) = (grouped(tally.games.games()), 100.0 * conditions.draws);
    let (journal, bias) = (journal.display().to_string(), conditions.bias);
    let journal = patzer_io::printable(&journal);
    ui.note(format!("{journal}: {games} games, {draws:.1} % drawn, openings {bias:.0} Elo apart"));
    Ok(conditions)
}

impl fmt::Display for TestPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hypotheses, draws, bias) = (&self.hypotheses, 100.0 * self.draws, self.bias);
        writeln!(f, "{hypotheses}; {draws:.0} % of games drawn, openings {bias:.0} Elo apart")?;
        write!(f, "\n{:>9}  {:>9}  {:>8}  {:>11}", "Elo", "nElo", "passes", "games")?;
        if self.simulations > 0 {
            let title = format!("{} simulated: passes", grouped(self.simulations));
            write!(f, "  {title:>26}  {:>11}  {:>11}  {:>11}", "games", "half within", "95 % within")?;
        }
        for row in &self.rows {
            let Expectation { pass, games } = row.expected;
            let games = grouped(games.round() as u64);
            // No -0.00.
            let [elo, nelo] = [row.elo, row.nelo].map(|elo| (100.0 * elo).round() / 100.0 + 0.0);
            write!(f, "\n{elo:>+9.2}  {nelo:>+9.2}  {:>6.2} %  {games:>11}", 100.0 * pass)?;
            if let Some(seen) = row.simulated {
                let passes = format!("{:.2} ± {:.2} %", 100.0 * seen.pass, 100.0 * seen.pass_error);
                let [games, median, most] =
                    [seen.games.round() as u64, seen.games_median, seen.games_95].map(grouped);
                write!(f, "  {passes:>26}  {games:>11}  {median:>11}  {most:>11}")?;
                if seen.undecided > 0 {
                    write!(f, "  {} undecided", seen.undecided)?;
                }
            }
        }
        Ok(())
    }
}
