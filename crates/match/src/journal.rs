//! A file that grows, with a journal beside it: games of a test, or of self-play.
//!
//! In: pieces, in order. Out: the file, which grows by whole pieces, and its journal, one JSON object a line: first
//! the options, then for each piece what it counts with the length and hash of its bytes. A piece counts when its
//! line is whole and the file holds exactly its bytes; whatever lies beyond the last such piece when a run is resumed
//! is cut off, so that file and counts always agree, however the run ended.
//!
//! These two files are the only outputs that grow in place rather than appear when finished.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use patzer_io::error::{Error, Result};

/// The options that decide which games are played and what they prove, by name.
pub type Options = BTreeMap<String, String>;

/// A command line: the values of each argument that was given, by its name.
pub type Arguments = BTreeMap<String, Vec<String>>;

/// What a line of a journal stands for: a piece of the file that is written at once.
pub trait JournalEntry: Serialize + DeserializeOwned + Clone {
    /// The option that names the file, for messages.
    const OPTION: &'static str;
    /// What is recorded, for messages: `test`.
    const OF: &'static str;

    /// Its number, from 1.
    fn number(&self) -> usize;

    /// The journal that belongs to a file.
    fn journal(file: &Path) -> PathBuf;
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
struct EntryLine<E> {
    #[serde(flatten)]
    entry: E,
    /// Length of the piece in bytes.
    bytes: u64,
    /// The first 16 hexadecimal digits of its SHA-256.
    sha256: String,
}

const FORMAT: u32 = 2;
/// How every journal begins.
const MAGIC: &[u8] = b"{\"patzer_journal\":";

/// A growing file with its journal. The journal is locked while it is open.
pub struct JournaledFile<E> {
    file: File,
    path: PathBuf,
    journal: File,
    journal_path: PathBuf,
    /// Where the pieces that a resumed run found end, in the file and in the journal; first where the first begins.
    ends: Vec<[u64; 2]>,
    pieces: PhantomData<E>,
    /// When all that was written last reached the disk.
    synced: Instant,
    dirty: bool,
}

impl<E> Drop for JournaledFile<E> {
    fn drop(&mut self) {
        // Closing the file is not enough: a program that is just being started may still hold a copy of it.
        let _ = self.journal.unlock();
    }
}

/// The longest time for which finished pieces may be in memory only: what a power cut can cost.
const SYNC: Duration = Duration::from_secs(1);

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

impl<E: JournalEntry> JournaledFile<E> {
    /// Begins a new record. An earlier one is overwritten; a file without a journal is not, nor a journal of
    /// something else, because they may be anything.
    ///
    /// # Errors
    /// If a file cannot be written, a file that is there is not from a test, or another test is writing it.
    pub fn create(path: &Path, arguments: &Arguments, options: &Options) -> Result<JournaledFile<E>> {
        let mut record = JournaledFile::open(path)?;
        record.truncate([0; 2])?;
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
    pub fn arguments(file: &Path) -> Result<Option<Arguments>> {
        let path = E::journal(file);
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

    /// Continues a record: the pieces that it holds, in order from the first. A record that does not exist is
    /// begun.
    ///
    /// # Errors
    /// As [`JournaledFile::create`], and if the record is one of a test with other options; the first is named.
    pub fn resume(
        path: &Path,
        arguments: &Arguments,
        options: &Options,
    ) -> Result<(JournaledFile<E>, Vec<E>)> {
        if !E::journal(path).exists() {
            return Ok((JournaledFile::create(path, arguments, options)?, Vec::new()));
        }
        let mut record = JournaledFile::open(path)?;
        let mut text = Vec::new();
        record.journal.read_to_end(&mut text).map_err(|e| Error::io(&record.journal_path, e))?;
        let Some(end) = text.iter().position(|&byte| byte == b'\n') else {
            // Interrupted before the first line was whole, so before the first game.
            drop(record);
            return Ok((JournaledFile::create(path, arguments, options)?, Vec::new()));
        };
        record.check(&text[..end], options)?;
        let entries = record.take_over(&text, end + 1)?;
        Ok((record, entries))
    }

    /// Adds a piece with its bytes.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn append(&mut self, piece: &E, bytes: &[u8]) -> Result<()> {
        // The bytes first: a line without its games would be worse than games without a line.
        self.file.write_all(bytes).map_err(|e| Error::io(&self.path, e))?;
        let line = EntryLine { entry: piece.clone(), bytes: bytes.len() as u64, sha256: hash(bytes) };
        self.journal_line(&line)?;
        self.dirty = true;
        self.sync_if_due()
    }

    /// Makes sure that what was written a second ago has reached the disk. To be called again and again.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn sync_if_due(&mut self) -> Result<()> {
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
        let folder = match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        // Not all systems let one open a folder; the files then have their names when the system thinks so.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }

    fn sync(&mut self) -> Result<()> {
        // In this order: a journal line without its games would count for nothing.
        self.file.sync_data().map_err(|e| Error::io(&self.path, e))?;
        self.journal.sync_data().map_err(|e| Error::io(&self.journal_path, e))?;
        (self.synced, self.dirty) = (Instant::now(), false);
        Ok(())
    }

    fn open(path: &Path) -> Result<JournaledFile<E>> {
        let option = E::OPTION;
        if path == Path::new("-") || path.extension().is_some_and(|e| e == "journal") {
            return Err(Error::usage(format!("{option} {}: name a file for the games", path.display())));
        }
        let journal_path = E::journal(path);
        let there = std::fs::metadata(path).ok();
        if there.as_ref().is_some_and(|meta| !meta.is_file()) {
            // Not even /dev/null: what was written is read back when a run is resumed.
            return Err(Error::data(path, format!("is not a regular file; name another with {option}")));
        }
        if there.is_some_and(|meta| meta.len() > 0) && !journal_path.exists() {
            return Err(Error::data(
                path,
                format!(
                    "exists and is not from a {} (no journal lies beside it); move it away, or name another with {option}",
                    E::OF
                ),
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
                    format!("another {} is writing it; name another file with {option}", E::OF),
                ));
            }
            // A file system without locks is no reason not to play.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let mut start = Vec::new();
        let head = (&mut journal).take(MAGIC.len() as u64).read_to_end(&mut start);
        head.and_then(|_| journal.rewind()).map_err(|e| Error::io(&journal_path, e))?;
        // A run that was interrupted at once leaves a part of the first line.
        if !MAGIC.starts_with(&start) {
            let reason = format!("exists and is not a journal of patzer; name another file with {option}");
            return Err(Error::data(&journal_path, reason));
        }
        Ok(JournaledFile {
            file: open(path)?,
            path: path.to_path_buf(),
            journal,
            journal_path,
            ends: Vec::new(),
            pieces: PhantomData,
            synced: Instant::now(),
            dirty: false,
        })
    }

    fn journal_line(&mut self, line: &impl Serialize) -> Result<()> {
        let mut text = serde_json::to_vec(line).map_err(|e| Error::internal(e.to_string()))?;
        text.push(b'\n');
        self.journal.write_all(&text).map_err(|e| Error::io(&self.journal_path, e))
    }

    /// Cuts both files and goes to their ends.
    fn truncate(&mut self, [length, journal]: [u64; 2]) -> Result<()> {
        let cut = |file: &mut File, length| {
            file.set_len(length)?;
            file.seek(SeekFrom::End(0))
        };
        cut(&mut self.file, length).map_err(|e| Error::io(&self.path, e))?;
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
                    "is of a {} with other options: {name} was {then} and is now {now}; \
                     leave out --resume to begin anew",
                    E::OF
                );
                return Err(Error::data(&self.journal_path, reason));
            }
        }
        Ok(())
    }

    /// Reads pieces from the journal as long as the file agrees, and cuts both files after the last.
    fn take_over(&mut self, journal: &[u8], first: usize) -> Result<Vec<E>> {
        let mut pieces: Vec<E> = Vec::new();
        let (mut journal_end, mut end) = (first, 0);
        self.ends = vec![[0, first as u64]];
        while let Some(length) = journal[journal_end..].iter().position(|&byte| byte == b'\n') {
            let Ok(line) =
                serde_json::from_slice::<EntryLine<E>>(&journal[journal_end..journal_end + length])
            else {
                break;
            };
            let mut bytes = Vec::new();
            (&mut self.file)
                .take(line.bytes)
                .read_to_end(&mut bytes)
                .map_err(|e| Error::io(&self.path, e))?;
            let agrees = bytes.len() as u64 == line.bytes && hash(&bytes) == line.sha256;
            if !agrees || line.entry.number() != pieces.len() + 1 {
                break;
            }
            end += line.bytes;
            journal_end += length + 1;
            self.ends.push([end, journal_end as u64]);
            pieces.push(line.entry);
        }
        self.truncate([end, journal_end as u64])?;
        Ok(pieces)
    }

    /// Keeps only the first so many of the pieces that a resumed run found.
    ///
    /// # Errors
    /// If a file cannot be cut.
    pub fn keep(&mut self, pieces: usize) -> Result<()> {
        match self.ends.get(pieces) {
            Some(&ends) => self.truncate(ends),
            None => Ok(()),
        }
    }
}
