//! Reads a journal without its file of games, and starts no program.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use super::line::{self, Header};
use super::{Arguments, JournalEntry, Key, Options, agree};
use patzer_io::Limit;
use patzer_io::error::{Error, Result};

/// Tests whether a name is a journal's.
pub fn is_journal(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "journal")
}

/// First line of an existing journal.
pub struct StoredStart(pub(super) Header);

impl StoredStart {
    /// Command line that started the run.
    pub fn arguments(&self) -> &Arguments {
        &self.0.arguments
    }

    pub fn options(&self) -> &Options {
        &self.0.options
    }

    /// The user of this key started the run.
    pub fn is_signed_by(&self, key: &Key) -> bool {
        let signature = self.0.signature.as_deref();
        signature.is_some_and(|signature| key.verifies(&self.0.signed_text(), signature))
    }
}

/// First line of the journal of a file; `None` before it is whole.
pub fn stored<E: JournalEntry>(file: &Path) -> Result<Option<StoredStart>> {
    let path = E::journal(file);
    if !path.exists() {
        return Ok(None);
    }
    let mut line = Vec::new();
    let file = File::open(&path).map_err(|e| Error::io(&path, e))?;
    BufReader::new(file).read_until(b'\n', &mut line).map_err(|e| Error::io(&path, e))?;
    let Some(line) = line.strip_suffix(b"\n") else { return Ok(None) };
    line::header(line).map(|header| Some(StoredStart(header))).map_err(|why| Error::at(&path, "line 1", why))
}

/// A journal as a report reads it.
pub struct Contents<E> {
    pub start: StoredStart,
    pub entries: Vec<E>,
    /// The run has come to its end; unknown for journals of earlier versions.
    pub complete: Option<bool>,
}

/// Reads a journal without its file of games; starts no program.
pub fn read<E: JournalEntry>(path: &Path) -> Result<Contents<E>> {
    let text = patzer_io::read(path, Limit::JOURNAL)?;
    let end = text.iter().position(|&byte| byte == b'\n').unwrap_or(text.len());
    let header = line::header(&text[..end]).map_err(|why| Error::at(path, "line 1", why))?;
    let survey = agree::entries::<E>(&text, (end + 1).min(text.len()), &header);
    if let Some(fault) = &survey.fault {
        let (place, reason) = fault.place(path, &survey);
        return Err(Error::at(path, place, reason));
    }
    let complete = header.has_checksums().then_some(survey.complete);
    let entries = survey.entries.into_iter().map(|line| line.entry).collect();
    Ok(Contents { start: StoredStart(header), entries, complete })
}
