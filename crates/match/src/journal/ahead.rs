//! Pairs that finished before an earlier one, in a file beside the journal until their turn comes.
//!
//! The file is JSON lines with checksums: first the checksum of the journal's first line, then a line for each pair
//! with its results and its games. It is written after the journal, so that the results on which a pairing depended
//! are there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::aside;
use super::entry::JournalEntry;
use patzer_io::error::{Error, Result};
use patzer_io::{Limit, checked_line};

/// An entry with its games that waits for an earlier one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ahead<E> {
    #[serde(flatten)]
    pub entry: E,
    /// Entries that the journal had when this one was written.
    after: usize,
    pub games: String,
}

#[derive(Debug, Serialize)]
struct Head {
    patzer_ahead: u32,
    /// Checksum of the journal's first line.
    journal: String,
}

const FORMAT: u32 = 1;
const MAGIC: &[u8] = b"{\"patzer_ahead\":";
/// Bytes of entries that the journal has by now, from which on the file is written again without them.
const STALE: u64 = 1 << 20;

/// Checks that a file of this name, if there is one, is patzer's; returns its text.
pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    if fs::metadata(path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
        return Ok(Vec::new());
    }
    let text = patzer_io::read_plain(path, patzer_io::raw(path)?, Limit::AHEAD)?;
    if text.starts_with(MAGIC) || MAGIC.starts_with(&text) {
        return Ok(text);
    }
    Err(Error::data(path, "exists and is not a file of patzer; move it away"))
}

/// Counts the entries that wait beside a journal with this first line and this number of entries.
pub(super) fn count<E: JournalEntry>(games: &Path, journal_line: &[u8], entries: usize) -> Result<usize> {
    let mut file = AheadFile::new(aside::ahead_path::<E>(games), journal_line)?;
    file.load::<E>(entries)?;
    Ok(file.len())
}

/// The entries kept ahead in a run's files.
pub(super) struct AheadFile {
    path: PathBuf,
    first_line: Vec<u8>,
    /// Open to append, if the file is as this left it.
    file: Option<File>,
    /// The file exists.
    exists: bool,
    length: u64,
    /// Lines of the entries that the journal lacks, by number.
    lines: BTreeMap<usize, Vec<u8>>,
    /// Entries that are not in the file yet.
    unwritten: BTreeSet<usize>,
}

impl AheadFile {
    pub fn new(path: PathBuf, journal_line: &[u8]) -> Result<AheadFile> {
        let head = Head { patzer_ahead: FORMAT, journal: checked_line::checksum(journal_line) };
        let first_line = checked_line::write(&head)?;
        let (lines, unwritten) = (BTreeMap::new(), BTreeSet::new());
        Ok(AheadFile { path, first_line, file: None, exists: false, length: 0, lines, unwritten })
    }

    /// Reads the entries that a journal of `entries` entries lacks. Returns the number of the first damaged line, if
    /// any.
    pub fn load<E: DeserializeOwned + JournalEntry>(&mut self, entries: usize) -> Result<Option<usize>> {
        let text = read(&self.path)?;
        self.exists = self.path.exists();
        let Some(end) = text.iter().position(|&byte| byte == b'\n') else { return Ok(None) };
        if text[..=end] != self.first_line {
            let reason = "is not of the journal beside it; move it away";
            return Err(Error::at(&self.path, "line 1", reason));
        }
        let mut damaged = None;
        let whole = memchr::memrchr(b'\n', &text).map_or(0, |end| end + 1);
        for (at, line) in text[end + 1..whole].split_inclusive(|&byte| byte == b'\n').enumerate() {
            let bare = &line[..line.len() - 1];
            let ahead = serde_json::from_slice::<Ahead<E>>(bare).ok();
            match ahead.filter(|_| checked_line::is_intact(bare, true)) {
                // An entry may depend on the results before it, so those have to be there.
                Some(ahead) if ahead.entry.number() > entries && ahead.after <= entries => {
                    self.lines.insert(ahead.entry.number(), line.to_vec());
                }
                Some(_) => {}
                None => damaged = damaged.or(Some(at + 2)),
            }
        }
        if self.text().len() == text.len() {
            self.open()?;
        }
        Ok(damaged)
    }

    pub fn entries<E: JournalEntry>(&self) -> BTreeMap<usize, Ahead<E>> {
        let parse = |(&number, line): (&usize, &Vec<u8>)| Some((number, serde_json::from_slice(line).ok()?));
        self.lines.iter().filter_map(parse).collect()
    }

    pub fn len(&self) -> usize {
        self.lines.len()
    }

