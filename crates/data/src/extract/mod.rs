//! Extraction of a dataset from games: read, parse, filter, remove duplicates, sample, write.
//!
//! One thread reads and splits games; all threads parse and filter a batch of chunks while one of them passes the
//! batch before, in the order of the input, through the later stages. So the dataset depends on the input, the filters
//! and the seed alone. The [`Summary`] counts every game and every position that was read.

mod batches;
mod collect;
mod file_end;
mod journal;
mod parse;
pub(crate) mod scores;
mod settings;
mod summary;

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::filter::Pipeline;
use super::funnel::FunnelCounts;
use super::output_stage::OutputStage;
use super::{AnyWriter, Metadata, rejects};
pub(crate) use batches::each_batch;
use collect::Collector;
pub(crate) use file_end::FileEnd;
use journal::Journal;
pub use journal::stored;
use parse::{BufferPool, ChunkParser};
pub(crate) use parse::{ReasonCounts, is_game};
use patzer_formats::visits;
use patzer_io::Earlier;
use patzer_io::error::{Error, Hint, Result};
use patzer_io::interrupt;
use patzer_pgn::SurveyedReader;
pub use scores::{ScoreSummary, SourceSummary, UnreadSample};
pub(crate) use settings::{BAD_GAME, NO_RESULT};
pub use settings::{Journaling, Settings};
pub use summary::{BadGame, Notice, Summary};

/// Approximate memory of a chunk of 64 KiB with its records, in the batch that is parsed and in the one before.
const CHUNK_BYTES: usize = 2 << 20;

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
    let journal = match (output, &settings.journal) {
        (Some(output), Some(how)) => match journal::obstacle(output, files, settings) {
            None => {
                let journal = Journal::open(output, files, &metadata, settings, how)?;
                (how.earlier != Earlier::Protect).then_some(journal)
            }
            Some(reason) if how.earlier == Earlier::Resume => return Err(Error::usage(reason)),
            Some(_) => None,
        },
        _ => None,
    };
    let folder = patzer_io::temporary_folder(output);
    let writer = output.map(|output| AnyWriter::create(output, &settings.target, &metadata));
    let output_stage = OutputStage::new(writer.transpose()?, &stages, &folder)?;
    let pool = BufferPool::default();
    let mut collector = Collector::new(files, settings, output_stage, stages.dedupe, journal, notice, &pool);
    collector.rejects = settings.rejects.as_deref().map(rejects::create).transpose()?;
    collector.funnel = settings.funnel.then(|| FunnelCounts::new(filters));
    collector.replay()?;
    if let Some(next_game) = collector.next_game() {
        let key = stages.dedupe;
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
            return Err(interrupted(collector.interrupt()?));
        }
    }
    let kept = collector.keeps();
    let mut summary = collector.finish(filters).map_err(|error| match interrupt::requested() {
        true => interrupted(kept),
        false => error,
    })?;
    summary.seconds = started.elapsed().as_secs_f64();
    summary.positions_per_second = summary.positions_read as f64 / summary.seconds.max(1e-9);
    summary.bytes_per_second = summary.bytes_read as f64 / summary.seconds.max(1e-9);
    Ok(summary)
}

fn interrupted(kept: bool) -> Error {
    match kept {
        true => Error::Interrupted("the progress is kept").hint(Hint::Resume),
        false => interrupt::error(),
    }
}
