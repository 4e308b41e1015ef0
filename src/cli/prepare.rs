//! From dataset files to what a fit takes: which file, resolved or not, filtered, split by game.
//!
//! In: the data arguments of a command. Out: training and validation items in memory, and an account of every
//! position that was left out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use shakmaty::Color;

use crate::chess::PackedBoard;
use crate::cli::Ui;
use crate::cli::label::label_file;
use crate::error::{Error, Result};
use crate::eval::Evaluation;
use crate::label::{Method, Settings, judged};
use crate::positions::filter::Pipeline;
use crate::positions::{AnyReader, Metadata, Sample};
use crate::rng;

/// Where the data comes from and what is kept of it: arguments that several commands share.
#[derive(Debug, clap::Args)]
pub struct DataArgs {
    /// Files of positions, in any format [default: the newer of positions.parquet and labelled.parquet]
    #[arg(value_name = "DATA")]
    pub data: Vec<PathBuf>,

    /// Keep only what this preset or TOML file keeps; may be given several times, and `patzer extract --help`
    /// lists them [default: none]
    #[arg(long, value_name = "NAME|FILE")]
    pub filter: Vec<String>,

    /// Another value for a filter's parameter, such as before_capture.plies=3; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    pub filter_set: Vec<String>,

    /// Take positions as they are; without it, a dataset that is not resolved is labelled first
    #[arg(long)]
    pub no_resolve: bool,
}

/// What to split off for validation, and how.
#[derive(Debug, Clone, Copy)]
pub struct Split {
    /// Share of the games that go to validation, 0 to 1.
    pub validation: f64,
    /// Chooses the games.
    pub seed: u64,
}

/// Items ready to fit, and the account of the rest.
#[derive(Debug)]
pub struct Prepared<T> {
    /// Items of the games to learn from, in the order of the data.
    pub train: Vec<T>,
    /// Items of the games held out.
    pub validation: Vec<T>,
    /// The datasets that were read, with what they say of themselves.
    pub sources: Vec<(PathBuf, Metadata)>,
    /// Positions read from the datasets.
    pub read: u64,
    /// Positions left out, by reason.
    pub dropped: BTreeMap<&'static str, u64>,
}

impl<T> Prepared<T> {
    /// One line for people.
    pub fn summary(&self) -> String {
        let dropped: u64 = self.dropped.values().sum();
        let reasons: Vec<String> = self.dropped.iter().map(|(reason, n)| format!("{reason} {n}")).collect();
        let list = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
        let (train, validation) = (self.train.len(), self.validation.len());
        format!(
            "{} positions read, {dropped} dropped{list}; {train} to train, {validation} to validate",
            self.read
        )
    }
}

/// The dataset that a command takes if none is named: the newer of the two default files.
///
/// # Errors
/// If there is neither.
pub fn default_dataset() -> Result<PathBuf> {
    let candidates = ["labelled.parquet", "positions.parquet"].map(PathBuf::from);
    let newest = candidates.into_iter().filter_map(|path| Some((modified(&path)?, path))).max_by_key(|c| c.0);
    newest.map(|(_, path)| path).ok_or_else(|| {
        Error::usage(
            "no positions.parquet or labelled.parquet here; make one with `patzer extract games.pgn`",
        )
    })
}

fn modified(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).ok()?.modified().ok()
}