    pub fn insert<E: JournalEntry>(&mut self, entry: E, after: usize, games: String) -> Result<()> {
        let number = entry.number();
        self.lines.insert(number, checked_line::write(&Ahead { entry, after, games })?);
        self.unwritten.insert(number);
        Ok(())
    }

    /// Forgets an entry that the journal is to have.
    pub fn remove(&mut self, number: usize) {
        self.lines.remove(&number);
        self.unwritten.remove(&number);
    }

    pub fn clear(&mut self) {
        self.lines.clear();
        self.unwritten.clear();
    }

    /// Tests whether [`AheadFile::sync`] has something to do.
    pub fn is_due(&self) -> bool {
        !self.unwritten.is_empty() || self.exists && (self.lines.is_empty() || self.file.is_none())
    }

    /// Brings the file up to date: appends to it, writes it again without what the journal has, or removes it.
    pub fn sync(&mut self) -> Result<()> {
        if !self.is_due() {
            return Ok(());
        }
        if self.lines.is_empty() {
            self.file = None;
            self.exists = false;
            return patzer_io::remove_if_exists(&self.path);
        }
        let live = self.lines.values().map(Vec::len).sum::<usize>() as u64;
        let stale = self.length.saturating_sub(live);
        match self.file.take().filter(|file| aside::is_at(file, &self.path)) {
            Some(file) if stale <= live + STALE => {
                let new = self.unwritten.iter().filter_map(|number| self.lines.get(number));
                let text: Vec<u8> = new.flatten().copied().collect();
                self.append(file, &text)?;
            }
            None if !self.exists => self.create()?,
            _ => {
                patzer_io::write(&self.path, &self.text())?;
                self.open()?;
            }
        }
        self.unwritten.clear();
        Ok(())
    }

    fn create(&mut self) -> Result<()> {
        let file = OpenOptions::new().append(true).create_new(true).open(&self.path);
        let file = file.map_err(|e| Error::create(&self.path, e))?;
        (self.exists, self.length) = (true, 0);
        self.append(file, &self.text())?;
        patzer_io::sync_folder(&self.path);
        Ok(())
    }

    fn append(&mut self, mut file: File, text: &[u8]) -> Result<()> {
        file.write_all(text).and_then(|()| file.sync_data()).map_err(|e| Error::io(&self.path, e))?;
        self.length += text.len() as u64;
        self.file = Some(file);
        Ok(())
    }

    fn open(&mut self) -> Result<()> {
        let file = OpenOptions::new().append(true).open(&self.path).map_err(|e| Error::io(&self.path, e))?;
        self.length = file.metadata().map_err(|e| Error::io(&self.path, e))?.len();
        self.file = Some(file);
        Ok(())
    }

    /// The whole file, without what the journal has.
    pub fn text(&self) -> Vec<u8> {
        std::iter::once(&self.first_line).chain(self.lines.values()).flatten().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Opened;
    use crate::journal::tests::{entry, files, names, open, refused, text, written};
    use crate::record::{MatchRecord, PairEntry, journal_path};
    use patzer_io::Earlier;
    use std::path::PathBuf;

    /// A record of pair 1 in a new folder, with pairs 3 to 5 ahead.
    fn with_ahead() -> (tempfile::TempDir, PathBuf, MatchRecord) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.pgn");
        let mut record = open(&path, Earlier::Protect).unwrap().record;
        record.append(&entry(1), text(1).as_bytes()).unwrap();
        for pair in [4, 3, 5] {
            record.append_ahead(&entry(pair), text(pair)).unwrap();
        }
        record.sync().unwrap();
        (folder, path, record)
    }

    fn ahead_of(path: &Path) -> PathBuf {
        aside::ahead_path::<PairEntry>(path)
    }

    #[test]
    fn entries_wait_in_a_file_until_their_turn_and_then_it_is_gone() {
        let (folder, path, record) = with_ahead();
        drop(record);
        assert_eq!(names(&folder), ["t.journal", "t.journal.ahead", "t.pgn"]);
        let Opened { mut record, entries, .. } = open(&path, Earlier::Resume).unwrap();
        assert_eq!(entries, [entry(1)]);
        let ahead = record.ahead();
        assert_eq!(ahead.keys().copied().collect::<Vec<_>>(), [3, 4, 5]);
        record.append(&entry(2), text(2).as_bytes()).unwrap();
        for (pair, Ahead { entry: there, games, .. }) in ahead {
            assert_eq!((&there, &games), (&entry(pair), &text(pair)));
            record.append(&there, games.as_bytes()).unwrap();
        }
        record.finish(true).unwrap();
        assert_eq!(names(&folder), ["t.journal", "t.pgn"]);
        let (_whole_folder, whole) = written(5, true);
        assert_eq!(files(&path), files(&whole));
    }

