mod fit;
mod predict;

use std::path::PathBuf;

use crate::prepare::{InputFormat, files_or_default};
use crate::{Error, Result, Status, Ui, interrupt};
use patzer_fit::moves::choices::{DrawnChoices, Target};
use patzer_io::number::grouped;

/// Move prediction: how often an engine would play the moves of games, and a model of move features
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer extract games.pgn\n  \
    patzer moves predict --nodes 1000 --nodes 10000     how often the played move is the engine's first, second …\n  \
    patzer moves fit -o moves.toml                      what makes a move likely: strengths of its features\n  \
    patzer moves predict --table moves.toml             the two beside each other")]
pub struct MovesArgs {
    #[command(subcommand)]
    command: Command,
}

commands! {
    Predict(predict::PredictArgs),
    Fit(fit::FitArgs),
}

pub fn run(args: &MovesArgs, ui: &Ui) -> Result<Status> {
    interrupt::listen()?;
    args.command.run(ui)
}

/// Selection of choices.
#[derive(Debug, clap::Args)]
struct ChoiceArgs {
    /// Datasets of positions with their moves, in any format, best of whole games
    /// [default: the newer of positions.parquet and labelled.parquet]
    #[arg(value_name = "DATA")]
    data: Vec<PathBuf>,

    #[command(flatten)]
    format: InputFormat,

    /// Seed of the choice of positions
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

impl ChoiceArgs {
    fn read(&self, most: usize, target: Target, ui: &Ui) -> Result<DrawnChoices> {
        let paths = files_or_default(&self.data)?;
        let drawn = ui.with_progress("reading", 0, |bar| {
            DrawnChoices::read(
                &paths,
                &ui.read_options(self.format.input_format),
                most,
                self.seed,
                target,
                |positions| bar.inc(positions),
            )
        })?;
        let reasons: Vec<String> =
            drawn.dropped.iter().map(|(reason, n)| format!("{reason} {}", grouped(*n))).collect();
        let (read, taken) = (grouped(drawn.read), grouped(drawn.choices.len() as u64));
        ui.note(format!("{read} positions read, {taken} taken; not taken: {}", reasons.join(", ")));
        if drawn.choices.is_empty() {
            return Err(Error::data(&paths[0], "no position with two legal moves and the move played"));
        }
        Ok(drawn)
    }
}
