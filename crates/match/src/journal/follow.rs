//! Reads the journal of a running match as it grows, without a lock.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::entry::JournalEntry;
use super::line::{self, Line};
use super::stored::StoredStart;
use patzer_io::error::{Error, Result};
use patzer_io::{Limit, checked_line};

/// Entries of a journal so far.
pub struct Follower<E> {
    path: PathBuf,
    first_line: Vec<u8>,
    start: StoredStart,
    entries: Vec<E>,
    /// Length of the games that the entries count.
    games: u64,
    complete: bool,
    /// End of the lines read.
    at: u64,
    changed: Option<SystemTime>,
}

impl<E: JournalEntry> Follower<E> {
    /// Reads the lines that are whole.
    pub fn open(path: &Path) -> Result<Follower<E>> {
        let first_line = checked_line::first_line(path)?;
        let text = first_line.strip_suffix(b"\n").unwrap_or(&first_line);
        let start = StoredStart(line::header(text).map_err(|why| Error::at(path, "line 1", why))?);
        let at = first_line.len() as u64;
        let path = path.to_path_buf();
        let (entries, games, complete, changed) = (Vec::new(), 0, false, None);
        let mut follower = Follower { path, first_line, start, entries, games, complete, at, changed };
        follower.read_on()?;
        Ok(follower)
    }

    /// Reads the lines that have come since. Returns true if the run has begun again or gone back, so that the entries
    /// of before do not hold.
    pub fn update(&mut self) -> Result<bool> {
        let about = std::fs::metadata(&self.path).map_err(|e| Error::io(&self.path, e))?;
        if about.len() == self.at && about.modified().ok() == self.changed {
            return Ok(false);
        }
        if about.len() >= self.at && self.same_start()? && self.read_on().is_ok() {
            return Ok(false);
        }
        *self = Follower::open(&self.path)?;
        Ok(true)
    }

    fn same_start(&self) -> Result<bool> {
        let mut start = vec![0; self.first_line.len()];
        let mut file = File::open(&self.path).map_err(|e| Error::io(&self.path, e))?;
        Ok(file.read_exact(&mut start).is_ok() && start == self.first_line)
    }

    fn read_on(&mut self) -> Result<()> {
        let io = |e| Error::io(&self.path, e);
        let mut file = File::open(&self.path).map_err(io)?;
        self.changed = file.metadata().ok().and_then(|about| about.modified().ok());
        file.seek(SeekFrom::Start(self.at)).map_err(io)?;
        let text = patzer_io::read_plain(&self.path, file, Limit::JOURNAL)?;
        let whole = memchr::memrchr(b'\n', &text).map_or(0, |end| end + 1);
        for line in text[..whole].split_inclusive(|&byte| byte == b'\n') {
            let number = self.entries.len() + 1;
            let fault = |reason: String| Err(Error::at(&self.path, format!("line {}", number + 1), reason));
            let line_text = &line[..line.len() - 1];
            if !checked_line::is_intact(line_text, true) {
                return fault("is damaged: it does not agree with its checksum".into());
            }
            match line::parse::<E>(line_text) {
                _ if self.complete => return fault("comes after the end of the run".into()),
                Some(Line::End) => self.complete = true,
                Some(Line::Entry(entry)) if entry.entry.number() == number => {
                    self.games = self.games.saturating_add(entry.bytes);
                    self.entries.push(entry.entry);
                }
                _ => return fault(format!("is not {} {number}", E::UNITS[0])),
            }
            self.at += line.len() as u64;
        }
        Ok(())
    }

    pub fn start(&self) -> &StoredStart {
        &self.start
    }

    pub fn entries(&self) -> &[E] {
        &self.entries
    }

    /// Length of the games that the entries count, in bytes of the file of games.
    pub fn games(&self) -> u64 {
        self.games
    }

    /// The run has come to its end.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Time of the last change.
    pub fn changed(&self) -> Option<SystemTime> {
        self.changed
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::journal::{JournaledFile, Opened, Start};
    use crate::record::{MatchRecord, PairEntry};
    use crate::tally::tests::entry;
    use patzer_io::Earlier;

    fn open(path: &Path, earlier: Earlier) -> Opened<PairEntry> {
        let start =
            Start { command: "match", settings: &json!({ "games": 40 }), conditions: &json!({}), key: None };
        MatchRecord::open(path, earlier, &start).unwrap()
    }

    fn add(record: &mut MatchRecord, pair: usize) {
        JournaledFile::append(record, &entry(pair, [0, 1], [2, 1]), b"games\n").unwrap();
        JournaledFile::sync(record).unwrap();
    }

    #[test]
    fn a_running_match_is_followed_to_its_end_and_beyond() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.pgn");
        let journal = PairEntry::journal(&path);
        let Opened { mut record, .. } = open(&path, Earlier::Protect);
        let mut follower = Follower::<PairEntry>::open(&journal).unwrap();
        let settings: serde_json::Value = follower.start().settings().unwrap();
        assert_eq!((follower.entries().len(), &settings["games"]), (0, &json!(40)));
        for pair in 1..=3 {
            add(&mut record, pair);
            assert!(!follower.update().unwrap());
            assert_eq!((follower.entries().len(), follower.games()), (pair, 6 * pair as u64));
        }
        // Half a line is not read before the rest.
        let text = std::fs::read(&journal).unwrap();
        let [before, half] = [text.len() - 300, text.len() - 100].map(|end| &text[..end]);
        assert!(half.iter().filter(|&&byte| byte == b'\n').count() < 4 && before.len() < half.len());
        let copy = folder.path().join("copy.journal");
        std::fs::write(&copy, half).unwrap();
        let mut cut = Follower::<PairEntry>::open(&copy).unwrap();
        let whole = cut.entries().len();
        assert!(whole < 3);
        std::fs::write(&copy, &text).unwrap();
        assert!(!cut.update().unwrap());
        assert_eq!((cut.entries().len(), cut.is_complete()), (3, false));

        record.finish(true).unwrap();
        assert!(!follower.update().unwrap() && follower.is_complete());
        drop(record);
        // A resumed run takes the end line away.
        let Opened { mut record, entries, .. } = open(&path, Earlier::Resume);
        add(&mut record, entries.len() + 1);
        follower.update().unwrap();
        assert_eq!((follower.entries().len(), follower.is_complete()), (4, false));
        drop(record);
        // Another run under the same name.
        let Opened { mut record, .. } = open(&path, Earlier::Overwrite);
        add(&mut record, 1);
        assert!(follower.update().unwrap());
        assert_eq!(follower.entries().len(), 1);
    }

    #[test]
    fn a_damaged_line_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.pgn");
        let Opened { mut record, .. } = open(&path, Earlier::Protect);
        (1..=2).for_each(|pair| add(&mut record, pair));
        let journal = PairEntry::journal(&path);
        let text = std::fs::read_to_string(&journal).unwrap();
        std::fs::write(&journal, text.replace("\"pair\":2", "\"pair\":3")).unwrap();
        let error = Follower::<PairEntry>::open(&journal).map(drop).unwrap_err().to_string();
        assert!(error.contains("line 3: is damaged"), "{error}");
    }
}
