//! A test on disk: the PGN of its games, and a journal beside it.
//!
//! In: finished pairs, in order. Out: `NAME.pgn`, which grows by whole pairs, and `NAME.journal`, one JSON object
//! a line: first the test's options, then each pair's results with the length and hash of its PGN. A pair counts
//! when its journal line is whole and the PGN holds exactly its text; whatever lies beyond the last such pair
//! when a test is resumed is cut off, so that PGN and counts always agree, however the test ended.
//!
//! These two files are the only outputs that grow in place rather than appear when finished.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::game::Reason;
use super::schedule::Pair;
use crate::error::{Error, Result};

/// The options that decide which games are played and what they prove, by name.
pub type Options = BTreeMap<String, String>;

/// A command line: the values of each argument that was given, by its name.
pub type Arguments = BTreeMap<String, Vec<String>>;

/// What the counts need of a pair.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The pair's number, from 1 as in the PGN's rounds.
    pub pair: usize,
    /// The players, by their numbers from 0 in the order of the options; the first has White in the first game.
    pub players: [usize; 2],
    /// The number of the opening, from 0 in the order in which the book is used.
    pub opening: usize,
    /// The first player's half points in each game, 0 to 2.
    pub half_points: [u8; 2],
    /// Why each game ended.
    pub reasons: [Reason; 2],
    /// Whether both games have the same moves.
    pub mirrored: bool,
}

impl Entry {
    /// The entry of a pair.
    pub fn new(pair: &Pair) -> Entry {
        Entry {
            pair: pair.index + 1,
            players: pair.meeting.players,
            opening: pair.meeting.opening,
            half_points: pair.half_points(),
            reasons: [pair.games[0].reason, pair.games[1].reason],
            mirrored: pair.mirrored(),
        }
    }
}

/// The first line of a journal.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    patzer_journal: u32,
    /// The command line with which the test began, so that it can go on without it.
    arguments: Arguments,
    options: Options,
}

/// Every other line.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    #[serde(flatten)]
    entry: Entry,
    /// Length of the pair's PGN in bytes.
    bytes: u64,
    /// The first 16 hexadecimal digits of its SHA-256.
    sha256: String,
}

const FORMAT: u32 = 2;
/// How every journal begins.
const MAGIC: &[u8] = b"{\"patzer_journal\":";

/// A growing PGN with its journal. The journal is locked while it is open.
pub struct Record {
    pgn: File,
    pgn_path: PathBuf,
    journal: File,
    journal_path: PathBuf,
    /// When all that was written last reached the disk.
    synced: Instant,
    dirty: bool,
}

impl Drop for Record {
    fn drop(&mut self) {
        // Closing the file is not enough: a program that is just being started may still hold a copy of it.
        let _ = self.journal.unlock();
    }
}

/// The longest time for which finished pairs may be in memory only: what a power cut can cost.
const SYNC: Duration = Duration::from_secs(1);

/// The journal that belongs to a PGN.
pub fn journal_path(pgn: &Path) -> PathBuf {
    pgn.with_extension("journal")
}

fn hash(text: &[u8]) -> String {
    format!("{:x}", Sha256::digest(text)).chars().take(16).collect()
}

/// Reads a journal's first line.
fn header(line: &[u8], path: &Path) -> Result<Header> {
    #[derive(Deserialize)]
    struct Version {
        patzer_journal: u32,
    }
    let not = |reason| Error::at(path, "line 1", reason);
    let version: Version = serde_json::from_slice(line).map_err(|_| not("is not a journal of patzer"))?;
    if version.patzer_journal != FORMAT {
        return Err(not("is a journal of another version of patzer"));
    }
    serde_json::from_slice(line).map_err(|_| not("is not a journal of patzer"))
}

impl Record {
    /// Begins a new record. An earlier one is overwritten; a PGN without a journal is not, nor a journal of
    /// something else, because they may be anything.
    ///
    /// # Errors
    /// If a file cannot be written, a file that is there is not from a test, or another test is writing it.
    pub fn create(pgn: &Path, arguments: &Arguments, options: &Options) -> Result<Record> {
        let mut record = Record::open(pgn)?;
        record.truncate(0, 0)?;
        let (arguments, options) = (arguments.clone(), options.clone());
        record.journal_line(&Header { patzer_journal: FORMAT, arguments, options })?;
        record.sync()?;
        record.sync_names();
        Ok(record)
    }

