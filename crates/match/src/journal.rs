//! An append-only file of games with a journal beside it, for resumable matches and self-play.
//!
//! The journal is JSON lines: first the options, then for each entry its counts with the length and SHA-256
//! of its bytes in the file. An entry counts if its line is whole and the file holds exactly its bytes; a
//! resumed run truncates both files after the last such entry, so file and counts always agree.

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

/// Options that decide which games are played, by name.
pub type Options = BTreeMap<String, String>;

pub type Arguments = BTreeMap<String, Vec<String>>;

pub trait JournalEntry: Serialize + DeserializeOwned + Clone {
    const OPTION: &'static str;
    const OF: &'static str;

    fn number(&self) -> usize;

    fn journal(file: &Path) -> PathBuf;
}

#[derive(Debug, Serialize, Deserialize)]
struct Header {
    patzer_journal: u32,
    /// Command line that started the run, so that `--resume` needs no other argument.
    arguments: Arguments,
    options: Options,
}

#[derive(Debug, Serialize, Deserialize)]
struct EntryLine<E> {
    #[serde(flatten)]
    entry: E,
    bytes: u64,
    sha256: String,
}

const FORMAT: u32 = 2;
const MAGIC: &[u8] = b"{\"patzer_journal\":";

pub struct JournaledFile<E> {
    file: File,
    path: PathBuf,
    journal: File,
    journal_path: PathBuf,
    /// End offsets in file and journal of the entries that a resumed run found, after the start.
    ends: Vec<[u64; 2]>,
    entry: PhantomData<E>,
    synced: Instant,
    dirty: bool,
}

impl<E> Drop for JournaledFile<E> {
    fn drop(&mut self) {
        // Unlock before closing: a process being spawned may still hold a copy of the descriptor.
        let _ = self.journal.unlock();
    }
}

/// Longest time that finished entries stay in memory: the loss in a power cut.
const SYNC: Duration = Duration::from_secs(1);

fn hash(text: &[u8]) -> String {
    format!("{:x}", Sha256::digest(text)).chars().take(16).collect()
}

fn header(line: &[u8], path: &Path) -> Result<Header> {
    let header = serde_json::from_slice::<serde_json::Value>(line).ok();
    let reason = match header.as_ref().and_then(|header| header["patzer_journal"].as_u64()) {
        Some(version) if version != u64::from(FORMAT) => "is a journal of another version of patzer",
        _ => "is not a journal of patzer",
    };
    let header = header.filter(|header| header["patzer_journal"] == FORMAT);
    header
        .and_then(|header| serde_json::from_value(header).ok())
        .ok_or_else(|| Error::at(path, "line 1", reason))
}

impl<E: JournalEntry> JournaledFile<E> {
    /// Creates the files over an earlier run; never over a file without a journal, or a foreign journal.
    pub fn create(path: &Path, arguments: &Arguments, options: &Options) -> Result<JournaledFile<E>> {
        let mut record = JournaledFile::open(path)?;
        record.truncate([0; 2])?;
        let (arguments, options) = (arguments.clone(), options.clone());
        record.journal_line(&Header { patzer_journal: FORMAT, arguments, options })?;
        record.sync()?;
        record.sync_names();
        Ok(record)
    }

    /// Command line that started the run; `None` before the first line is whole.
    pub fn arguments(file: &Path) -> Result<Option<Arguments>> {
        let path = E::journal(file);
        if !path.exists() {
            return Ok(None);
        }
        let mut line = Vec::new();
        let file = File::open(&path).map_err(|e| Error::io(&path, e))?;
        BufReader::new(file).read_until(b'\n', &mut line).map_err(|e| Error::io(&path, e))?;
        line.strip_suffix(b"\n").map(|line| Ok(header(line, &path)?.arguments)).transpose()
    }

