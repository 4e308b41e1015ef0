mod check;
mod k;
mod model;

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use indicatif::ProgressBar;

use crate::prepare::{default_dataset, total_bytes};
use crate::{Error, Result, Status, Ui};
use patzer_fit::wdl::source::{GameSelection, NOT_BY_PLAY, ReadCounts, ReadProgress};
use patzer_fit::wdl::{By, Inputs};
use patzer_formats::registry::{self, Format};
use patzer_io::number::grouped;

/// Fit the sigmoid's K, or a win/draw/loss model by score and material
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct WdlArgs {
    /// Datasets in any format, or games whose comments hold scores, plain or compressed, - for games on stdin
    /// [default: labelled.parquet, or positions.parquet where that is newer or alone]
    #[arg(value_name = "DATA|PGN")]
    data: Vec<PathBuf>,

    /// Format of the datasets; no file is taken for games then [default: by content, else by name]
    #[arg(long, value_name = "FORMAT", value_parser = registry::named)]
    input_format: Option<&'static Format>,

    /// Fit win, draw and loss by score and material, not K; takes the scores that the games hold
    #[arg(long)]
    model: bool,

    /// Directory to draw the fit into, as SVG [default: no drawing]
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,

    /// Evaluation to fit K for: a .nnue or .hce.toml file, or built in: default (a network), default-hce, untuned-hce
    /// [default: default-hce; of games their scores]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["score", "model"])]
    eval: Option<PathBuf>,

    /// Fit K for the scores stored with the positions, not for an evaluation
    #[arg(long)]
    score: bool,

    /// Exclude games with this Termination tag; may be given several times, `none` for no such games
    /// [default: time forfeit, abandoned, stalled connection, illegal move, unterminated]
    #[arg(long, value_name = "TEXT", help_heading = "Games")]
    exclude: Vec<String>,

    /// Take only scores of players whose name contains this [default: all players]
    #[arg(long, value_name = "TEXT", help_heading = "Games")]
    player: Option<String>,

    #[command(flatten)]
    bounds: ModelArgs,
}

/// Options of the model's fit.
#[derive(Debug, Args)]
#[command(next_help_heading = "Model")]
struct ModelArgs {
    /// Variable in which a and b are cubic
    #[arg(long, value_enum, value_name = "WHAT", default_value = "material", requires = "model")]
    by: Rows,

    /// Material or move number at which a and b are the sums of their coefficients [default: 58; of moves 32]
    #[arg(long, value_name = "N", requires = "model", value_parser = clap::value_parser!(u16).range(1..))]
    target: Option<u16>,

    /// Largest score of either sign, in centipawns; scores of 1000 and more are counted as one and never take part
    #[arg(long, value_name = "CP", default_value_t = 400, requires = "model",
        value_parser = clap::value_parser!(u16).range(1..=1000))]
    max_score: u16,

    /// Range of move numbers
    #[arg(long, value_name = "A..B", default_value = "1..120", requires = "model", value_parser = range)]
    moves: RangeInclusive<u16>,

    /// Range of material, 9Q + 5R + 3(B + N) + P of both sides
    #[arg(long, value_name = "A..B", default_value = "17..78", requires = "model", value_parser = range)]
    material: RangeInclusive<u16>,

    /// Round scores to multiples of this many centipawns
    #[arg(long, value_name = "CP", default_value_t = 5, requires = "model",
        value_parser = clap::value_parser!(u16).range(1..=200))]
    bin: u16,

    /// Read scores as scoreWDLstat does, whose arithmetic takes 0.53 for 52 centipawns; for comparisons with it
    #[arg(long, requires = "model")]
    single_precision: bool,

    /// Leave out materials (or move numbers) with fewer positions
    #[arg(long, value_name = "N", default_value_t = 1, requires = "model")]
    min_count: u64,

    /// The engine's scores are already normalised by this a, one number or four coefficients over material / 58,
    /// highest power first: undo that first [default: scores as they are]
    #[arg(long, value_name = "A", requires = "model", value_delimiter = ',', allow_hyphen_values = true)]
    normalized_by: Vec<f64>,

    /// Compare the model with the chances that this engine shows (UCI_ShowWDL) on 1,000 positions of the data:
    /// stockfish, or "cmd=stockfish nodes=5000" with the keys of `match --engine` [default limit: 1000 nodes]
    #[arg(long, value_name = "SPEC", requires = "model")]
    check: Option<String>,

    /// Write the counts to this file, in the JSON of Stockfish's scoreWDLstat
    #[arg(long, value_name = "FILE", requires = "model")]
    histogram: Option<PathBuf>,

    /// Add the counts of a file that --histogram or scoreWDLstat wrote; may be given several times
    #[arg(long, value_name = "FILE", requires = "model")]
    merge: Vec<PathBuf>,
}

const EXAMPLES: &str = "Expected result = 1 / (1 + exp(-K * cp / 400)). Positions whose score is a mate are left out.\n\
    Model: W = 1 / (1 + exp((a - cp) / b)) for the side to move, L(cp) = W(-cp), a and b cubic in material / 58.\n\n\
    Examples:\n  \
    patzer wdl                              K of the built-in evaluation on the dataset at hand\n  \
    patzer wdl --eval new.hce.toml          K of tuned weights\n  \
    patzer wdl --score                      K of the scores that the playing engine left in the games\n  \
    patzer wdl --model games.pgn            win, draw and loss by score and material\n  \
    patzer wdl --model --by move games.pgn --svg plots\n  \
    patzer wdl --model games.pgn --histogram 1.json    count a part; fit the sum of the parts later:\n  \
    patzer wdl --model --merge 1.json\n  \
    patzer wdl --model games.pgn --check stockfish     does the engine show what its games say?";

/// Variable of the model's rows.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Rows {
    /// Material of both sides
    Material,
    /// Move number
    Move,
}

impl From<Rows> for By {
    fn from(rows: Rows) -> By {
        match rows {
            Rows::Material => By::Material,
            Rows::Move => By::Move,
        }
    }
}

fn range(text: &str) -> std::result::Result<RangeInclusive<u16>, &'static str> {
    let ends = text.split_once("..").and_then(|(low, high)| {
        Some((low.trim().parse::<u16>().ok()?, high.trim_start_matches('=').trim().parse::<u16>().ok()?))
    });
    match ends {
        Some((low, high)) if low <= high => Ok(low..=high),
        _ => Err("must be two numbers such as 1..120, the lower first"),
    }
}

pub fn run(args: &WdlArgs, ui: &Ui) -> Result<Status> {
    patzer_io::interrupt::listen();
    let files = match args.data.is_empty() {
        true if args.bounds.merge.is_empty() => vec![default_dataset()?],
        _ => args.data.clone(),
    };
    let exclude = match &args.exclude[..] {
        [] => NOT_BY_PLAY.map(str::to_string).to_vec(),
        given => given.iter().filter(|text| *text != "none").cloned().collect(),
    };
    let selection = GameSelection { exclude, player: args.player.clone() };
    let inputs = Inputs { selection, ..Inputs::new(files, ui.read_options(args.input_format))? };
    args.check_of_games(&inputs)?;
    if let Some(folder) = &args.svg {
        patzer_io::create_folder(folder)?;
    }
    if args.model { model::run(args, &inputs, ui) } else { k::run(args, &inputs, ui) }
}

impl WdlArgs {
    /// Refuses options that only games know, where not all inputs are games.
    fn check_of_games(&self, inputs: &Inputs) -> Result<()> {
        let options = [("--exclude", !self.exclude.is_empty()), ("--player", self.player.is_some())];
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
