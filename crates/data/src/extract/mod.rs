//! Extraction of a dataset from games: read, parse, filter, remove duplicates, sample, write.
//!
//! One thread reads and splits games; all threads parse and filter a batch of chunks while one of them passes the batch
//! before, in the order of the input, through the later stages. So the dataset depends on the input, the filters and the
//! seed alone. The [`Summary`] counts every game and every position that was read.

mod batches;
mod collect;
mod file_end;
mod journal;
mod parse;
pub(crate) mod scores;
mod summary;

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::dedupe::{Dedupe, Keep};
use super::filter::Pipeline;
use super::format::metadata::Shard;
use super::format::visits;
use super::funnel::FunnelCounts;
use super::output_stage::{OutputSettings, OutputStage};
use super::{AnyWriter, Metadata, Target, memory, rejects, spill};
pub(crate) use batches::each_batch;
use collect::Collector;
pub(crate) use file_end::FileEnd;
use journal::Journal;
use parse::{BufferPool, ChunkParser};
pub(crate) use parse::{ReasonCounts, is_game};
use patzer_io::error::{Error, Result};
use patzer_io::interrupt;
use patzer_pgn::{ScoreOptions, SurveyedReader};
pub use scores::{ScoreSummary, SourceSummary, UnreadSample};
pub use summary::{BadGame, Notice, Summary};

pub(crate) const BAD_GAME: &str = "bad_game";
pub(crate) const NO_RESULT: &str = "no_result";

/// About the memory of a chunk of 64 KiB with its records, in the batch that is parsed and in the one before.
const CHUNK_BYTES: usize = 2 << 20;

#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Random sample of at most this many positions of each game, after the filters.
    pub per_game: Option<usize>,
    pub sample: Option<usize>,
    pub seed: u64,
    pub target: Target,
    /// Keep the positions of a broken game before its fault, and the games before a file's damage.
    pub keep_partial: bool,
    pub scores: ScoreOptions,
    /// Which of equal positions stays; `None` leaves it to the presets, some of which keep the first.
    pub duplicates: Option<Keep>,
    pub mirror: bool,
    pub shard: Option<Shard>,
    /// Approximate bytes of memory for the removal of duplicates; `None` for half of the machine's.
    pub memory: Option<usize>,
    pub resume: bool,
    pub funnel: bool,
    /// Licence of the games, for the dataset's metadata.
    pub licence: Option<String>,
    /// Read the visits of moves in comments, into the column [`visits`].
    pub visits: bool,
    /// File for the games that are refused or have no position, each with its reason in a tag.
    pub rejects: Option<PathBuf>,
}

impl Settings {
    fn memory(&self) -> usize {
        self.memory.unwrap_or_else(memory::default)
    }

    fn output(&self, filters_dedupe: bool) -> Result<OutputSettings> {
        let keep = self.duplicates.or(filters_dedupe.then_some(Keep::First));
        if self.mirror && keep.is_none() {
            return Err(Error::usage(
                "--mirror says what counts as a duplicate, but none are dropped; add --duplicates first",
            ));
        }
        let dedupe = keep.map(|keep| Dedupe { keep, mirror: self.mirror });
        if self.visits
            && (dedupe.is_some() || self.per_game.is_some() || self.sample.is_some() || self.resume)
        {
            return Err(Error::usage(
                "--visits goes with filters of single positions and games; sample and drop duplicates later, and leave out \
                 --resume",
            ));
        }
        if self.shard.is_some() && (self.sample.is_some() || (self.per_game.is_some() && dedupe.is_some())) {
            return Err(Error::usage(
                "a shard cannot choose for the whole: give --sample, and --per-game where duplicates are dropped, to `patzer data merge`",
            ));
        }
        let (per_game, sample, seed) = (self.per_game, self.sample, self.seed);
        Ok(OutputSettings { dedupe, per_game, sample, seed, memory: self.memory() })
    }
}

/// Writes a dataset to `output`, or without one counts what would be in it.
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
    let stages = settings.output(seen.is_some())?;
    applied.extend(stages.describe());
    let mut metadata = Metadata::new(Vec::new(), applied, settings.seed);
    (metadata.dedupe, metadata.shard) = (stages.dedupe, settings.shard);
    metadata.extra = settings.visits.then(visits::column).into_iter().collect();
    let journal = output.filter(|_| settings.resume);
    let journal = journal.map(|output| Journal::open(output, files, &metadata, settings)).transpose()?;
    let folder = spill::folder_of(output);
    let resumes = journal.is_some();
    let writer = output.map(|output| AnyWriter::create(output, &settings.target, &metadata));
    let output_stage = OutputStage::new(writer.transpose()?, &stages, &folder)?;
    let pool = BufferPool::default();
    let mut collector = Collector::new(files, settings, output_stage, stages.dedupe, journal, notice, &pool);
    collector.rejects = settings.rejects.as_deref().map(rejects::create).transpose()?;
    collector.funnel = settings.funnel.then(|| FunnelCounts::new(filters));
    if let Some(next_game) = collector.next_game() {
        let key = stages.dedupe.filter(|_| !resumes);
        let parser = ChunkParser { filters, settings, key, next_game, pool: &pool };
        let mut reader = SurveyedReader::start(files.to_vec(), settings.scores.clone(), true)?;
        let threads = rayon::current_num_threads();
        let most = (settings.memory() / 4 / CHUNK_BYTES).clamp(threads, 16 * threads);
        let whole = each_batch(
            &mut reader,
            most,
            |event| parser.parse(event),
            |parsed, bytes| {
                collector.progress(bytes);
                parsed.into_iter().try_for_each(|parsed| collector.take(parsed))
            },
        )?;
        if !whole {
            collector.checkpoint()?;
            return Err(interrupted(resumes));
        }
    }
    let mut summary = collector.finish(filters).map_err(|error| match interrupt::requested() {
        true => interrupted(resumes),
        false => error,
    })?;
    summary.seconds = started.elapsed().as_secs_f64();
    summary.positions_per_second = summary.positions_read as f64 / summary.seconds.max(1e-9);
    summary.bytes_per_second = summary.bytes_read as f64 / summary.seconds.max(1e-9);
    Ok(summary)
}

fn interrupted(resumes: bool) -> Error {
    Error::Interrupted(match resumes {
        true => "the same command goes on from here",
        false => "nothing was written",
    })
}
