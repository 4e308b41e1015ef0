use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use super::ChoiceArgs;
use crate::named::named;
use crate::prepare::{Split, check_new_output};
use crate::{Error, Result, Status, Ui, interrupt};
use patzer_fit::beside;
use patzer_fit::moves::choices::Target;
use patzer_fit::moves::model::{Fit, Level, Settings, fit};
use patzer_fit::moves::quality::{Quality, gain, quality};
use patzer_fit::moves::source::{self, Language};
use patzer_fit::moves::table;
use patzer_fit::moves::terms::{MOST_STRENGTHS, Term};
use patzer_io as io;
use patzer_io::number::grouped;

/// Fit the strengths of move features: what is taken, the exchange, check, recapture, distance, threats, history
///
/// A move is played with a chance in proportion to the product of its features' strengths (Bradley-Terry, fitted by
/// minorisation-maximisation as by Coulom, 2007). The table gives an ordering of moves that knows no search.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer moves fit                                   positions.parquet → moves.toml\n  \
    patzer moves fit games.parquet --count 500000 -o moves.toml --json\n  \
    patzer moves fit selfplay.parquet --visits         the visits of `selfplay --search mcts`\n  \
    patzer moves fit --interact capture:threat         two features that matter otherwise together\n  \
    patzer moves fit --export c,rust                   also moves.h and moves.rs, for an engine's ordering")]
pub struct FitArgs {
    #[command(flatten)]
    choices: ChoiceArgs,

    /// Fit how often the search by playouts visited each move, in proportion, rather than the move played
    #[arg(long)]
    visits: bool,

    /// Pairs of features with strengths of their own for both levels together, beyond the product of theirs; with
    /// commas between them
    #[arg(long, value_name = "FEATURE:FEATURE", value_delimiter = ',', value_parser = Term::parse)]
    interact: Vec<Term>,

    /// Number of positions to sample
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,

    /// Share of the games held out, 0 to below 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    validation: f64,

    /// Iterations at most
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..))]
    iterations: u32,

    /// Table to write
    #[arg(short, long, value_name = "FILE", default_value = "moves.toml")]
    output: PathBuf,

    /// Form in which the strengths are also written, beside the table: source code; with commas between them
    #[arg(long, value_name = "FORM", value_delimiter = ',', value_parser = named::<Language>())]
    export: Vec<Language>,
}

#[derive(Serialize)]
struct FitResult {
    positions_read: u64,
    dropped: BTreeMap<&'static str, u64>,
    train: Quality,
    held_out: Quality,
    #[serde(skip_serializing_if = "Option::is_none")]
    without_interactions: Option<Without>,
    iterations: usize,
    converged: bool,
    strengths: BTreeMap<String, BTreeMap<String, [f64; 2]>>,
    #[serde(skip)]
    terms: Vec<Term>,
    #[serde(serialize_with = "patzer_io::path_text")]
    output: PathBuf,
}

/// The model without its pairs of features, fitted to the same choices.
#[derive(Serialize)]
struct Without {
    train: Quality,
    held_out: Quality,
    /// Gain of the pairs on held-out choices, in nats a choice, and its standard error.
    gain: [f64; 2],
}

impl FitResult {
    fn table(fit: &Fit) -> BTreeMap<String, BTreeMap<String, [f64; 2]>> {
        let rows = |(term, levels): (&Term, &Vec<Level>)| {
            let named = |(at, level): (usize, &Level)| (term.level_name(at), [level.gamma, level.error]);
            (term.name(), levels.iter().enumerate().map(named).collect())
        };
        fit.terms.iter().zip(&fit.levels).map(rows).collect()
    }
}

const SHOWN: usize = 12;

