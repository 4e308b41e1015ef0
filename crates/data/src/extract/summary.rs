//! What an extraction read, kept and dropped.
//!
//! In: counts. Out: the account that the program checks itself, and what is worth telling while it goes on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::super::format::metadata::Account;
use super::super::funnel::FunnelStep;
use super::super::output_stage::OutputCounts;
use patzer_io::error::{Error, Result};

/// What was read, kept and dropped.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Summary {
    /// Games that were read, bad ones and skipped ones included.
    pub games: u64,
    /// Games with a fault.
    pub games_bad: u64,
    /// Games without a fault that give nothing, by reason: `no_result`, `variant`.
    pub games_skipped: BTreeMap<String, u64>,
    /// Games whose results disagree, by what was believed: the board's `checkmate` or `stalemate`, or `tag`, the Result
    /// tag rather than the end of the movetext.
    pub results_conflicting: BTreeMap<String, u64>,
    /// Positions from which a move was played, those of bad games before the fault included.
    pub positions_read: u64,
    /// Positions in the dataset, or that would be in it.
    pub positions_written: u64,
    /// Positions that are not, by reason: a filter, `bad_game`, `no_result`, `per_game`, `record`, or why the output's
    /// format cannot hold them.
    pub dropped: BTreeMap<String, u64>,
    /// What each filter would drop alone and in its place, if that was asked for.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub funnel: Option<Vec<FunnelStep>>,
    /// Wall-clock time.
    pub seconds: f64,
    /// Positions read in a second.
    pub positions_per_second: f64,
}

/// What is worth telling while it goes on.
#[derive(Debug)]
pub enum Notice {
    /// How many bytes of the files have been read.
    Bytes(u64),
    /// A broken game, as `file: game N, line L: reason`.
    BadGame(String),
    /// A damaged file whose readable part is kept.
    Damage(String),
    /// What the format of the output cannot carry.
    Lost(String),
}

impl Summary {
    /// Adds what became of the positions that passed the filters.
    pub(super) fn add(&mut self, done: &OutputCounts) {
        self.positions_written += done.written;
        for (reason, count) in &done.dropped {
            *self.dropped.entry(reason.to_string()).or_default() += count;
        }
    }

    /// What the dataset keeps of it.
    pub(super) fn account(&self) -> Account {
        Account {
            games: self.games,
            games_bad: self.games_bad,
            games_skipped: self.games_skipped.clone(),
            results_conflicting: self.results_conflicting.clone(),
            positions_read: self.positions_read,
            dropped: self.dropped.clone(),
        }
    }

    /// Whether every position is accounted for, once and only once.
    pub(super) fn check(&self, passed: u64, done: &OutputCounts) -> Result<()> {
        let accounted = self.positions_written + self.dropped.values().sum::<u64>();
        if accounted == self.positions_read && done.read == passed {
            return Ok(());
        }
        Err(Error::internal(format!(
            "{} positions were read and {passed} passed the filters, but {accounted} and {} are accounted for",
            self.positions_read, done.read
        )))
    }
}
