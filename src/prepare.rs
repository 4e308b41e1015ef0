//! Data arguments that several commands share, and messages while data is read.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use indicatif::ProgressBar;
use serde::{Deserialize, Serialize};

use crate::{Error, Result, Ui};
use patzer_data::lines::BadLine;
use patzer_formats::ReadOptions;
use patzer_formats::registry::{self, Format};
use patzer_io::number::grouped;
use patzer_pgn::{EvalSide, Factor, PerSource, ScoreOptions};
use patzer_prepare::{DataSelection, Event};
pub use patzer_prepare::{Split, default_dataset};

/// The format of files of positions: an argument that several commands share.
#[derive(Debug, Clone, Copy, Default, clap::Args, Serialize, Deserialize)]
pub struct InputFormat {
    /// Format of the inputs [default: by content, else by name]
    #[arg(long, value_name = "FORMAT", value_parser = registry::named)]
    pub input_format: Option<&'static Format>,
}

/// Reading of datasets to make others of: arguments that several commands share.
#[derive(Debug, Clone, clap::Args)]
pub struct ReadArgs {
    /// Side of the scores: auto (by format and column), white or mover; may be given for each source
    #[arg(long, value_name = "[SOURCE=]SIDE", hide_short_help = true)]
    eval_side: Vec<PerSource<EvalSide>>,

    /// Factor for all scores but mates, such as 100 for pawns; may be given for each source [default: 1]
    #[arg(long, value_name = "[SOURCE=]FACTOR", hide_short_help = true)]
    score_scale: Vec<PerSource<Factor>>,

    /// Keep a file's other positions where lines of text or rows of a table are bad, which are counted and named
    #[arg(long, hide_short_help = true)]
    keep_partial: bool,
}

impl ReadArgs {
    pub fn is_given(&self) -> bool {
        !self.eval_side.is_empty() || !self.score_scale.is_empty() || self.keep_partial
    }

    pub fn options(&self, format: InputFormat, ui: &Ui) -> ReadOptions {
        let scores = ScoreOptions {
            side: self.eval_side.clone(),
            scale: self.score_scale.clone(),
            ..ScoreOptions::default()
        };
        ReadOptions { scores, skip_bad_rows: self.keep_partial, ..ui.read_options(format.input_format) }
    }
}

/// Selection of data: arguments that several commands share.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub struct DataArgs {
    /// Files of positions, in any format [default: the newer of positions.parquet and labelled.parquet]
    #[arg(value_name = "DATA")]
    #[serde(serialize_with = "patzer_io::path_text")]
    pub data: Vec<PathBuf>,

    #[command(flatten)]
    #[serde(flatten)]
    pub format: InputFormat,

    /// Keep only what this preset or TOML file keeps; may be given several times, and `patzer filters`
    /// lists them [default: none]
    #[arg(long, value_name = "NAME|FILE")]
    pub filter: Vec<String>,

    /// Another value for a filter's parameter, such as before_capture.plies=3; may be given several times
    #[arg(long, value_name = "KEY=VALUE", hide_short_help = true)]
    pub filter_set: Vec<String>,

    /// Take positions as they are; without it, a dataset that is not resolved is labelled first
    #[arg(long)]
    pub no_resolve: bool,

    /// Stop at the first line of text that is bad; without it, bad lines are counted and named
    #[arg(long, hide_short_help = true)]
    pub strict: bool,
}

/// Refuses to write over an input.
pub fn check_output<P: AsRef<Path>>(
    output: &Path,
    inputs: impl IntoIterator<Item = P>,
    what: &str,
) -> Result<()> {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    match real(output) {
        Some(target) if inputs.into_iter().any(|path| real(path.as_ref()).as_ref() == Some(&target)) => {
            Err(Error::data(output, format!("is one of the {what}; name another file")))
        }
        _ => Ok(()),
    }
}

/// Checks an output before a long run like [`check_output`]; refuses a file that cannot be written, too.
pub fn check_new_output<P: AsRef<Path>>(
    output: &Path,
    inputs: impl IntoIterator<Item = P>,
    what: &str,
) -> Result<()> {
    check_output(output, inputs, what)?;
    patzer_io::check_writable(output)
}