/// Opens the datasets, resolves those that are not, filters, converts and splits by game.
///
/// `item` turns a kept sample, with the board to judge and its side to move, into what the fit takes, or names the
/// reason why it cannot.
///
/// # Errors
/// If a dataset cannot be read, a filter is unknown, or nothing is left.
pub fn prepare<T>(
    args: &DataArgs,
    split: Split,
    ui: &Ui,
    item: impl Fn(&Sample, PackedBoard, Color) -> std::result::Result<T, &'static str>,
) -> Result<Prepared<T>> {
    if !(0.0..1.0).contains(&split.validation) {
        return Err(Error::usage(format!("--validation {}: must be from 0 to below 1", split.validation)));
    }
    let mut pipeline = Pipeline::new(&args.filter, &args.filter_set)?;
    let paths = if args.data.is_empty() { vec![default_dataset()?] } else { args.data.clone() };
    let mut out = Prepared {
        train: Vec::new(),
        validation: Vec::new(),
        sources: Vec::new(),
        read: 0,
        dropped: BTreeMap::new(),
    };
    for (file, path) in paths.iter().enumerate() {
        let mut data = resolved(path, args.no_resolve, ui)?;
        out.sources.push((data.path().to_path_buf(), data.metadata().clone()));
        let bar = ui.progress("reading", data.rows().unwrap_or(0));
        let mut samples = Vec::new();
        while data.next_batch(&mut samples)? {
            bar.inc(samples.len() as u64);
            for mut sample in samples.drain(..) {
                out.read += 1;
                if args.no_resolve {
                    sample.leaf = None;
                }
                let to_judge = pipeline.keep(&sample).and_then(|()| judged(&sample, !args.no_resolve));
                match to_judge.and_then(|(board, turn)| item(&sample, board, turn)) {
                    Ok(item) if held_out(split, file, sample.game) => out.validation.push(item),
                    Ok(item) => out.train.push(item),
                    Err(reason) => *out.dropped.entry(reason).or_default() += 1,
                }
            }
        }
        bar.finish_and_clear();
    }
    let kept = (out.train.len() + out.validation.len()) as u64;
    if kept + out.dropped.values().sum::<u64>() != out.read {
        return Err(Error::internal("positions were lost between reading and fitting"));
    }
    if out.train.is_empty() {
        return Err(Error::usage(format!("no positions are left to learn from: {}", out.summary())));
    }
    Ok(out)
}

/// Whole games go to one side, so that validation never sees a position's neighbours.
fn held_out(split: Split, file: usize, game: u32) -> bool {
    let bits = rng::mix(split.seed, (file as u64) << 32 | u64::from(game));
    rng::unit(bits) < split.validation
}

/// The dataset itself if it is resolved or need not be, else its labelled twin, made now if it is not there.
fn resolved(path: &Path, as_it_is: bool, ui: &Ui) -> Result<AnyReader> {
    let data = AnyReader::open(path, None)?;
    if as_it_is || data.metadata().resolved.is_some() {
        return Ok(data);
    }
    let twin = twin(path);
    if let Some(labelled) = current_twin(&data, &twin) {
        let how = labelled.metadata().resolved.as_deref().unwrap_or_default();
        let (path, twin) = (path.display(), twin.display());
        ui.note(format!("{path} is not resolved; taking {twin}, made from it ({how})"));
        return Ok(labelled);
    }
    let output = twin.display();
    ui.note(format!("{} is not resolved; labelling it by qsearch → {output}", path.display()));
    let evaluation = Evaluation::default_hce();
    let name = "default-hce".to_string();
    let settings = Settings { method: Method::Quiescence, rescore: false, evaluation, name };
    label_file(data, &twin, &settings, ui)?;
    AnyReader::open(&twin, None)
}

/// Where the labelled form of a dataset lies.
fn twin(path: &Path) -> PathBuf {
    match path.file_stem().and_then(|stem| stem.to_str()) {
        Some("positions") | None => path.with_file_name("labelled.parquet"),
        Some(stem) => path.with_file_name(format!("{stem}.labelled.parquet")),
    }
}

/// The twin, if it was made from this very dataset: newer, and saying the same of itself.
fn current_twin(data: &AnyReader, twin: &Path) -> Option<AnyReader> {
    if modified(twin)? < modified(data.path())? {
        return None;
    }
    let labelled = AnyReader::open(twin, None).ok()?;
    let (mut ours, theirs) = (data.metadata().clone(), labelled.metadata());
    ours.resolved.clone_from(&theirs.resolved);
    (&ours == theirs
        && (data.rows().is_none() || data.rows() == labelled.rows())
        && theirs.resolved.is_some())
    .then_some(labelled)
}
