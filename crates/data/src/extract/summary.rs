//! Counts of an extraction: games and positions read, kept and dropped.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::scores::ScoreSummary;
use crate::funnel::FunnelStep;
use crate::output_stage::OutputCounts;
use patzer_formats::metadata::Account;
use patzer_io::error::{Error, Result};
use patzer_pgn::GameError;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Summary {
    pub games: u64,
    pub games_bad: u64,
    /// Every broken game.
    #[serde(default)]
    pub bad_games: Vec<BadGame>,
    /// Sound games without positions, by reason: `no_result`, `variant`.
    pub games_skipped: BTreeMap<String, u64>,
    /// Games with conflicting results, by the source that won: the board's `checkmate` or `stalemate`, or `tag`, the
    /// Result tag over the end of the movetext.
    pub results_conflicting: BTreeMap<String, u64>,
    /// Positions from which a move was played, including bad games before the fault.
    pub positions_read: u64,
    /// Null moves, which give no position.
    #[serde(default)]
    pub null_moves: u64,
    pub positions_written: u64,
    /// Dropped positions by reason: a filter, `bad_game`, `no_result`, `per_game`, `sample`, or why the output format
    /// cannot hold them.
    pub dropped: BTreeMap<String, u64>,
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub scores: Option<ScoreSummary>,
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub funnel: Option<Vec<FunnelStep>>,
    pub seconds: f64,
    pub positions_per_second: f64,
    /// Bytes of the files on disk.
    #[serde(default)]
    pub bytes_read: u64,
    #[serde(default)]
    pub bytes_per_second: f64,
}

/// A game that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadGame {
    pub file: String,
    /// Number in its file, from 1.
    pub game: u64,
    /// First line of the game.
    pub line: u64,
    /// Line of the fault; the game's first line if the fault has no place.
    pub fault_line: u64,
    pub reason: String,
}

impl BadGame {
    /// A broken game, by its number in the file, from 1.
    pub(crate) fn of(file: &Path, game: u64, error: GameError) -> BadGame {
        let GameError { line, fault_line, reason } = error;
        BadGame { file: file.display().to_string(), game, line, fault_line, reason }
    }

    /// The error of a run in which every game is broken.
    pub(crate) fn all(bad: &[BadGame]) -> Error {
        let first = bad.first().map(BadGame::to_string).unwrap_or_default();
        Error::input(format!("{first}; none of the {} games could be read", bad.len()))
    }
}

impl std::fmt::Display for BadGame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: game {}, line {}: {}", self.file, self.game, self.line, self.reason)
    }
}

/// Progress and warnings of a running extraction.
#[derive(Debug)]
pub enum Notice {
    Bytes(u64),
    BadGame(String),
    /// A damaged file whose readable part is kept.
    Damage(String),
    /// A file that another program was writing.
    Grew(String),
    Lost(String),
}

impl Summary {
    pub(super) fn add(&mut self, done: &OutputCounts) {
        self.positions_written += done.written;
        for (reason, count) in &done.dropped {
            *self.dropped.entry(reason.to_string()).or_default() += count;
        }
    }

    pub(super) fn account(&self) -> Account {
        let scores = self.scores.as_ref();
        let scored = scores.iter().flat_map(|scores| &scores.by_dialect);
        Account {
            scored: scored.map(|(dialect, count)| (dialect.to_string(), *count)).collect(),
            not_understood: scores.map_or(0, |scores| scores.not_understood),
            games: self.games,
            games_bad: self.games_bad,
            games_skipped: self.games_skipped.clone(),
            results_conflicting: self.results_conflicting.clone(),
            positions_read: self.positions_read,
            dropped: self.dropped.clone(),
        }
    }

    pub(super) fn check(&self, passed: u64, done: &OutputCounts) -> Result<()> {
        let counted = self.positions_written + self.dropped.values().sum::<u64>();
        if counted == self.positions_read && done.read == passed {
            return Ok(());
        }
        Err(Error::internal(format!(
            "{} positions were read and {passed} passed the filters, but {counted} and {} are counted",
            self.positions_read, done.read
        )))
    }
}