/// Warns of files whose positions count again, since a path before names the same file.
pub fn warn_of_repeated(paths: &[PathBuf], ui: &Ui) {
    for (path, first) in patzer_io::named_again(paths) {
        let (path, first) = (path.display(), first.display());
        ui.warn(format!("{path} is the file {first} again, so its positions count once more"));
    }
}

/// The size of all files on disk; 0 if it is not known.
pub fn total_bytes(files: &[PathBuf]) -> u64 {
    let sizes =
        files.iter().map(|path| std::fs::metadata(path).ok().filter(|m| m.is_file()).map(|m| m.len()));
    sizes.sum::<Option<u64>>().unwrap_or(0)
}

/// The files of positions, or the default dataset.
pub fn files_or_default(files: &[PathBuf]) -> Result<Vec<PathBuf>> {
    if files.is_empty() { Ok(vec![default_dataset()?]) } else { Ok(files.to_vec()) }
}

impl DataArgs {
    /// Files that no output may be: those named, and the default dataset.
    pub fn inputs(&self) -> Vec<PathBuf> {
        self.data.iter().cloned().chain(default_dataset().ok()).collect()
    }

    pub fn selection(&self, ui: &Ui) -> DataSelection {
        DataSelection {
            files: self.data.clone(),
            options: ui.read_options(self.format.input_format),
            filters: self.filter.clone(),
            filter_set: self.filter_set.clone(),
            resolve: !self.no_resolve,
            strict: self.strict,
            ..DataSelection::default()
        }
    }
}

pub fn reporter(ui: &Ui) -> impl Fn(Event<'_>) + Sync + use<> {
    let (ui, bar) = (ui.clone(), Mutex::new(ProgressBar::hidden()));
    move |event| {
        let mut bar = bar.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::CacheFound { data, cache, method, by_time } => {
                let (data, cache) = (data.display(), cache.display());
                let how = if by_time { "; it names no digest of the data, but is newer" } else { "" };
                ui.note(format!("{data} is not resolved; taking {cache}, made from it ({method}{how})"));
            }
            Event::CacheMissing { data, cache } => {
                let (data, cache) = (data.display(), cache.display());
                ui.note(format!("{data} is not resolved; labelling it by qsearch → {cache}"));
            }
            Event::ResolvingLines(path) => {
                let path = path.display();
                ui.note(format!("{path}: resolving by qsearch; --no-resolve takes positions as they are"));
            }
            Event::NoGames(path) => {
                let path = path.display();
                ui.warn(format!(
                    "{path} does not say which positions are of one game, so those held out are no strangers: the \
                     validation loss is too low; hold out other games with --validation-data, or --validation 0"
                ));
            }
            Event::TextInBlock(path) => {
                let path = path.display();
                ui.warn(format!(
                    "{path}: positions of text come in one block, not mixed with the other files'; `patzer data \
                     convert` to another format lets a stream mix them"
                ));
            }
            Event::Blind(path, text) => ui.warn(format!("{}: {text}", path.display())),
            Event::BrokenGames { path, positions, games } => {
                let (path, positions, games) = (path.display(), grouped(positions), grouped(games));
                ui.warn(format!(
                    "{path}: {positions} positions are of {games} games, as in a shuffled file: positions held out are no \
                     strangers, and filters do not see what follows; hold out other games with --validation-data, or \
                     --validation 0"
                ));
            }
            Event::BadLines { path, read, bad, first } => warn_of_bad_lines(path, read, bad, first, &ui),
            Event::Started(label, total) => *bar = ui.progress(label, total),
            Event::Advanced(count) => bar.inc(count),
            Event::Finished => bar.finish_and_clear(),
        }
    }
}

pub fn warn_of_bad_lines(path: &Path, read: u64, bad: u64, first: &[BadLine], ui: &Ui) {
    for line in first {
        ui.warn(format!("{}: line {}: {}", path.display(), line.number, line.reason));
    }
    if bad > first.len() as u64 {
        ui.warn(format!("{}: {} of {} lines are bad", path.display(), grouped(bad), grouped(read)));
    }
}
