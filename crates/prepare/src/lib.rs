#![doc = include_str!("../README.md")]

mod batch;
pub mod labelled_cache;
pub mod leaf;
mod stream;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

pub use self::stream::{Account, MakeItem, Offer, interleaved, known_count, paths, stream};
use patzer_chess::{PackedBoard, rng};
use patzer_data::lines::BadLine;
use patzer_data::{Metadata, Record};
use patzer_formats::registry::Format;
use patzer_io::error::{Error, Result};
use patzer_io::number::grouped;

#[derive(Debug, Clone, Default)]
pub struct DataSelection {
    /// Files in any format; without any, [`default_dataset`].
    pub files: Vec<PathBuf>,
    /// Format of all files; without it each one's content or name says it.
    pub format: Option<&'static Format>,
    pub filters: Vec<String>,
    pub filter_set: Vec<String>,
    pub resolve: bool,
    /// Fail at the first malformed line of text instead of counting them.
    pub strict: bool,
}

impl DataSelection {
    /// Inputs of a run, for its `run.json`.
    pub fn inputs<'a>(
        &'a self,
        split: Split,
        sources: &'a [(PathBuf, Metadata)],
        validation: &'a [(PathBuf, Metadata)],
    ) -> RunInputs<'a> {
        let files = |sources: &'a [(PathBuf, Metadata)]| {
            sources.iter().map(|(path, made_from)| InputFile { path, made_from }).collect()
        };
        RunInputs {
            patzer: env!("CARGO_PKG_VERSION"),
            data: files(sources),
            validation_data: files(validation),
            input_format: self.format.map(|format| format.name),
            filters: &self.filters,
            filter_set: &self.filter_set,
            resolved: self.resolve,
            split,
        }
    }
}

/// Version and data of a run: the files read, with the hashes of the games they were made from, and the split.
#[derive(Debug, Serialize)]
pub struct RunInputs<'a> {
    patzer: &'static str,
    data: Vec<InputFile<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    validation_data: Vec<InputFile<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_format: Option<&'static str>,
    filters: &'a [String],
    filter_set: &'a [String],
    resolved: bool,
    split: Split,
}

#[derive(Debug, Serialize)]
struct InputFile<'a> {
    #[serde(serialize_with = "patzer_io::path_text")]
    path: &'a Path,
    made_from: &'a Metadata,
}