    /// The command line with which a record was begun; `None` if there is no record, or one that was interrupted
    /// before it held anything.
    ///
    /// # Errors
    /// If the journal cannot be read or is not one of this version.
    pub fn arguments(pgn: &Path) -> Result<Option<Arguments>> {
        let path = journal_path(pgn);
        if !path.exists() {
            return Ok(None);
        }
        let mut line = Vec::new();
        let file = File::open(&path).map_err(|e| Error::io(&path, e))?;
        BufReader::new(file).read_until(b'\n', &mut line).map_err(|e| Error::io(&path, e))?;
        match line.strip_suffix(b"\n") {
            Some(line) => Ok(Some(header(line, &path)?.arguments)),
            None => Ok(None),
        }
    }

    /// Continues a record: the pairs that it holds, in order from the first. A record that does not exist is
    /// begun.
    ///
    /// # Errors
    /// As [`Record::create`], and if the record is one of a test with other options; the first is named.
    pub fn resume(pgn: &Path, arguments: &Arguments, options: &Options) -> Result<(Record, Vec<Entry>)> {
        if !journal_path(pgn).exists() {
            return Ok((Record::create(pgn, arguments, options)?, Vec::new()));
        }
        let mut record = Record::open(pgn)?;
        let mut text = Vec::new();
        record.journal.read_to_end(&mut text).map_err(|e| Error::io(&record.journal_path, e))?;
        let Some(end) = text.iter().position(|&byte| byte == b'\n') else {
            // Interrupted before the first line was whole, so before the first game.
            drop(record);
            return Ok((Record::create(pgn, arguments, options)?, Vec::new()));
        };
        record.check(&text[..end], options)?;
        let entries = record.take_over(&text, end + 1)?;
        Ok((record, entries))
    }

