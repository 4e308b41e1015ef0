mod files;

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
use patzer_stats::{MOST_GAMES, Pentanomial, Sprt, Statistics, Trinomial};

const EXAMPLES: &str = "Examples:\n  \
    patzer elo --wdl 136,111,96                       136 won, 111 drawn, 96 lost\n  \
    patzer elo --ptnml 34,54,63,64,75                 pairs of games with colours swapped\n  \
    patzer elo --ptnml 34,54,63,64,75 --elo-model logistic --elo0 0 --elo1 10 --json\n  \
    patzer elo games.pgn --elo0 0 --elo1 5            of finished games of any program, in pairs\n  \
    patzer elo machine1.journal machine2.pgn          one test over several machines\n  \
    patzer elo --plan                                 how long will a test of [0, 5] take?\n  \
    patzer elo --plan=-2,0,1,2,4 --elo1 2 --draws 0.7 --bias 90\n  \
    patzer elo --plan --like sprt.journal              with the draws and openings of an earlier test";

/// Compute Elo, normalised Elo, LOS and LLR from games or counts, or plan a test
///
/// Games with the same opening and round and colours exchanged are a pair, wherever they stand in a file.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(group(clap::ArgGroup::new("counts").required(true)))]
pub struct EloArgs {
    /// Games of two players: PGN of any program, journals of patzer; all files are counted together
    #[arg(value_name = "FILES", group = "counts")]
    files: Vec<PathBuf>,

    /// Player whose results count [default: the first of the first file]
    #[arg(long, value_name = "NAME", requires = "files")]
    player: Option<String>,

    /// The opponent [default: the only other]
    #[arg(long, value_name = "NAME", requires = "files")]
    against: Option<String>,

    /// Pairs of games by the first player's score: both lost, loss and draw, even, win and draw, both won
    #[arg(long, value_name = "LL,LD,WL+DD,WD,WW", group = "counts", value_parser = counts::<5>)]
    ptnml: Option<[u64; 5]>,

    /// Single games: won, drawn and lost by the first player
    #[arg(long, value_name = "W,D,L", group = "counts", value_parser = counts::<3>)]
    wdl: Option<[u64; 3]>,

    /// Expected games and chance to pass of a test, for true differences in Elo of the model
    /// [default: five around the hypotheses]
    #[arg(long, value_name = "ELO,...", group = "counts", num_args = 0..=1, require_equals = true,
        value_delimiter = ',', allow_negative_numbers = true)]
    plan: Option<Vec<f64>>,

    /// Share of single games that are drawn, 0 to 1
    #[arg(long, value_name = "P", default_value_t = 0.5, requires = "plan", help_heading = "Plan")]
    draws: f64,

    /// Advantage that an opening gives to one colour, in Elo
    #[arg(long, value_name = "ELO", default_value_t = 0.0, requires = "plan", help_heading = "Plan")]
    bias: f64,

    /// Take draws and bias from the games of a match with the same book: its journal or PGN with a journal beside it
    #[arg(long, value_name = "FILE", requires = "plan", conflicts_with_all = ["draws", "bias"], help_heading = "Plan")]
    like: Option<PathBuf>,

    /// Tests to simulate beside the formula; 0 for none
    #[arg(long, value_name = "N", default_value_t = 1000, requires = "plan", help_heading = "Plan",
        value_parser = clap::value_parser!(u64).range(..=10_000_000))]
    simulations: u64,

    /// Seed of the simulation
    #[arg(long, value_name = "N", default_value_t = 0, requires = "plan", help_heading = "Plan")]
    seed: u64,

    #[command(flatten)]
    hypotheses: HypothesisArgs,
}

/// Parses `N` counts with commas between them.
fn counts<const N: usize>(text: &str) -> std::result::Result<[u64; N], Error> {
    let parse = |part: &str| part.trim().parse().ok().filter(|&count| count <= MOST_GAMES);
    let counts = text.split(',').map(parse).collect::<Option<Vec<u64>>>();
    let counts = counts.and_then(|counts| counts.try_into().ok());
    counts.ok_or_else(|| Error::usage(format!("write {N} counts with commas between them")))
}

pub fn run(args: &EloArgs, ui: &Ui) -> Result<Status> {
    let test = args.hypotheses.test()?;
    if let Some(differences) = &args.plan {
        patzer_io::interrupt::listen();
        return ui.result(&plan(args, &test, differences, ui)?);
    }
    if !args.files.is_empty() {
        patzer_io::interrupt::listen();
        return ui.result(&files::statistics(args, &test, ui)?);
    }
    let games = args.wdl.map(|[wins, draws, losses]| Trinomial { wins, draws, losses });
    let pentanomial = args.ptnml.map(Pentanomial);
    ui.result(&Statistics::new(&test, games, pentanomial)?)
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

fn plan(args: &EloArgs, test: &Sprt, differences: &[f64], ui: &Ui) -> Result<TestPlan> {
    let given = Conditions { draws: args.draws, bias: args.bias };
    let conditions = args.like.as_deref().map_or(Ok(given), |file| conditions_of(file, ui))?;
    let usual = usual_differences(test);
    let differences = if differences.is_empty() { &usual[..] } else { differences };
    let rows = ui.with_progress("simulate", differences.len() as u64, |bar| {
        let row = |&difference: &f64| {
            let row = PlanRow::new(test, difference, conditions, args.simulations, args.seed)?;
            bar.inc(1);
            Ok(row)
        };
        differences.iter().map(row).collect::<Result<_>>()
    })?;
    Ok(TestPlan {
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