#[derive(Debug)]
pub enum Event<'a> {
    /// A current labelled cache is read instead of an unresolved dataset.
    CacheFound {
        data: &'a Path,
        cache: &'a Path,
        method: &'a str,
        /// The cache names no digest of the data: time, size and provenance alone say that it is current.
        by_time: bool,
    },
    CacheMissing {
        data: &'a Path,
        cache: &'a Path,
    },
    /// The lines of a text file are resolved while they are read.
    ResolvingLines(&'a Path),
    /// A text file had malformed lines; `first` are some of them.
    BadLines {
        path: &'a Path,
        read: u64,
        bad: u64,
        first: &'a [BadLine],
    },
    /// A text file is read whole before the files after it, where others are interleaved.
    TextInBlock(&'a Path),
    /// Positions are held out one by one, because the file does not say which belong to the same game.
    NoGames(&'a Path),
    /// The file lacks what filters judge by, and which filters.
    Blind(&'a Path, String),
    /// The file's format keeps games by the order of positions, which hardly ever follow from one another.
    BrokenGames {
        path: &'a Path,
        positions: u64,
        games: u64,
    },
    /// A pass begins: its name, and the number of positions, 0 if unknown.
    Started(&'static str, u64),
    Advanced(u64),
    Finished,
}

pub type Report<'a> = dyn Fn(Event<'_>) + Sync + 'a;

/// Validation split by game; by default nothing is held out.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Split {
    /// Share of the games that go to validation, 0 to 1.
    pub validation: f64,
    pub seed: u64,
}

impl Split {
    pub fn check(&self) -> Result<()> {
        if !(0.0..1.0).contains(&self.validation) {
            let share = self.validation;
            return Err(Error::usage(format!("--validation {share}: must be from 0 to below 1")));
        }
        Ok(())
    }

    fn holds_out(self, group: u64) -> bool {
        rng::unit(rng::mix(self.seed, group)) < self.validation
    }
}

#[derive(Debug)]
pub struct Prepared<T> {
    pub train: Vec<T>,
    /// Number of positions to train on of each file.
    pub by_file: Vec<usize>,
    pub validation: Vec<T>,
    pub sources: Vec<(PathBuf, Metadata)>,
    pub read: u64,
    pub dropped: BTreeMap<&'static str, u64>,
}

impl<T> Prepared<T> {
    pub fn map<U>(self, mut items: impl FnMut(Vec<T>) -> Vec<U>) -> Prepared<U> {
        let Prepared { train, by_file, validation, sources, read, dropped } = self;
        Prepared { train: items(train), by_file, validation: items(validation), sources, read, dropped }
    }

    /// Summary of the positions read; every position kept gave `group` items.
    pub fn summary(&self, group: usize) -> String {
        summary(self.read, &self.dropped, self.train.len() / group, self.validation.len() / group)
    }
}

fn summary(read: u64, dropped: &BTreeMap<&'static str, u64>, train: usize, validation: usize) -> String {
    let count: u64 = dropped.values().sum();
    let reasons: Vec<String> =
        dropped.iter().map(|(reason, n)| format!("{reason} {}", grouped(*n))).collect();
    let list = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
    let [read, count, train, validation] = [read, count, train as u64, validation as u64].map(grouped);
    format!("{read} positions read, {count} dropped{list}; {train} to train, {validation} to validate")
}

/// The dataset to read if none is named: the newer of the two default files.
pub fn default_dataset() -> Result<PathBuf> {
    let candidates = ["labelled.parquet", "positions.parquet"].map(PathBuf::from);
    let newest = candidates.into_iter().filter_map(|path| Some((modified(&path)?, path))).max_by_key(|c| c.0);
    newest.map(|(_, path)| path).ok_or_else(|| {
        let help = "make one with `patzer extract games.pgn`";
        Error::input(format!("no positions.parquet or labelled.parquet here; {help}"))
    })
}

pub(crate) fn modified(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).ok()?.modified().ok()
}

/// The halfmove clock on a record's board, or on a quiescence leaf of it: a leaf with fewer pieces follows a capture.
pub fn halfmoves_at(record: &Record, board: &PackedBoard) -> u8 {
    if board.count() == record.board.count() { record.halfmove } else { 0 }
}

/// Reads all positions into memory.
pub fn prepare<T: Copy + Send>(
    data: &DataSelection,
    split: Split,
    report: &Report<'_>,
    make: &MakeItem<'_, T>,
) -> Result<Prepared<T>> {
    prepare_with(data, split, report, make, |offer| offer.item)
}

/// Prepares data like [`prepare`]; `keep` maps each position offered to the value kept.
pub fn prepare_with<T: Copy + Send, U>(
    data: &DataSelection,
    split: Split,
    report: &Report<'_>,
    make: &MakeItem<'_, T>,
    mut keep: impl FnMut(&Offer<'_, T>) -> U,
) -> Result<Prepared<U>> {
    let (mut train, mut validation) = (Vec::new(), Vec::new());
    let mut by_file = vec![0; paths(data)?.len()];
    let account = stream(data, split, report, make, &mut |offer| {
        if offer.held_out {
            validation.push(keep(offer));
        } else {
            train.push(keep(offer));
            by_file[offer.file] += 1;
        }
        Ok(None)
    })?;
    let Account { sources, read, dropped, .. } = account;
    let out = Prepared { train, by_file, validation, sources, read, dropped };
    if out.train.is_empty() {
        return Err(Error::input(format!("no positions are left to learn from: {}", out.summary(1))));
    }
    Ok(out)
}
