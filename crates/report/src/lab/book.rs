//! The file of the book: read whole, appended line by line under a lock.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Entry, Note};
use patzer_io::error::{Error, Result};
use patzer_io::{Limit, Lock};

/// Name of the book's file.
pub const FILE: &str = "patzer.lab";

/// Longest wait for another process that appends.
const WAIT: Duration = Duration::from_secs(10);

/// A book as it was read.
#[derive(Debug, Clone, Default)]
pub struct Book {
    /// Runs, in the order of the file.
    pub entries: Vec<Entry>,
    /// Remarks, in the order of the file.
    pub notes: Vec<Note>,
}

/// The book of a folder: there or in one of the folders above.
pub fn find(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().map(|folder| folder.join(FILE)).find(|path| path.is_file())
}

/// Locks a book, waiting for another process that appends.
fn lock(path: &Path) -> Result<Option<Lock>> {
    let begin = Instant::now();
    loop {
        match Lock::take(path) {
            Err(error) if begin.elapsed() > WAIT => return Err(error),
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
            lock => return lock,
        }
    }
}

impl Book {
    /// Reads a book.
    ///
    /// # Errors
    /// A line is no entry and no note, but for a last one that was cut off.
    pub fn read(path: &Path) -> Result<Book> {
        let text = patzer_io::read_text(path, Limit::JOURNAL)?;
        let mut book = Book::default();
        let count = text.lines().count();
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            if let Err(reason) = book.add(line) {
                if at + 1 == count && !text.ends_with('\n') {
                    break;
                }
                return Err(Error::at(path, format!("line {}", at + 1), reason.to_string()));
            }
        }
        Ok(book)
    }

    fn add(&mut self, line: &str) -> serde_json::Result<()> {
        let value: Value = serde_json::from_str(line)?;
        match value.get("note") {
            Some(_) => self.notes.push(serde_json::from_value(value)?),
            None => self.entries.push(serde_json::from_value(value)?),
        }
        Ok(())
    }

    /// Appends runs and remarks to a book's file, in one piece.
    ///
    /// # Errors
    /// The file cannot be written, or another process keeps it locked.
    pub fn append(&self, path: &Path) -> Result<()> {
        let _lock = lock(path)?;
        let fault = |e| Error::io(path, e);
        let before = std::fs::read(path).map_err(fault)?;
        let whole = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let last = &before[whole..];
        // The last line may have been cut off, or written by an editor without a line end.
        let is_entry = serde_json::from_slice::<Value>(last).is_ok();
        let mut text = if is_entry { b"\n".to_vec() } else { Vec::new() };
        text.extend(self.lines().map_err(|e| Error::internal(e.to_string()))?);
        let mut file = OpenOptions::new().append(true).open(path).map_err(fault)?;
        if !last.is_empty() && !is_entry {
            file.set_len(whole as u64).map_err(fault)?;
        }
        file.write_all(&text).map_err(fault)
    }

    fn lines(&self) -> serde_json::Result<Vec<u8>> {
        let mut text = Vec::new();
        for entry in &self.entries {
            serde_json::to_writer(&mut text, entry)?;
            text.push(b'\n');
        }
        for note in &self.notes {
            serde_json::to_writer(&mut text, note)?;
            text.push(b'\n');
        }
        Ok(text)
    }

    /// Takes in another book after this one.
    pub fn extend(&mut self, other: Book) {
        self.entries.extend(other.entries);
        self.notes.extend(other.notes);
    }

    /// Entries and notes that this book lacks; entries are known by their identity.
    pub fn missing(&self, other: &Book) -> Book {
        let known = |entry: &&Entry| self.entries.iter().all(|own| own.id != entry.id);
        let entries = other.entries.iter().filter(known).cloned().collect();
        let notes = other.notes.iter().filter(|note| !self.notes.contains(note)).cloned().collect();
        Book { entries, notes }
    }

    /// The entry whose identity begins so.
    ///
    /// # Errors
    /// There is none, or more than one.
    pub fn entry(&self, id: &str) -> Result<&Entry> {
        let found: Vec<&Entry> = self.entries.iter().filter(|entry| entry.id.starts_with(id)).collect();
        match found[..] {
            [entry] => Ok(entry),
            [] => Err(Error::input(format!("the book has no run {id}"))),
            _ => Err(Error::input(format!("the book has {} runs that begin with {id}", found.len()))),
        }
    }

    /// Notes of a run.
    pub fn notes_of(&self, id: &str) -> impl Iterator<Item = &str> {
        self.notes.iter().filter(move |note| note.of == id).map(|note| note.note.as_str())
    }

    /// Digest of a file that the book names by this path or name, the last one; or the digest itself.
    pub fn digest(&self, file: &str) -> Option<String> {
        let mut files = self.entries.iter().rev().flat_map(|entry| entry.written.iter().chain(&entry.read));
        let named = |record: &&super::FileRecord| {
            record.path == Path::new(file) || record.name() == file || record.digest == file
        };
        files.find(named).map(|record| record.digest.clone())
    }
}