impl fmt::Display for FitResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut models = vec![("fitted", &self.train), ("held out", &self.held_out)];
        if let Some(without) = &self.without_interactions {
            let [gain, error] = without.gain;
            writeln!(f, "          {gain:+.4} ± {error:.4} nats a choice held out by interactions")?;
            models.push(("  without", &without.held_out));
        }
        for (name, quality) in models {
            let Quality { choices, log_likelihood, error, attainable, uniform, among, by_exchange } = quality;
            let (choices, chance) = (grouped(*choices), 100.0 * log_likelihood.exp());
            write!(f, "{name:<9} {choices} choices: {log_likelihood:.4} ± {error:.4} nats a choice")?;
            write!(f, " (a chance of {chance:.1} %; {uniform:.4} if all moves were equal")?;
            match *attainable < 0.0 {
                true => writeln!(f, ", {attainable:.4} if all visits were known)")?,
                false => writeln!(f, ")")?,
            }
            let percent = |shares: &[f64]| {
                shares.iter().map(|share| format!("{:.1}", 100.0 * share)).collect::<Vec<_>>().join(", ")
            };
            let (own, exchanges) = (percent(among), percent(by_exchange));
            writeln!(f, "          {own} % of moves played among the first one, two, … five")?;
            writeln!(f, "          {exchanges} % in order of exchange and piece taken")?;
        }
        let end = if self.converged { "" } else { "; not converged, allow more with --iterations" };
        writeln!(f, "          {} iterations{end}\n", self.iterations)?;
        for term in &self.terms {
            let shown = |level: &usize| matches!(term, Term::Group(_)) || term.is_free(*level);
            let levels: Vec<usize> = (0..term.level_count()).filter(shown).collect();
            if levels.len() > SHOWN {
                continue;
            }
            writeln!(f, "{} ({})", term.name(), term.doc())?;
            for level in levels {
                let name = term.level_name(level);
                let [gamma, error] = self.strengths[&term.name()][&name];
                writeln!(f, "  {name:<28} {gamma:>8.3}  × or ÷ {:.2}", error.exp())?;
            }
        }
        write!(f, "\nwritten   {}", patzer_io::Printable(self.output.display()))
    }
}

pub fn run(args: &FitArgs, ui: &Ui) -> Result<Status> {
    Split { validation: args.validation, seed: args.choices.seed }.check()?;
    check_pairs(&args.interact)?;
    let exports = beside(&args.output, args.export.iter().map(|language| language.ending()))?;
    for output in exports.iter().chain([&args.output]) {
        check_new_output(output, &args.choices.data, "inputs")?;
    }
    let target = if args.visits { Target::Visits } else { Target::Played };
    let drawn = args.choices.read(args.count as usize, target, ui)?;
    let (train, rest) = drawn.split(args.choices.seed, args.validation);
    if train.is_empty() {
        return Err(Error::input("no choices are left to fit; hold out fewer with --validation"));
    }
    let settings = Settings { iterations: args.iterations as usize, ..Settings::default() };
    let fitted = fit(&train, &args.interact, &settings);
    let strengths = fitted.strengths();
    let without = || {
        let even = fit(&train, &[], &settings).strengths();
        let gain = gain(&rest, &strengths, &even);
        Without { train: quality(&train, &even), held_out: quality(&rest, &even), gain }
    };
    let result = FitResult {
        positions_read: drawn.read,
        dropped: drawn.dropped,
        train: quality(&train, &strengths),
        held_out: quality(&rest, &strengths),
        without_interactions: (!args.interact.is_empty()).then(without),
        iterations: fitted.iterations,
        converged: fitted.converged,
        strengths: FitResult::table(&fitted),
        terms: fitted.terms.clone(),
        output: args.output.clone(),
    };
    interrupt::check()?;
    let about = format!(
        "patzer {}: {} choices, {:.4} nats a choice held out of {}",
        env!("CARGO_PKG_VERSION"),
        train.len(),
        result.held_out.log_likelihood,
        rest.len()
    );
    let about = [about];
    io::write(&args.output, table::write(&fitted, &about).as_bytes())?;
    source::save(&strengths, &args.export, &args.output, &about)?;
    ui.result_beside(&args.output, &result)
}

fn check_pairs(pairs: &[Term]) -> Result<()> {
    for (at, pair) in pairs.iter().enumerate() {
        if pairs[..at].contains(pair) {
            return Err(Error::usage(format!("--interact {}: is named twice", pair.name())));
        }
    }
    let free: usize = Term::groups().chain(pairs.iter().copied()).map(Term::free_count).sum();
    match free <= MOST_STRENGTHS {
        true => Ok(()),
        false => Err(Error::usage(format!("--interact: {free} strengths are more than {MOST_STRENGTHS}"))),
    }
}
