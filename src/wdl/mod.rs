mod check;
mod k;
mod model;

use std::path::PathBuf;

use clap::Args;
use indicatif::ProgressBar;

use crate::prepare::{default_dataset, total_bytes};
use crate::{Error, Result, Status, Ui};
use patzer_fit::wdl::Inputs;
use patzer_fit::wdl::source::{GameSelection, NOT_BY_PLAY, ReadCounts, ReadProgress};
use patzer_formats::registry::{self, Format};
use patzer_io::number::grouped;

/// Fit the sigmoid's K; `wdl model` fits win, draw and loss by score and material
///
/// Expected result = 1 / (1 + exp(-K * cp / 400)). Positions whose score is a mate are left out.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "Examples:\n  \
    patzer wdl                              K of the built-in evaluation on the dataset at hand\n  \
    patzer wdl --eval new.hce.toml          K of tuned weights\n  \
    patzer wdl --score                      K of the scores that the playing engine left in the games\n  \
    patzer wdl model games.pgn              win, draw and loss by score and material")]
pub struct WdlArgs {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    inputs: InputArgs,

    /// Evaluation to fit K for: a .nnue or .hce.toml file, or built in: default (a network), default-hce, untuned-hce
    /// [default: default-hce; of games their scores]
    #[arg(long, value_name = "EVAL", conflicts_with = "score")]
    eval: Option<PathBuf>,

    /// Fit K for the scores stored with the positions, not for an evaluation
    #[arg(long)]
    score: bool,
}

commands! {
    Model(model::ModelArgs),
}

/// Data of a fit.
#[derive(Debug, Args)]
struct InputArgs {
    /// Datasets in any format, or games whose comments hold scores, plain or compressed, - for games on stdin
    /// [default: labelled.parquet, or positions.parquet where that is newer or alone]
    #[arg(value_name = "DATA|PGN")]
    data: Vec<PathBuf>,

    /// Format of the datasets; no file is taken for games then [default: by content, else by name]
    #[arg(long, value_name = "FORMAT", value_parser = registry::named)]
    input_format: Option<&'static Format>,

    /// Directory to draw the fit into, as SVG [default: no drawing]
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,

    /// Exclude games with this Termination tag; may be given several times, `none` for no such games
    /// [default: time forfeit, abandoned, stalled connection, illegal move, unterminated]
    #[arg(long, value_name = "TEXT", help_heading = "Games")]
    exclude_termination: Vec<String>,

    /// Take only scores of players whose name contains this [default: all players]
    #[arg(long, value_name = "NAME", help_heading = "Games")]
    player: Option<String>,
}

pub fn run(args: &WdlArgs, ui: &Ui) -> Result<Status> {
    patzer_io::interrupt::listen()?;
    match &args.command {
        Some(command) => command.run(ui),
        None => k::run(args, ui),
    }
}

impl InputArgs {
    /// Games and datasets to fit; without any the newest dataset, where one is `needed`.
    fn open(&self, needed: bool, ui: &Ui) -> Result<Inputs> {
        let files = match self.data.is_empty() {
            true if needed => vec![default_dataset()?],
            _ => self.data.clone(),
        };
        let exclude = match &self.exclude_termination[..] {
            [] => NOT_BY_PLAY.map(str::to_string).to_vec(),
            given => given.iter().filter(|text| *text != "none").cloned().collect(),
        };
        let selection = GameSelection { exclude, player: self.player.clone() };
        let inputs = Inputs { selection, ..Inputs::new(files, ui.read_options(self.input_format))? };
        self.check_of_games(&inputs)?;
        if let Some(folder) = &self.svg {
            patzer_io::create_folder(folder)?;
        }
        Ok(inputs)
    }

    /// Refuses options that only games know, where not all inputs are games.
    fn check_of_games(&self, inputs: &Inputs) -> Result<()> {
        let exclude = ("--exclude-termination", !self.exclude_termination.is_empty());
        let options = [exclude, ("--player", self.player.is_some())];
        match options.iter().find(|(_, given)| *given) {
            Some((option, _)) if inputs.games.is_empty() || !inputs.datasets.is_empty() => {
                let name = inputs.name().display();
                Err(Error::usage(format!(
                    "{option}: only games have players and endings, and {name} holds none"
                )))
            }
            _ => Ok(()),
        }
    }
}

/// Line on the games read and skipped.
fn games_read(counts: &ReadCounts) -> String {
    let skipped = |(reason, count): (&&str, &u64)| format!(", {reason} {}", grouped(*count));
    let skipped: String = counts.games_skipped.iter().map(skipped).collect();
    format!("{} read, bad {}{skipped}", grouped(counts.games), grouped(counts.games_bad))
}

/// Shows the progress of reading, and names broken games once it is over.
struct Reading<'a> {
    ui: &'a Ui,
    bar: ProgressBar,
    bad: Vec<String>,
}

impl Reading<'_> {
    fn new<'a>(inputs: &Inputs, ui: &'a Ui) -> Reading<'a> {
        let bar = match inputs.games.is_empty() {
            true => ProgressBar::hidden(),
            false => ui.progress_of_bytes("wdl", total_bytes(&inputs.games)),
        };
        Reading { ui, bar, bad: Vec::new() }
    }

    fn see(&mut self, event: ReadProgress) {
        match event {
            ReadProgress::Bytes(done) | ReadProgress::Positions(done) => self.bar.set_position(done),
            ReadProgress::Scores(text) => self.ui.note(text),
            ReadProgress::BadGame(text) => self.bad.push(text),
            ReadProgress::Dataset(positions) => self.bar = self.ui.progress("wdl", positions),
            ReadProgress::FileRead => self.end(),
            ReadProgress::NoGames(path) => self.ui.warn(format_args!(
                "{}: does not say which positions are of one game, so that K's error is too small",
                path.display()
            )),
            ReadProgress::NotResolved(path) => self.ui.note(format!(
                "{}: not resolved, so the positions themselves are evaluated; `patzer label` finds quiet ones",
                path.display()
            )),
        }
    }

    /// Clears the bar before messages.
    fn end(&mut self) {
        const NAMED: usize = 10;
        self.bar.finish_and_clear();
        let bad = std::mem::take(&mut self.bad);
        bad.iter().take(NAMED).for_each(|text| self.ui.warn(text));
        if bad.len() > NAMED {
            self.ui.warn(format_args!("{} more broken games are not named", bad.len() - NAMED));
        }
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
