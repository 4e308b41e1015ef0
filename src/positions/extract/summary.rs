//! What an extraction read, kept and dropped.
//!
//! In: counts. Out: the account that the program checks itself, and what is worth telling while it goes on.

use std::collections::BTreeMap;

use serde::Serialize;

/// What was read, kept and dropped.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Summary {
    /// Games that were read, bad ones and skipped ones included.
    pub games: u64,
    /// Games with a fault.
    pub games_bad: u64,
    /// Games without a fault that give nothing, by reason: `no_result`, `variant`.
    pub games_skipped: BTreeMap<&'static str, u64>,
    /// Positions from which a move was played, those of bad games before the fault included.
    pub positions_read: u64,
    /// Positions in the dataset, or that would be in it.
    pub positions_written: u64,
    /// Positions that are not, by reason: a filter, `bad_game`, `no_result`, `per_game`, `sample`, or why the output's
    /// format cannot hold them.
    pub dropped: BTreeMap<&'static str, u64>,
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