    /// Adds a pair with the PGN of its games.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn append(&mut self, entry: &Entry, text: &str) -> Result<()> {
        // The PGN first: a journal line without its games would be worse than games without a line.
        self.pgn.write_all(text.as_bytes()).map_err(|e| Error::io(&self.pgn_path, e))?;
        let line = Line { entry: entry.clone(), bytes: text.len() as u64, sha256: hash(text.as_bytes()) };
        self.journal_line(&line)?;
        self.dirty = true;
        self.sync_now_and_then()
    }

    /// Makes sure that what was written a second ago has reached the disk. To be called again and again.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn sync_now_and_then(&mut self) -> Result<()> {
        if self.dirty && self.synced.elapsed() >= SYNC { self.sync() } else { Ok(()) }
    }

    /// Makes sure that everything has reached the disk.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> Result<()> {
        self.sync()
    }

    /// Makes sure that the names of the files have reached the disk.
    fn sync_names(&self) {
        let folder = match self.pgn_path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        // Not all systems let one open a folder; the files then have their names when the system thinks so.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }

    fn sync(&mut self) -> Result<()> {
        // In this order: a journal line without its games would count for nothing.
        self.pgn.sync_data().map_err(|e| Error::io(&self.pgn_path, e))?;
        self.journal.sync_data().map_err(|e| Error::io(&self.journal_path, e))?;
        (self.synced, self.dirty) = (Instant::now(), false);
        Ok(())
    }

    fn open(pgn: &Path) -> Result<Record> {
        if pgn == Path::new("-") || pgn.extension().is_some_and(|e| e == "journal") {
            return Err(Error::usage(format!("--pgn {}: name a .pgn file", pgn.display())));
        }
        let journal_path = journal_path(pgn);
        let there = std::fs::metadata(pgn).ok();
        if there.as_ref().is_some_and(|meta| !meta.is_file()) {
            // Not even /dev/null: a test is read back when it is resumed.
            return Err(Error::data(pgn, "is not a regular file; name a .pgn file with --pgn"));
        }
        if there.is_some_and(|meta| meta.len() > 0) && !journal_path.exists() {
            return Err(Error::data(
                pgn,
                "exists and is not from a test (no journal lies beside it); move it away, or name another with --pgn",
            ));
        }
        let open = |path: &Path| {
            let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
            options.map_err(|e| Error::create(path, e))
        };
        let mut journal = open(&journal_path)?;
        match journal.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err(Error::data(
                    &journal_path,
                    "another test is writing it; name another file with --pgn",
                ));
            }
            // A file system without locks is no reason not to play.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let mut start = Vec::new();
        let head = (&mut journal).take(MAGIC.len() as u64).read_to_end(&mut start);
        head.and_then(|_| journal.rewind()).map_err(|e| Error::io(&journal_path, e))?;
        // A test that was interrupted at once leaves a part of the first line.
        if !MAGIC.starts_with(&start) {
            let reason = "exists and is not a journal of patzer; name another file with --pgn";
            return Err(Error::data(&journal_path, reason));
        }
        let (pgn, pgn_path) = (open(pgn)?, pgn.to_path_buf());
        Ok(Record { pgn, pgn_path, journal, journal_path, synced: Instant::now(), dirty: false })
    }

    fn journal_line(&mut self, line: &impl Serialize) -> Result<()> {
        let mut text = serde_json::to_vec(line).map_err(|e| Error::internal(e.to_string()))?;
        text.push(b'\n');
        self.journal.write_all(&text).map_err(|e| Error::io(&self.journal_path, e))
    }

    /// Cuts both files and goes to their ends.
    fn truncate(&mut self, pgn: u64, journal: u64) -> Result<()> {
        let cut = |file: &mut File, length| {
            file.set_len(length)?;
            file.seek(SeekFrom::End(0))
        };
        cut(&mut self.pgn, pgn).map_err(|e| Error::io(&self.pgn_path, e))?;
        cut(&mut self.journal, journal).map_err(|e| Error::io(&self.journal_path, e))?;
        Ok(())
    }

    fn check(&self, line: &[u8], options: &Options) -> Result<()> {
        let header = header(line, &self.journal_path)?;
        let value =
            |options: &Options, name: &str| options.get(name).cloned().unwrap_or_else(|| "nothing".into());
        for name in options.keys().chain(header.options.keys()) {
            let (now, then) = (value(options, name), value(&header.options, name));
            if now != then {
                let reason = format!(
                    "is of a test with other options: {name} was {then} and is now {now}; \
                     leave out --resume to begin anew"
                );
                return Err(Error::data(&self.journal_path, reason));
            }
        }
        Ok(())
    }

    /// Reads pairs from the journal as long as the PGN agrees, and cuts both files after the last.
    fn take_over(&mut self, journal: &[u8], first: usize) -> Result<Vec<Entry>> {
        let mut entries: Vec<Entry> = Vec::new();
        let (mut journal_end, mut pgn_end) = (first, 0);
        while let Some(length) = journal[journal_end..].iter().position(|&byte| byte == b'\n') {
            let Ok(line) = serde_json::from_slice::<Line>(&journal[journal_end..journal_end + length]) else {
                break;
            };
            let mut text = Vec::new();
            (&mut self.pgn)
                .take(line.bytes)
                .read_to_end(&mut text)
                .map_err(|e| Error::io(&self.pgn_path, e))?;
            let agrees = text.len() as u64 == line.bytes && hash(&text) == line.sha256;
            if !agrees || line.entry.pair != entries.len() + 1 {
                break;
            }
            pgn_end += line.bytes;
            journal_end += length + 1;
            entries.push(line.entry);
        }
        self.truncate(pgn_end, journal_end as u64)?;
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(seed: &str) -> Options {
        [("seed".to_string(), seed.to_string())].into()
    }

    fn entry(pair: usize) -> Entry {
        let reasons = [Reason::Checkmate, Reason::Repetition];
        Entry { pair, players: [0, 1], opening: pair - 1, half_points: [2, 1], reasons, mirrored: false }
    }

    fn text(pair: usize) -> String {
        format!("games of pair {pair}\n").repeat(pair)
    }

    fn written(folder: &Path, pairs: usize) -> PathBuf {
        let path = folder.join("t.pgn");
        let mut record = Record::create(&path, &Arguments::new(), &options("1")).unwrap();
        for pair in 1..=pairs {
            record.append(&entry(pair), &text(pair)).unwrap();
        }
        record.finish().unwrap();
        path
    }

    #[test]
    fn a_record_goes_on_where_it_ended() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path(), 3);
        let (mut record, entries) = Record::resume(&path, &Arguments::new(), &options("1")).unwrap();
        assert_eq!(entries, [entry(1), entry(2), entry(3)]);
        record.append(&entry(4), &text(4)).unwrap();
        drop(record);
        let whole = written(tempfile::tempdir().unwrap().keep().as_path(), 4);
        assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(&whole).unwrap());
        assert_eq!(std::fs::read(journal_path(&path)).unwrap(), std::fs::read(journal_path(&whole)).unwrap());
        std::fs::remove_dir_all(whole.parent().unwrap()).unwrap();
    }

    #[test]
    fn files_cut_anywhere_give_whole_pairs_that_agree() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path(), 3);
        let (pgn, journal) = (std::fs::read(&path).unwrap(), std::fs::read(journal_path(&path)).unwrap());
        for pgn_length in (0..=pgn.len()).step_by(7) {
            for journal_length in (0..=journal.len()).step_by(13) {
                std::fs::write(&path, &pgn[..pgn_length]).unwrap();
                std::fs::write(journal_path(&path), &journal[..journal_length]).unwrap();
                let (record, entries) = Record::resume(&path, &Arguments::new(), &options("1")).unwrap();
                drop(record);
                let text: String = (1..=entries.len()).map(text).collect();
                assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
                assert_eq!(
                    std::fs::read_to_string(journal_path(&path)).unwrap().lines().count(),
                    entries.len() + 1
                );
            }
        }
    }

    #[test]
    fn the_command_line_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.pgn");
        assert_eq!(Record::arguments(&path).unwrap(), None);
        let arguments = Arguments::from([("tc".to_string(), vec!["8+0.08".to_string()])]);
        Record::create(&path, &arguments, &options("1")).unwrap();
        assert_eq!(Record::arguments(&path).unwrap(), Some(arguments));
        std::fs::write(journal_path(&path), "{\"patzer_journal\":1,\"options\":{}}\n").unwrap();
        assert!(Record::arguments(&path).unwrap_err().to_string().contains("another version"));
        std::fs::write(journal_path(&path), "{\"patzer_jou").unwrap();
        assert_eq!(Record::arguments(&path).unwrap(), None);
    }

    #[test]
    fn other_options_are_not_mixed_in() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path(), 1);
        let error = Record::resume(&path, &Arguments::new(), &options("2")).err().unwrap().to_string();
        assert!(error.contains("seed was 1 and is now 2"), "{error}");
    }

    #[test]
    fn a_foreign_pgn_is_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("my-games.pgn");
        std::fs::write(&path, "[Event \"precious\"]\n").unwrap();
        for error in [
            Record::create(&path, &Arguments::new(), &options("1")).err(),
            Record::resume(&path, &Arguments::new(), &options("1")).err(),
        ] {
            assert_eq!(error.unwrap().exit_code(), 1);
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "[Event \"precious\"]\n");
        assert!(!journal_path(&path).exists());
    }

    #[test]
    fn a_foreign_journal_is_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("my.pgn");
        std::fs::write(journal_path(&path), "Dear diary").unwrap();
        let error = Record::create(&path, &Arguments::new(), &options("1")).err().unwrap().to_string();
        assert!(error.contains("not a journal of patzer"), "{error}");
        assert_eq!(std::fs::read_to_string(journal_path(&path)).unwrap(), "Dear diary");
        assert!(!path.exists());
    }

    #[test]
    fn what_is_no_regular_file_is_refused_and_gets_no_journal() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.pgn");
        std::fs::create_dir(&path).unwrap();
        let error = Record::create(&path, &Arguments::new(), &options("1")).err().unwrap();
        assert_eq!(error.exit_code(), 1);
        assert!(error.to_string().contains("not a regular file"), "{error}");
        assert!(!journal_path(&path).exists());
    }

    #[test]
    fn two_tests_do_not_share_a_record() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.pgn");
        let first = Record::create(&path, &Arguments::new(), &options("1")).unwrap();
        assert!(Record::create(&path, &Arguments::new(), &options("1")).is_err());
        drop(first);
        assert!(Record::create(&path, &Arguments::new(), &options("1")).is_ok());
    }
}
