//! Statistics of datasets: counts and histograms of their positions and games.
//!
//! All are whole numbers, so they do not depend on threads or on how positions are spread over files: the statistics of
//! several files equal those of the files merged.

mod counts;
mod duplicates;
mod games;
mod tally;

use std::path::PathBuf;

use super::Record;
use duplicates::DuplicateCounter;
use games::GameCounter;
use patzer_formats::ReadOptions;
use patzer_formats::capabilities::Capabilities;
use patzer_formats::extra_rows::ExtraRows;
use patzer_formats::row_groups::RowGroups;
use patzer_formats::visits;
use patzer_io::error::Result;

pub use counts::{FileStats, GameCounts, SourceStats, Stats, VisitCounts};
pub use tally::{Bucket, MATERIAL, Outcomes, SCORE_BIN, SCORE_REACH, Scores, Tally};

struct GroupStats {
    positions: usize,
    tally: Tally,
    runs: Vec<games::GameRun>,
    keys: Vec<u128>,
}

/// Computes statistics with about `memory` bytes for the keys of the positions; if the keys need more, the files are
/// read several times.
pub fn stats(
    files: &[PathBuf],
    options: &ReadOptions,
    memory: usize,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Stats> {
    let mut stats = Stats { unknown: Capabilities::OF_SOURCE, ..Stats::default() };
    let mut keys = DuplicateCounter::new(files, options, memory)?;
    for file in files {
        let parts = RowGroups::open(file, options)?;
        let lacks = parts.metadata().lacks;
        stats.unknown = stats.unknown.of_both(lacks);
        let mut games = GameCounter::new(&parts.metadata().sources);
        let share = keys.share();
        let work = |part: patzer_formats::row_groups::RowGroup<'_>| -> Result<GroupStats> {
            let records = part.records?;
            let mut tally = Tally::default();
            records.iter().for_each(|record| tally.add(record));
            tally.forget(lacks);
            let keys = records.iter().map(Record::key).filter(|key| share.has(*key)).collect();
            progress(records.len() as u64);
            Ok(GroupStats { positions: records.len(), tally, runs: games::runs(records), keys })
        };
        let mut visits = visits_of(&parts)?;
        let mut file_stats = FileStats { file: file.clone(), ..FileStats::default() };
        parts.scan(0, work, |found| {
            let found = found?;
            stats.tally.merge(&found.tally);
            keys.take(found.keys);
            games.take(&found.runs);
            let rows = visits.as_mut().map(|visits| visits.take(found.positions)).transpose()?;
            rows.iter().flatten().for_each(|row| stats.visits.add(&row.visits(0)));
            Ok(())
        })?;
        if lacks.contains(Capabilities::GAME) {
            file_stats.counts.positions = games.positions();
        } else {
            games.finish(&mut stats, &mut file_stats);
        }
        stats.positions += file_stats.counts.positions;
        stats.games += file_stats.counts.games;
        stats.files.push(file_stats);
    }
    stats.duplicates = keys.finish(progress)?;
    Ok(stats)
}

/// The column [`visits`] of a file that has it.
fn visits_of(parts: &RowGroups) -> Result<Option<ExtraRows>> {
    let column = visits::column();
    if !parts.metadata().extra.contains(&column) {
        return Ok(None);
    }
    parts.extra_rows(&[column])
}
