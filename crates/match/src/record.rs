//! A match on disk: `NAME.pgn` with whole pairs, and `NAME.journal` with a line a pair.

use std::path::{Path, PathBuf};

use patzer_io::error::Result;
use serde::{Deserialize, Serialize};

use super::journal::{JournalEntry, JournaledFile};
use crate::pairings::{Colours, SWAPPED};
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
    /// Colours, if they are not swapped after the first game.
    #[serde(default = "swapped", skip_serializing_if = "is_swapped")]
    pub colours: Colours,
}

fn swapped() -> Colours {
    SWAPPED
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
}

impl JournalEntry for PairEntry {
    const OPTION: &'static str = "--pgn";
    const OF: &'static str = "test";

    fn number(&self) -> usize {
        self.pair
    }

    fn journal(pgn: &Path) -> PathBuf {
        pgn.with_extension("journal")
    }
}

/// Keeps the pairs of a match as they finish.
pub trait PairSink {
    /// Stores a pair with its games as PGN.
    fn append(&mut self, entry: &PairEntry, games: &[u8]) -> Result<()>;

    /// Makes durable what is due; called several times a second.
    fn sync_if_due(&mut self) -> Result<()>;
}

impl PairSink for MatchRecord {
    fn append(&mut self, entry: &PairEntry, games: &[u8]) -> Result<()> {
        JournaledFile::append(self, entry, games)
    }

    fn sync_if_due(&mut self) -> Result<()> {
        JournaledFile::sync_if_due(self)
    }
}

pub fn journal_path(pgn: &Path) -> PathBuf {
    PairEntry::journal(pgn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn options(seed: &str) -> Options {
        [("seed".to_string(), seed.to_string())].into()
    }

    fn entry(pair: usize) -> PairEntry {
        let reasons = [Reason::Checkmate, Reason::Repetition];
        PairEntry {
            pair,
            players: [0, 1],
            opening: pair - 1,
            half_points: [2, 1],
            reasons,
            mirrored: false,
            colours: SWAPPED,
        }
    }

    fn place() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.pgn");
        (folder, path)
    }

    fn create(path: &Path) -> Result<MatchRecord> {
        MatchRecord::create(path, &Arguments::new(), &options("1"))
    }

    fn resume(path: &Path) -> Result<(MatchRecord, Vec<PairEntry>)> {
        MatchRecord::resume(path, &Arguments::new(), &options("1"))
    }

    fn text(pair: usize) -> String {
        format!("games of pair {pair}\n").repeat(pair)
    }

    fn written(folder: &Path, pairs: usize) -> PathBuf {
        let path = folder.join("t.pgn");
        let mut record = create(&path).unwrap();
        for pair in 1..=pairs {
            record.append(&entry(pair), text(pair).as_bytes()).unwrap();
        }
        record.finish().unwrap();
        path
    }

    #[test]
    fn a_record_goes_on_where_it_ended() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path(), 3);
        let (mut record, entries) = resume(&path).unwrap();
        assert_eq!(entries, [entry(1), entry(2), entry(3)]);
        record.append(&entry(4), text(4).as_bytes()).unwrap();
        drop(record);
        let whole = written(tempfile::tempdir().unwrap().keep().as_path(), 4);
        assert_eq!(fs::read(&path).unwrap(), fs::read(&whole).unwrap());
        assert_eq!(fs::read(journal_path(&path)).unwrap(), fs::read(journal_path(&whole)).unwrap());
        fs::remove_dir_all(whole.parent().unwrap()).unwrap();
    }

    #[test]
    fn files_cut_anywhere_give_whole_pairs_that_agree() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path(), 3);
        let (pgn, journal) = (fs::read(&path).unwrap(), fs::read(journal_path(&path)).unwrap());
        for pgn_length in (0..=pgn.len()).step_by(7) {
            for journal_length in (0..=journal.len()).step_by(13) {
                fs::write(&path, &pgn[..pgn_length]).unwrap();
                fs::write(journal_path(&path), &journal[..journal_length]).unwrap();
                let (record, entries) = resume(&path).unwrap();
                drop(record);
                let text: String = (1..=entries.len()).map(text).collect();
                assert_eq!(fs::read_to_string(&path).unwrap(), text);
                let journal = fs::read_to_string(journal_path(&path)).unwrap();
                assert_eq!(journal.lines().count(), entries.len() + 1);
            }
        }
    }

    #[test]
    fn the_command_line_is_kept() {
        let (_folder, path) = place();
        assert_eq!(MatchRecord::arguments(&path).unwrap(), None);
        let arguments = Arguments::from([("tc".to_string(), vec!["8+0.08".to_string()])]);
        MatchRecord::create(&path, &arguments, &options("1")).unwrap();
        assert_eq!(MatchRecord::arguments(&path).unwrap(), Some(arguments));
        fs::write(journal_path(&path), "{\"patzer_journal\":1,\"options\":{}}\n").unwrap();
        assert!(MatchRecord::arguments(&path).unwrap_err().to_string().contains("another version"));
        fs::write(journal_path(&path), "{\"patzer_jou").unwrap();
        assert_eq!(MatchRecord::arguments(&path).unwrap(), None);
    }

    #[test]
    fn colours_are_written_only_where_they_are_not_swapped() {
        let text = serde_json::to_string(&entry(1)).unwrap();
        assert!(!text.contains("colours"), "{text}");
        assert_eq!(serde_json::from_str::<PairEntry>(&text).unwrap(), entry(1));
        let fixed = PairEntry { colours: [0, 0], ..entry(1) };
        let text = serde_json::to_string(&fixed).unwrap();
        assert_eq!(serde_json::from_str::<PairEntry>(&text).unwrap(), fixed, "{text}");
    }

    #[test]
    fn other_options_are_not_mixed_in() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path(), 1);
        let error = MatchRecord::resume(&path, &Arguments::new(), &options("2")).err().unwrap().to_string();
        assert!(error.contains("seed was 1 and is now 2"), "{error}");
    }

    #[test]
    fn foreign_files_are_never_overwritten_and_folders_are_refused() {
        let (_folder, path) = place();
        fs::write(&path, "[Event \"precious\"]\n").unwrap();
        for error in [create(&path).err(), resume(&path).err()] {
            assert_eq!(error.unwrap().exit_code(), 1);
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "[Event \"precious\"]\n");
        assert!(!journal_path(&path).exists());

        let (_folder, path) = place();
        fs::write(journal_path(&path), "Dear diary").unwrap();
        let error = create(&path).err().unwrap().to_string();
        assert!(error.contains("not a journal of patzer"), "{error}");
        assert_eq!(fs::read_to_string(journal_path(&path)).unwrap(), "Dear diary");
        assert!(!path.exists());

        let (_folder, path) = place();
        fs::create_dir(&path).unwrap();
        let error = create(&path).err().unwrap();
        assert_eq!(error.exit_code(), 1);
        assert!(error.to_string().contains("not a regular file"), "{error}");
        assert!(!journal_path(&path).exists());
    }

    #[test]
    fn two_tests_do_not_share_a_record() {
        let (_folder, path) = place();
        let first = create(&path).unwrap();
        assert!(create(&path).is_err());
        drop(first);
        assert!(create(&path).is_ok());
    }
}
