//! A match on disk: `NAME.pgn` with whole pairs, and `NAME.journal` with a line a pair.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use patzer_io::error::{Error, Result};
use patzer_io::{Shard, destination, named_again};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::journal::{JournalEntry, JournaledFile, is_journal};
use crate::pairings::{Colours, SWAPPED};
use crate::{Pair, Pairing, Reason};
use patzer_stats::Sprt;

/// A pair that finished before an earlier one.
pub type AheadPair = super::journal::Ahead<PairEntry>;

/// Pairs that finished before an earlier one, by number.
pub type AheadPairs = BTreeMap<usize, AheadPair>;

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
    /// Colours, if they are not swapped after the first game.
    #[serde(default = "swapped", deserialize_with = "either", skip_serializing_if = "is_swapped")]
    pub colours: Colours,
}

fn swapped() -> Colours {
    SWAPPED
}

/// Reads colours and refuses a third player's.
fn either<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Colours, D::Error> {
    let colours = Colours::deserialize(from)?;
    match colours {
        [0 | 1, 0 | 1] => Ok(colours),
        _ => Err(D::Error::custom("colours are of players 0 and 1")),
    }
}

fn is_swapped(colours: &Colours) -> bool {
    *colours == SWAPPED
}

impl PairEntry {
    pub fn new(pair: &Pair) -> PairEntry {
        PairEntry {
            pair: pair.index + 1,
            players: pair.pairing.players,
            opening: pair.pairing.openings[0],
            half_points: pair.half_points(),
            reasons: [pair.games[0].reason, pair.games[1].reason],
            mirrored: pair.mirrored(),
            colours: pair.pairing.colours,
        }
    }

    /// Tests whether a pairing has these players, colours and openings.
    pub fn is_of(&self, pairing: &Pairing) -> bool {
        (self.players, self.colours, self.opening) == (pairing.players, pairing.colours, pairing.openings[0])
    }
}

impl JournalEntry for PairEntry {
    const OF: &'static str = "match";
    const UNITS: [&'static str; 2] = ["pair", "pairs"];
    const TEXT: bool = true;

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

/// Keeps the pairs of a match as they finish.
pub trait PairSink {
    /// Stores a pair with its games as PGN.
    fn append(&mut self, entry: &PairEntry, games: &[u8]) -> Result<()>;

    /// Stores a pair that finished before an earlier one, until it is appended; false if there is no place for it.
    fn append_ahead(&mut self, _entry: &PairEntry, _games: &dyn Fn() -> String) -> Result<bool> {
        Ok(false)
    }

    /// Stores the finished game of a pair whose other game is not finished.
    fn append_single(&mut self, _game: &[u8]) -> Result<()> {
        Ok(())
    }

    /// Pairs that an earlier run stored ahead.
    fn ahead(&self) -> AheadPairs {
        AheadPairs::new()
    }

    /// Makes the pairs durable.
    fn sync(&mut self) -> Result<()>;
}

impl PairSink for MatchRecord {
    fn append(&mut self, entry: &PairEntry, games: &[u8]) -> Result<()> {
        JournaledFile::append(self, entry, games)
    }

    fn append_ahead(&mut self, entry: &PairEntry, games: &dyn Fn() -> String) -> Result<bool> {
        JournaledFile::append_ahead(self, entry, games()).map(|()| true)
    }

    fn append_single(&mut self, game: &[u8]) -> Result<()> {
        self.append_uncounted(game);
        Ok(())
    }

    fn ahead(&self) -> AheadPairs {
        JournaledFile::ahead(self)
    }

    fn sync(&mut self) -> Result<()> {
        JournaledFile::sync(self)
    }
}

pub fn journal_path(pgn: &Path) -> PathBuf {
    PairEntry::journal(pgn)
}

/// The journal of a match that its journal or its PGN names.
pub fn journal_of(file: &Path) -> PathBuf {
    if is_journal(file) { file.to_path_buf() } else { journal_path(file) }
}

/// Refuses to count games twice: a file named again, or a PGN beside its journal.
pub fn check_named_once(files: &[PathBuf]) -> Result<()> {
    let twice = |path: &PathBuf, other: &PathBuf| {
        let reason = format!("has the games of {}, which would count twice", other.display());
        Err(Error::data(path, reason))
    };
    if let Some((path, other)) = named_again(files).next() {
        return twice(path, other);
    }
    let mut of_run = BTreeMap::new();
    for path in files {
        let (other, is_of_journal) =
            *of_run.entry(destination(&journal_of(path))).or_insert((path, is_journal(path)));
        if other != path && (is_of_journal || is_journal(path)) {
            return twice(path, other);
        }
    }
    Ok(())
}

/// The names of a match's players, by the conditions of its journal.
pub fn players(conditions: &Value) -> Vec<String> {
    let players = conditions["player"].as_array().into_iter().flatten();
    players.map(|player| player["name"].as_str().unwrap_or_default().to_string()).collect()
}

/// The sequential test that a match was played for, by the conditions of its journal.
pub fn test(conditions: &Value) -> Option<Sprt> {
    Sprt::deserialize(&conditions["contest"]["sprt"]).ok()
}

/// The pairs that were played, if not all, by the conditions of a journal.
pub fn shard(conditions: &Value) -> Option<Shard> {
    Shard::deserialize(&conditions["shard"]).ok()
}

/// Checks that a journal has two players or more, and its pairs no others.
pub fn check_players(journal: &Path, entries: &[PairEntry], players: usize) -> Result<()> {
    if players < 2 {
        return Err(Error::at(journal, "line 1", "does not name two players"));
    }
    let foreign = |entry: &PairEntry| entry.players.iter().any(|player| *player >= players);
    match entries.iter().position(foreign) {
        Some(at) => {
            let reason = "is not the next pair of the journal's players";
            Err(Error::at(journal, format!("line {}", at + 2), reason))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_written_only_where_they_are_not_swapped() {
        let reasons = [Reason::Checkmate, Reason::Repetition];
        let (players, half_points, mirrored) = ([0, 1], [2, 1], false);
        let entry =
            PairEntry { pair: 1, players, opening: 0, half_points, reasons, mirrored, colours: SWAPPED };
        let text = serde_json::to_string(&entry).unwrap();
        assert!(!text.contains("colours"), "{text}");
        assert_eq!(serde_json::from_str::<PairEntry>(&text).unwrap(), entry);
        let fixed = PairEntry { colours: [0, 0], ..entry };
        let text = serde_json::to_string(&fixed).unwrap();
        assert_eq!(serde_json::from_str::<PairEntry>(&text).unwrap(), fixed, "{text}");
        let third = text.replace("[0,0]", "[0,2]");
        assert!(
            serde_json::from_str::<PairEntry>(&third).unwrap_err().to_string().contains("players 0 and 1")
        );
    }
}
