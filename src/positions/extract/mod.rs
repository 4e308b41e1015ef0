//! From games to a dataset: reads, parses, filters, chooses, writes.
//!
//! In: files of games and a [`Pipeline`]. Out: a dataset, and a [`Summary`] in which every game and every position
//! that was read is accounted for. One thread reads and cuts; all threads parse and filter batches of chunks while
//! one of them takes over the batch before, in the order of the input: removes duplicates, chooses, writes. So
//! the dataset depends on the input, the filters and the seed, and on nothing else.

mod parse;
mod sink;
mod summary;

use std::path::{Path, PathBuf};
use std::time::Instant;

use rayon::prelude::*;

use super::filter::Pipeline;
use super::pick::Picker;
use super::{AnyWriter, Metadata, Target};
use crate::error::{Error, Result};
use crate::interrupt;
use crate::pgn::{Event, Reader};
use parse::parse;
use sink::Sink;
pub use summary::{Notice, Summary};

/// Under what name positions count that no filter drops.
const BAD_GAME: &str = "bad_game";
const NO_RESULT: &str = "no_result";
const PER_GAME: &str = "per_game";
const SAMPLE: &str = "sample";

/// What to do beside filtering.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// At most this many positions a game, chosen at random among those that the filters leave.
    pub per_game: Option<usize>,
    /// This many positions of all, chosen at random after everything else.
    pub sample: Option<usize>,
    /// Seed of the random choices.
    pub seed: u64,
    /// The format to write, where the name of the output does not say it.
    pub target: Target,
    /// Keep the positions of a broken game before its fault, and the games before a file's damage.
    pub keep_partial: bool,
}

/// Makes a dataset at `output`, or only counts what would be in it.
///
/// # Errors
/// If a file cannot be read, holds no games or is damaged, if no game at all can be read, if the dataset cannot be
/// written, or if the user interrupts. Nothing is written then.
pub fn extract(
    files: &[PathBuf],
    output: Option<&Path>,
    mut pipeline: Pipeline,
    settings: &Settings,
    notice: &mut (dyn FnMut(Notice) + Send),
) -> Result<Summary> {
    let started = Instant::now();
    let mut applied = pipeline.describe();
    applied.extend(settings.per_game.map(|most| format!("{PER_GAME}: {most}")));
    applied.extend(settings.sample.map(|most| format!("{SAMPLE}: {most}")));
    let metadata = Metadata::new(Vec::new(), applied, settings.seed);
    let writer = output.map(|path| AnyWriter::create(path, &settings.target, &metadata)).transpose()?;
    let (judge, seen) = pipeline.halves();
    let wants_keys = seen.is_some();
    let mut sink = Sink {
        files,
        settings,
        seen,
        picker: settings.sample.map(|most| Picker::new(most, settings.seed)),
        writer,
        sources: Vec::new(),
        plausible: false,
        first_bad: None,
        summary: Summary::default(),
        notice,
    };
    let reader = Reader::start(files.to_vec())?;
    let mut parsed = Vec::new();
    loop {
        let batch: Vec<Event> =
            std::iter::from_fn(|| reader.next_event()).take(4 * rayon::current_num_threads()).collect();
        if interrupt::requested() {
            return Err(Error::usage("interrupted; nothing was written"));
        }
        let last = batch.is_empty();
        (sink.notice)(Notice::Bytes(reader.bytes()));
        let (taken, next) = rayon::join(
            || std::mem::take(&mut parsed).into_iter().try_for_each(|parsed| sink.take(parsed)),
            || batch.into_par_iter().map(|event| parse(event, judge, wants_keys, settings)).collect(),
        );
        taken?;
        parsed = next;
        if last {
            break;
        }
    }
    let mut summary = sink.finish()?;
    summary.seconds = started.elapsed().as_secs_f64();
    summary.positions_per_second = summary.positions_read as f64 / summary.seconds.max(1e-9);
    Ok(summary)
}
