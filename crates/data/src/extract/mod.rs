//! From games to a dataset: reads, parses, filters, chooses, writes.
//!
//! In: files of games and a [`Pipeline`]. Out: a dataset, and a [`Summary`] in which every game and every position
//! that was read is accounted for. One thread reads and cuts; all threads parse and filter batches of chunks while
//! one of them takes over the batch before, in the order of the input: removes duplicates, chooses, writes. So
//! the dataset depends on the input, the filters and the seed, and on nothing else.

mod journal;
mod parse;
mod collect;
mod summary;

use std::path::{Path, PathBuf};
use std::time::Instant;

use rayon::prelude::*;

use super::dedupe::{Dedupe, Keep};
use super::filter::Pipeline;
use super::format::metadata::Shard;
use super::funnel::FunnelCounts;
use super::output_stage::{OutputSettings, OutputStage};
use super::{AnyWriter, Metadata, Target, memory, spill};
use journal::Journal;
use parse::{GameSelection, BufferPool, parse};
use patzer_io::error::{Error, Result};
use patzer_io::interrupt;
use patzer_pgn::{EvalSide, Event, Reader};
use collect::Collector;
pub use summary::{Notice, Summary};

/// Under what name positions count that no filter drops.
const BAD_GAME: &str = "bad_game";
const NO_RESULT: &str = "no_result";

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
    /// For whom the scores in comments speak.
    pub eval_side: EvalSide,
    /// Which of equal positions stays; `None` leaves it to the presets, of which some keep the first.
    pub duplicates: Option<Keep>,
    /// Positions are equal to their mirror images too.
    pub mirror: bool,
    /// Take only this part of the games.
    pub shard: Option<Shard>,
    /// About how many bytes of memory the removal of duplicates may take; `None` for a selection of the machine's.
    pub memory: Option<usize>,
    /// Keep what is done beside the output, and go on from there.
    pub resume: bool,
    /// Count what each filter would drop alone and in its place.
    pub funnel: bool,
}

impl Settings {
    /// Bytes of memory that the removal of duplicates may take.
    fn memory(&self) -> usize {
        self.memory.unwrap_or_else(memory::default)
    }

    /// The stages after the filters, where those drop duplicates or not.
    fn choices(&self, filters_dedupe: bool) -> Result<OutputSettings> {
        let keep = self.duplicates.or(filters_dedupe.then_some(Keep::First));
        if self.mirror && keep.is_none() {
            return Err(Error::usage(
                "--mirror says what counts as a duplicate, but none are dropped; add --duplicates first",
            ));
        }
        let dedupe = keep.map(|keep| Dedupe { keep, mirror: self.mirror });
        if self.shard.is_some() && (self.sample.is_some() || (self.per_game.is_some() && dedupe.is_some())) {
            return Err(Error::usage(
                "a shard cannot choose for the whole: give --sample, and --per-game where duplicates are dropped, to `patzer data merge`",
            ));
        }
        let (per_game, sample, seed) = (self.per_game, self.sample, self.seed);
        Ok(OutputSettings { dedupe, per_game, sample, seed, memory: self.memory() })
    }
}

/// Makes a dataset at `output`, or only counts what would be in it.
///
/// # Errors
/// If a file cannot be read, holds no games or is damaged, if no game at all can be read, if the dataset cannot be
/// written, or if the user interrupts. Nothing is written then, but with `resume` what is done is kept beside it.
pub fn extract(
    files: &[PathBuf],
    output: Option<&Path>,
    mut pipeline: Pipeline,
    settings: &Settings,
    notice: &mut (dyn FnMut(Notice) + Send),
) -> Result<Summary> {
    let started = Instant::now();
    let mut applied = pipeline.describe();
    let (filters, seen) = pipeline.halves();
    let choices = settings.choices(seen.is_some())?;
    applied.extend(choices.describe());
    let mut metadata = Metadata::new(Vec::new(), applied, settings.seed);
    (metadata.dedupe, metadata.shard) = (choices.dedupe, settings.shard);
    let journal = match output.filter(|_| settings.resume) {
        Some(output) => Some(Journal::open(output, files, &metadata, settings)?),
        None => None,
    };
    let folder = spill::folder_of(output);
    let resumes = journal.is_some();
    let beside = journal.as_ref().map(|(journal, _)| journal.dataset());
    let writer = match output {
        Some(output) => {
            // The name of the output says the format, wherever it is written first.
            let target = Target { format: Some(settings.target.format(output)?), ..settings.target };
            Some(AnyWriter::create(beside.as_deref().unwrap_or(output), &target, &metadata)?)
        }
        None => None,
    };
    let outlet = OutputStage::new(writer, &choices, &folder)?;
    let pool = BufferPool::default();
    let mut collector = Collector::new(files, settings, outlet, choices.dedupe, journal, notice, &pool);
    collector.funnel = settings.funnel.then(|| FunnelCounts::new(filters));
    if let Some(next_game) = collector.next_game() {
        let selection = GameSelection { next_game, shard: settings.shard };
        let key = choices.dedupe.filter(|_| !resumes);
        let reader = Reader::start(files.to_vec())?;
        let mut parsed = Vec::new();
        loop {
            let batch: Vec<Event> =
                std::iter::from_fn(|| reader.next_event()).take(16 * rayon::current_num_threads()).collect();
            if interrupt::requested() {
                collector.checkpoint()?;
                return Err(interrupted(resumes));
            }
            let last = batch.is_empty();
            collector.progress(reader.bytes());
            let (taken, next) = rayon::join(
                || std::mem::take(&mut parsed).into_iter().try_for_each(|parsed| collector.take(parsed)),
                || {
                    batch
                        .into_par_iter()
                        .map(|event| parse(event, filters, key, selection, settings, &pool))
                        .collect()
                },
            );
            taken?;
            parsed = next;
            if last {
                break;
            }
        }
    }
    let mut summary = collector.finish(filters).map_err(|error| match interrupt::requested() {
        true => interrupted(resumes),
        false => error,
    })?;
    summary.seconds = started.elapsed().as_secs_f64();
    summary.positions_per_second = summary.positions_read as f64 / summary.seconds.max(1e-9);
    Ok(summary)
}

fn interrupted(resumes: bool) -> Error {
    Error::Interrupted(match resumes {
        true => "the same command goes on from here",
        false => "nothing was written",
    })
}
