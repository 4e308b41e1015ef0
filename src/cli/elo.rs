//! `patzer elo`: the statistics of a match from its counts.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::cli::sprt::HypothesisArgs;
use crate::cli::{Status, Ui};
use crate::error::{Error, Result};
use crate::stats::interval::exact_proportion;
use crate::stats::{Counts, Estimate, Model, Pentanomial, Sprt, Trinomial, Verdict};

const EXAMPLES: &str = "Examples:\n  \
    patzer elo --wdl 136,111,96                       136 won, 111 drawn, 96 lost\n  \
    patzer elo --ptnml 34,54,63,64,75                 pairs of games with colours swapped\n  \
    patzer elo --ptnml 34,54,63,64,75 --model logistic --elo0 0 --elo1 10 --json";

/// Work out Elo, normalised Elo, LOS and LLR from the counts of a match
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(group(clap::ArgGroup::new("counts").required(true)))]
pub struct EloArgs {
    /// Pairs of games by the first player's score: both lost, loss and draw, even, win and draw, both won
    #[arg(long, value_name = "LL,LD,WL+DD,WD,WW", group = "counts")]
    ptnml: Option<Numbers<5>>,

    /// Single games: won, drawn and lost by the first player
    #[arg(long, value_name = "W,D,L", group = "counts")]
    wdl: Option<Numbers<3>>,

    #[command(flatten)]
    hypotheses: HypothesisArgs,
}

/// `N` counts with commas between them.
#[derive(Debug, Clone, Copy)]
struct Numbers<const N: usize>([u64; N]);

impl<const N: usize> FromStr for Numbers<N> {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        // Beyond this, sums would not be exact.
        const MOST: u64 = 1_000_000_000_000_000;
        let wrong = || format!("write {N} counts with commas between them");
        let parse = |part: &str| part.trim().parse().ok().filter(|&count| count <= MOST).ok_or_else(wrong);
        let counts: Vec<u64> = text.split(',').map(parse).collect::<std::result::Result<_, _>>()?;
        counts.try_into().map(Numbers).map_err(|_| wrong())
    }
}

/// What the counts say; the keys are those of `sprt`.
#[derive(Debug, Serialize)]
struct Statistics {
    #[serde(flatten)]
    games: Option<Trinomial>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pentanomial: Option<Pentanomial>,
    #[serde(flatten)]
    estimate: Estimate,
    llr: f64,
    lower: f64,
    upper: f64,
    verdict: Verdict,
    /// Exact 95 % interval of the share of wins among decided games.
    #[serde(skip_serializing_if = "Option::is_none")]
    decided_interval: Option<(f64, f64)>,
    #[serde(skip)]
    hypotheses: String,
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Estimate { elo, elo_error, nelo, nelo_error, los } = self.estimate;
        if let Some(games) = self.games {
            let Trinomial { wins, draws, losses } = games;
            writeln!(f, "games       {}: {wins} won, {draws} drawn, {losses} lost", games.games())?;
        }
        if let Some(pairs) = self.pentanomial {
            writeln!(f, "pairs       {}: {:?} (LL, LD, WL+DD, WD, WW)", pairs.pairs(), pairs.0)?;
        }
        writeln!(f, "Elo         {elo:+.2} ± {elo_error:.2}")?;
        writeln!(f, "normalised  {nelo:+.2} ± {nelo_error:.2}")?;
        writeln!(f, "LOS         {:.2} %", 100.0 * los)?;
        if let Some((low, high)) = self.decided_interval {
            writeln!(f, "decided     {:.2} to {:.2} % won (exact, 95 %)", 100.0 * low, 100.0 * high)?;
        }
        writeln!(
            f,
            "LLR         {:+.6} ({:.3}, {:.3}) for {}",
            self.llr, self.lower, self.upper, self.hypotheses
        )?;
        match self.verdict {
            Verdict::H1 => write!(f, "verdict     H1 accepted"),
            Verdict::H0 => write!(f, "verdict     H0 accepted"),
            Verdict::Undecided => write!(f, "verdict     undecided"),
        }
    }
}

/// Runs the command.
///
/// # Errors
/// If the hypotheses make no sense, or need other counts than were given.
pub fn run(args: &EloArgs, ui: &Ui) -> Result<Status> {
    let test = args.hypotheses.test()?;
    let games = args.wdl.map(|Numbers([wins, draws, losses])| Trinomial { wins, draws, losses });
    let pentanomial = args.ptnml.map(|Numbers(counts)| Pentanomial(counts));
    ui.result(&statistics(&test, games, pentanomial)?)?;
    Ok(Status::Done)
}

fn statistics(test: &Sprt, games: Option<Trinomial>, pairs: Option<Pentanomial>) -> Result<Statistics> {
    let counts = match (games, pairs) {
        (Some(games), _) => Counts::from(games),
        (None, Some(_)) if test.model() == Model::Bayesian => {
            return Err(Error::usage("--model bayesian counts single games: give --wdl W,D,L"));
        }
        (None, Some(pairs)) => Counts::from(pairs),
        (None, None) => return Err(Error::usage("no counts: give --ptnml or --wdl")),
    };
    let llr = test.llr(counts);
    Ok(Statistics {
        games,
        pentanomial: pairs,
        estimate: Estimate::new(counts),
        llr,
        lower: test.lower(),
        upper: test.upper(),
        verdict: test.verdict(llr),
        decided_interval: games.map(|g| exact_proportion(g.wins, g.wins + g.losses, 0.95)),
        hypotheses: test.to_string(),
    })
}
