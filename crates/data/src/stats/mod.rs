//! What is in datasets: counts and histograms of their positions and games.
//!
//! In: files of positions. Out: [`Stats`], whole numbers throughout, so that they do not depend on the number of
//! threads or on how the positions lie in files: the statistics of several files are those of the files merged. That
//! is how shards are put together.

mod duplicates;
mod games;
mod tally;

use std::path::PathBuf;

use serde::Serialize;

use super::Record;
use super::format::registry::Format;
use super::row_groups::RowGroups;
use duplicates::DuplicateCounter;
use games::GameCounter;
use patzer_io::error::Result;
pub use tally::{Bucket, MATERIAL, Outcomes, SCORE_BIN, SCORE_REACH, Scores, Tally};

/// What is in some files of positions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// Positions in all files.
    pub positions: u64,
    /// Games that at least one position is of.
    pub games: u64,
    /// Positions that are equal to an earlier one: board, side to move, castling and en passant.
    pub duplicates: u64,
    /// Results of the games, each counted once.
    pub game_results: Outcomes,
    /// Games by their length in plies, from 0; those whose length cannot be told are not in it.
    pub game_length: Vec<u64>,
    /// Games so long that none of their positions says where they end.
    pub game_length_unknown: u64,
    /// Everything that is counted position by position.
    #[serde(flatten)]
    pub tally: Tally,
    /// The files, in their order.
    pub files: Vec<FileStats>,
}

/// What is in one file, and in the games of each of its sources.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FileStats {
    /// As it was named.
    pub file: PathBuf,
    /// What is in the whole of it.
    #[serde(flatten)]
    pub counts: GameCounts,
    /// What is of each file of games that it was made from, where it says how many games they had.
    pub sources: Vec<SourceStats>,
}

/// What is of one file of games.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SourceStats {
    /// The name of the file of games.
    pub source: String,
    /// What is of it.
    #[serde(flatten)]
    pub counts: GameCounts,
}

/// A few counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct GameCounts {
    /// Positions.
    pub positions: u64,
    /// Games that at least one of them is of.
    pub games: u64,
    /// Results of these games.
    pub game_results: Outcomes,
}

/// What is found in one part of a file.
struct GroupStats {
    tally: Tally,
    runs: Vec<games::GameRun>,
    keys: Vec<u128>,
}

/// GameCounts what is in files, with at most about `memory` bytes for the keys of the positions: if they need more, the
/// files are read several times.
///
/// # Errors
/// If a file cannot be opened or is damaged, or if the user interrupts.
pub fn stats(
    files: &[PathBuf],
    format: Option<&'static Format>,
    memory: usize,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Stats> {
    let mut stats = Stats::default();
    let mut keys = DuplicateCounter::new(files, format, memory)?;
    for file in files {
        let parts = RowGroups::open(file, format)?;
        let mut games = GameCounter::new(&parts.metadata().sources);
        let share = keys.share();
        let work = |part: super::row_groups::RowGroup<'_>| -> Result<GroupStats> {
            let records = part.records?;
            let mut tally = Tally::default();
            records.iter().for_each(|record| tally.add(record));
            let keys = records.iter().map(Record::key).filter(|key| share.has(*key)).collect();
            progress(records.len() as u64);
            Ok(GroupStats { tally, runs: games::runs(records), keys })
        };
        let mut file_stats = FileStats { file: file.clone(), ..FileStats::default() };
        parts.scan(0, work, |found| {
            let found = found?;
            stats.tally.merge(&found.tally);
            keys.take(found.keys);
            games.take(&found.runs);
            Ok(())
        })?;
        games.finish(&mut stats, &mut file_stats);
        stats.positions += file_stats.counts.positions;
        stats.games += file_stats.counts.games;
        stats.files.push(file_stats);
    }
    stats.duplicates = keys.finish(progress)?;
    Ok(stats)
}