    #[test]
    fn a_file_cut_anywhere_has_its_whole_lines() {
        let (_folder, path, record) = with_ahead();
        drop(record);
        let whole = fs::read(ahead_of(&path)).unwrap();
        for length in 0..=whole.len() {
            fs::write(ahead_of(&path), &whole[..length]).unwrap();
            let lines = whole[..length].iter().filter(|&&byte| byte == b'\n').count();
            let mut record = open(&path, Earlier::Resume).unwrap().record;
            assert_eq!(record.ahead().len(), lines.saturating_sub(1));
            record.append_ahead(&entry(7), text(7)).unwrap();
            record.sync().unwrap();
            drop(record);
            assert!(open(&path, Earlier::Resume).unwrap().record.ahead().contains_key(&7));
        }
    }

    #[test]
    fn entries_that_the_journal_has_or_whose_past_it_lacks_are_not_taken() {
        let (_folder, path, mut record) = with_ahead();
        for pair in 2..=3 {
            record.append(&entry(pair), text(pair).as_bytes()).unwrap();
        }
        record.append_ahead(&entry(6), text(6)).unwrap();
        record.sync().unwrap();
        let kept = |record: &MatchRecord| record.ahead().into_keys().collect::<Vec<_>>();
        assert_eq!(kept(&record), [4, 5, 6]);
        drop(record);
        let resumed = open(&path, Earlier::Resume).unwrap().record;
        assert_eq!(kept(&resumed), [4, 5, 6]);
        drop(resumed);
        let journal = fs::read_to_string(journal_path(&path)).unwrap();
        let two_lines: String = journal.split_inclusive('\n').take(2).collect();
        fs::write(journal_path(&path), two_lines).unwrap();
        assert_eq!(kept(&open(&path, Earlier::Resume).unwrap().record), [3, 4, 5]);
    }

    #[test]
    fn a_damaged_line_is_named_and_without_the_file_its_pairs_are_played_again() {
        let (_folder, path, record) = with_ahead();
        drop(record);
        let damaged =
            fs::read_to_string(ahead_of(&path)).unwrap().replace("games of pair 4", "games of pair 9");
        fs::write(ahead_of(&path), &damaged).unwrap();
        let error = refused(&path, Earlier::Resume);
        assert!(error.contains("t.journal.ahead: line 3: is damaged; move this file away"), "{error}");
        assert_eq!(fs::read_to_string(ahead_of(&path)).unwrap(), damaged);
        fs::remove_file(ahead_of(&path)).unwrap();
        let Opened { record, entries, .. } = open(&path, Earlier::Resume).unwrap();
        assert_eq!((entries, record.count_ahead()), (vec![entry(1)], 0));
    }

    #[test]
    fn files_of_others_stay_and_a_new_run_does_not_lose_pairs_ahead() {
        let (folder, path, record) = with_ahead();
        drop(record);
        let error = refused(&path, Earlier::Protect);
        assert!(error.contains("match of 1 pair, and 3 ahead of an unfinished one Hinted"), "{error}");
        let text = fs::read(ahead_of(&path)).unwrap();
        for (there, says) in
            [(&b"Dear diary"[..], "not a file of patzer"), (b"{\"patzer_ahead\":1}\n", "not of the journal")]
        {
            fs::write(ahead_of(&path), there).unwrap();
            let error = refused(&path, Earlier::Resume);
            assert!(error.contains("t.journal.ahead") && error.contains(says), "{error}");
            assert_eq!(fs::read(ahead_of(&path)).unwrap(), there);
        }
        fs::write(ahead_of(&path), &text).unwrap();
        open(&path, Earlier::Overwrite).unwrap();
        assert_eq!(names(&folder), ["t.journal", "t.pgn"]);
        fs::remove_file(journal_path(&path)).unwrap();
        fs::write(ahead_of(&path), &text).unwrap();
        assert!(refused(&path, Earlier::Overwrite).contains("t.journal.ahead: exists and has no journal"));
    }

    #[test]
    fn a_file_removed_during_the_run_is_written_again() {
        let (_folder, path, mut record) = with_ahead();
        fs::remove_file(ahead_of(&path)).unwrap();
        record.append_ahead(&entry(6), text(6)).unwrap();
        record.finish(false).unwrap();
        drop(record);
        assert_eq!(open(&path, Earlier::Resume).unwrap().record.ahead().len(), 4);
    }
}
