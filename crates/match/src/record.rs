//! A match on disk: `NAME.pgn` with whole pairs, and `NAME.journal` with a line a pair.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::journal::{JournalEntry, JournaledFile};
use crate::{Pair, Reason};

pub use super::journal::{Arguments, Options};

pub type MatchRecord = JournaledFile<PairEntry>;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairEntry {
    /// From 1, as in the PGN's rounds.
    pub pair: usize,
    /// Player indices in command-line order; the first has White in the first game.
    pub players: [usize; 2],
    /// Opening index in book order, from 0.
    pub opening: usize,
    /// First player's half points in each game, 0 to 2.
    pub half_points: [u8; 2],
    pub reasons: [Reason; 2],
    pub mirrored: bool,
}

impl PairEntry {
    pub fn new(pair: &Pair) -> PairEntry {
        PairEntry {
            pair: pair.index + 1,
            players: pair.pairing.players,
            opening: pair.pairing.opening,
            half_points: pair.half_points(),
            reasons: [pair.games[0].reason, pair.games[1].reason],
            mirrored: pair.mirrored(),
        }
    }
}

impl JournalEntry for PairEntry {
    const OPTION: &'static str = "--pgn";
    const OF: &'static str = "match";
    const UNITS: [&'static str; 2] = ["pair", "pairs"];
    const TEXT: bool = true;
    const KEEPS_RESULTS: bool = true;

    fn number(&self) -> usize {
        self.pair
    }

    fn games(number: usize, _: Option<&PairEntry>) -> String {
        format!("games {} and {}", 2 * number - 1, 2 * number)
    }

    fn journal(pgn: &Path) -> PathBuf {
        pgn.with_extension("journal")
    }
}

pub fn journal_path(pgn: &Path) -> PathBuf {
    PairEntry::journal(pgn)
}
