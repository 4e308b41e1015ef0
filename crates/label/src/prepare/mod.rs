//! From dataset files to what a fit takes: which file, resolved or not, filtered, split by game.
//!
//! In: the data arguments of a command. Out: training and validation items in memory, and an account of every
//! position that was left out.

mod stream;
mod twin;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use shakmaty::Color;

pub use self::stream::{Account, Offer, interleaved, stream, warn_of_bad_lines};
use crate::Ui;
use patzer_chess::PackedBoard;
use patzer_chess::rng;
use patzer_data::{Metadata, Record};
use patzer_io::error::{Error, Result};

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

    /// Stop at the first line of text that is bad; without it, bad lines are counted and named
    #[arg(long)]
    pub strict: bool,
}

/// What to split off for validation, and how; by default nothing.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Split {
    /// Share of the games that go to validation, 0 to 1.
    pub validation: f64,
    /// Chooses the games.
    pub seed: u64,
}

impl Split {
    /// Refuses a share that leaves nothing to learn from.
    pub fn check(&self) -> Result<()> {
        match (0.0..1.0).contains(&self.validation) {
            true => Ok(()),
            false => {
                Err(Error::usage(format!("--validation {}: must be from 0 to below 1", self.validation)))
            }
        }
    }

    /// Whether what belongs together by this number goes to validation.
    fn holds_out(self, group: u64) -> bool {
        rng::unit(rng::mix(self.seed, group)) < self.validation
    }
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
    /// The same with other items.
    pub fn map<U>(self, mut items: impl FnMut(Vec<T>) -> Vec<U>) -> Prepared<U> {
        Prepared {
            train: items(self.train),
            validation: items(self.validation),
            sources: self.sources,
            read: self.read,
            dropped: self.dropped,
        }
    }

    /// One line for people.
    pub fn summary(&self) -> String {
        summary(self.read, &self.dropped, self.train.len(), self.validation.len())
    }
}

fn summary(read: u64, dropped: &BTreeMap<&'static str, u64>, train: usize, validation: usize) -> String {
    let count: u64 = dropped.values().sum();
    let reasons: Vec<String> = dropped.iter().map(|(reason, n)| format!("{reason} {n}")).collect();
    let list = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
    format!("{read} positions read, {count} dropped{list}; {train} to train, {validation} to validate")
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
    item: impl Fn(&Record, PackedBoard, Color) -> std::result::Result<T, &'static str>,
) -> Result<Prepared<T>> {
    let (mut train, mut validation) = (Vec::new(), Vec::new());
    let account = stream(args, split, ui, &mut |offer| {
        match item(offer.sample, offer.board, offer.turn) {
            Ok(item) if offer.held_out => validation.push(item),
            Ok(item) => train.push(item),
            Err(reason) => return Ok(Some(reason)),
        }
        Ok(None)
    })?;
    let Account { sources, read, dropped, .. } = account;
    let out = Prepared { train, validation, sources, read, dropped };
    if out.train.is_empty() {
        return Err(Error::usage(format!("no positions are left to learn from: {}", out.summary())));
    }
    Ok(out)
}