    /// Resumes a run and returns its entries, or creates it; an error names the first option that differs.
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
            drop(record);
            return Ok((JournaledFile::create(path, arguments, options)?, Vec::new()));
        };
        record.check(&text[..end], options)?;
        let entries = record.take_over(&text, end + 1)?;
        Ok((record, entries))
    }

    pub fn append(&mut self, entry: &E, bytes: &[u8]) -> Result<()> {
        // File first: a journal line without its bytes would be worse than bytes without a line.
        self.file.write_all(bytes).map_err(|e| Error::io(&self.path, e))?;
        let line = EntryLine { entry: entry.clone(), bytes: bytes.len() as u64, sha256: hash(bytes) };
        self.journal_line(&line)?;
        self.dirty = true;
        self.sync_if_due()
    }

    pub fn sync_if_due(&mut self) -> Result<()> {
        if self.dirty && self.synced.elapsed() >= SYNC { self.sync() } else { Ok(()) }
    }

    pub fn finish(mut self) -> Result<()> {
        self.sync()
    }

    fn sync_names(&self) {
        let folder = match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }

    fn sync(&mut self) -> Result<()> {
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
            // Not even /dev/null: a resumed run reads the file back.
            return Err(Error::data(path, format!("is not a regular file; name another with {option}")));
        }
        if there.is_some_and(|meta| meta.len() > 0) && !journal_path.exists() {
            let remedy = format!("move it away, or name another with {option}");
            let reason = format!("exists and is not from a {} (no journal lies beside it); {remedy}", E::OF);
            return Err(Error::data(path, reason));
        }
        let open = |path: &Path| {
            let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
            options.map_err(|e| Error::create(path, e))
        };
        let mut journal = open(&journal_path)?;
        // Without locks on this file system, play on.
        if let Err(TryLockError::WouldBlock) = journal.try_lock() {
            let reason = format!("another {} is writing it; name another file with {option}", E::OF);
            return Err(Error::data(&journal_path, reason));
        }
        let mut start = Vec::new();
        let head = (&mut journal).take(MAGIC.len() as u64).read_to_end(&mut start);
        head.and_then(|_| journal.rewind()).map_err(|e| Error::io(&journal_path, e))?;
        // A run interrupted at once leaves part of the first line.
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
            entry: PhantomData,
            synced: Instant::now(),
            dirty: false,
        })
    }

    fn journal_line(&mut self, line: &impl Serialize) -> Result<()> {
        let mut text = serde_json::to_vec(line).map_err(|e| Error::internal(e.to_string()))?;
        text.push(b'\n');
        self.journal.write_all(&text).map_err(|e| Error::io(&self.journal_path, e))
    }

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
                     leave out --resume to start over",
                    E::OF
                );
                return Err(Error::data(&self.journal_path, reason));
            }
        }
        Ok(())
    }

    /// Reads entries while the file agrees with the journal, and truncates both after the last.
    fn take_over(&mut self, journal: &[u8], first: usize) -> Result<Vec<E>> {
        let mut entries: Vec<E> = Vec::new();
        let (mut journal_end, mut end) = (first, 0);
        self.ends = vec![[0, first as u64]];
        while let Some(length) = journal[journal_end..].iter().position(|&byte| byte == b'\n') {
            let line = &journal[journal_end..journal_end + length];
            let Ok(line) = serde_json::from_slice::<EntryLine<E>>(line) else { break };
            let mut bytes = Vec::new();
            let read = (&mut self.file).take(line.bytes).read_to_end(&mut bytes);
            read.map_err(|e| Error::io(&self.path, e))?;
            let agrees = bytes.len() as u64 == line.bytes && hash(&bytes) == line.sha256;
            if !agrees || line.entry.number() != entries.len() + 1 {
                break;
            }
            end += line.bytes;
            journal_end += length + 1;
            self.ends.push([end, journal_end as u64]);
            entries.push(line.entry);
        }
        self.truncate([end, journal_end as u64])?;
        Ok(entries)
    }

    pub fn keep(&mut self, entries: usize) -> Result<()> {
        self.ends.get(entries).copied().map_or(Ok(()), |ends| self.truncate(ends))
    }
}
