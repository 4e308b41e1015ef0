//! `patzer moves`: arguments and wiring that its commands share.

mod fit;
mod predict;

use std::path::PathBuf;

use crate::prepare::default_dataset;
use crate::{Status, Ui};
use patzer_fit::moves::choices::DrawnChoices;
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

impl ChoiceArgs {
    /// Draws up to `most` choices and reports what was left out.
    fn read(&self, most: usize, ui: &Ui) -> Result<DrawnChoices> {
        let paths = if self.data.is_empty() { vec![default_dataset()?] } else { self.data.clone() };
        let bar = ui.progress("reading", 0);
        let drawn = DrawnChoices::read(&paths, most, self.seed, |positions| bar.inc(positions))?;
        bar.finish_and_clear();
        let reasons: Vec<String> = drawn.dropped.iter().map(|(reason, n)| format!("{reason} {n}")).collect();
        let taken = drawn.choices.len();
        ui.note(format!("{} positions read, {taken} taken; not taken: {}", drawn.read, reasons.join(", ")));
        if drawn.choices.is_empty() {
            return Err(Error::data(&paths[0], "no position with two legal moves and the move played"));
        }
        Ok(drawn)
    }
}
