//! Counts of statistics: positions, games and visits, in all and by file.

use std::path::PathBuf;

use serde::Serialize;

use super::tally::{Outcomes, Tally};
use patzer_formats::capabilities::Capabilities;
use patzer_formats::visits::Visits;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    pub positions: u64,
    pub games: u64,
    /// Positions that are equal to an earlier one: board, side to move, castling and en passant.
    pub duplicates: u64,
    pub game_results: Outcomes,
    /// Games by length in plies, from 0; without games of unknown length.
    pub game_length: Vec<u64>,
    /// Games so long that no stored position is near enough to their end.
    pub game_length_unknown: u64,
    #[serde(flatten)]
    pub tally: Tally,
    pub visits: VisitCounts,
    pub files: Vec<FileStats>,
    /// Facts that all files lack. A file that lacks a fact is left out of its counts.
    #[serde(skip_serializing_if = "Capabilities::is_none")]
    pub unknown: Capabilities,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FileStats {
    #[serde(serialize_with = "patzer_io::path_text")]
    pub file: PathBuf,
    #[serde(flatten)]
    pub counts: GameCounts,
    /// Counts by file of games, if the metadata has the number of games of each.
    pub sources: Vec<SourceStats>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SourceStats {
    pub source: String,
    #[serde(flatten)]
    pub counts: GameCounts,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct GameCounts {
    pub positions: u64,
    pub games: u64,
    pub game_results: Outcomes,
}

/// Counts of the column [`visits`](patzer_formats::visits).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct VisitCounts {
    /// Positions that have visits.
    pub positions: u64,
    /// Visited moves of all these positions.
    pub moves: u64,
    /// Visits of all moves.
    pub visits: u64,
}

impl VisitCounts {
    pub(super) fn add(&mut self, visits: &Visits) {
        self.positions += u64::from(!visits.is_empty());
        self.moves += visits.len() as u64;
        self.visits += visits.iter().map(|(_, count)| u64::from(*count)).sum::<u64>();
    }
}
