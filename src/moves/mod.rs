//! `patzer moves`: which move is played, and why.
//!
//! In: datasets of whole games. Out: one of its commands run. What they share is here: the choices of a dataset.

mod fit;
mod predict;

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::prepare::default_dataset;
use crate::{Status, Ui};
use patzer_chess::rng;
use patzer_chess::rng::mix;
use patzer_data::{AnyReader, Sampler};
use patzer_fit::moves::choices::{Choice, Chooser};
use patzer_io::error::{Error, Result};
use patzer_io::interrupt;

/// Foresee the moves of games: how often engines would have played them, and what they have in common
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer extract games.pgn\n  \
    patzer moves predict --nodes 1000 --nodes 10000     how often the played move is the engine's first, second …\n  \
    patzer moves fit -o moves.toml                      what makes a move likely: strengths of its features\n  \
    patzer moves predict --model moves.toml             the two beside each other")]
pub struct MovesArgs {
    #[command(subcommand)]
    command: Command,
}

// The help of each command is the comment of its arguments.
#[derive(Debug, clap::Subcommand)]
enum Command {
    Predict(predict::PredictArgs),
    Fit(fit::FitArgs),
}

/// Runs the command.
///
/// # Errors
/// As the command that is named.
pub fn run(args: &MovesArgs, ui: &Ui) -> Result<Status> {
    interrupt::listen();
    match &args.command {
        Command::Predict(args) => predict::run(args, ui),
        Command::Fit(args) => fit::run(args, ui),
    }
}

/// Which choices to take.
#[derive(Debug, clap::Args)]
struct ChoiceArgs {
    /// Datasets of positions with their moves, in any format, best of whole games
    /// [default: the newer of positions.parquet and labelled.parquet]
    #[arg(value_name = "DATA")]
    data: Vec<PathBuf>,

    /// Decides which positions are taken
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

/// What became of a dataset's positions.
#[derive(Debug, Default)]
struct Chosen {
    /// Some of the choices, in the order of the data.
    choices: Vec<Choice>,
    /// Positions read.
    read: u64,
    /// Those that are no choice, by reason, and those that were not drawn.
    dropped: BTreeMap<&'static str, u64>,
}

impl ChoiceArgs {
    /// So many choices of the data, drawn by the seed.
    fn gather(&self, most: usize, ui: &Ui) -> Result<Chosen> {
        let paths = if self.data.is_empty() { vec![default_dataset()?] } else { self.data.clone() };
        let (mut out, mut picker) = (Chosen::default(), Sampler::new(most, self.seed));
        let (bar, mut batch) = (ui.progress("reading", 0), Vec::new());
        for (file, path) in (0u64..).zip(&paths) {
            let (mut reader, mut chooser) = (AnyReader::open(path, None)?, Chooser::default());
            while reader.next_batch(&mut batch)? {
                interrupt::check()?;
                bar.inc(batch.len() as u64);
                for sample in &batch {
                    let place = out.read;
                    out.read += 1;
                    if let Some(choice) = chooser.next(sample, file << 32 | u64::from(sample.game)) {
                        picker.offer(place, choice);
                    }
                }
            }
            for (reason, count) in chooser.dropped {
                *out.dropped.entry(reason).or_default() += count;
            }
        }
        bar.finish_and_clear();
        let (choices, not_drawn) = picker.finish();
        out.choices = choices;
        if not_drawn > 0 {
            out.dropped.insert("not_drawn", not_drawn);
        }
        let reasons: Vec<String> = out.dropped.iter().map(|(reason, n)| format!("{reason} {n}")).collect();
        let taken = out.choices.len();
        ui.note(format!("{} positions read, {taken} taken; not taken: {}", out.read, reasons.join(", ")));
        if taken as u64 + out.dropped.values().sum::<u64>() != out.read {
            return Err(Error::internal("positions are not accounted for"));
        }
        if out.choices.is_empty() {
            let name = paths[0].display();
            return Err(Error::usage(format!(
                "{name}: no position with two legal moves and the move played"
            )));
        }
        Ok(out)
    }
}

/// Whether the choices of a game are held out.
fn held_out(seed: u64, game: u64, share: f64) -> bool {
    rng::unit(mix(seed ^ 0x6d6f_7665, game)) < share
}
