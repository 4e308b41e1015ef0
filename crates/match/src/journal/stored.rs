//! Reads a journal without its file of games, and starts no program.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::agree::{self, Survey};
use super::entry::JournalEntry;
use super::key::Key;
use super::line::{self, Header};
use patzer_io::Limit;
use patzer_io::checked_line::first_line;
use patzer_io::error::{Error, Result};

/// Tests whether a name is a journal's.
pub fn is_journal(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "journal")
}

/// First line of an existing journal.
pub struct StoredStart(pub(super) Header);

impl StoredStart {
    /// Command that started the run.
    pub fn command(&self) -> &str {
        &self.0.command
    }

    /// Settings of that command.
    ///
    /// # Errors
    /// They are of another version of it.
    pub fn settings<T: DeserializeOwned>(&self) -> Result<T> {
        let fault = |e| Error::input(format!("the settings of `{}` in the journal: {e}", self.command()));
        T::deserialize(&self.0.settings).map_err(fault)
    }

    /// Conditions that decide the games.
    pub fn conditions(&self) -> &Value {
        &self.0.conditions
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
    let line = first_line(&path)?;
    let Some(line) = line.strip_suffix(b"\n") else { return Ok(None) };
    line::header(line).map(|header| Some(StoredStart(header))).map_err(|why| Error::at(&path, "line 1", why))
}

/// A journal as a report reads it.
pub struct Contents<E> {
    pub start: StoredStart,
    pub entries: Vec<E>,
    /// The run has come to its end.
    pub complete: bool,
}

/// Reads a journal without its file of games; starts no program.
pub fn read<E: JournalEntry>(path: &Path) -> Result<Contents<E>> {
    let (start, survey) = surveyed::<E>(path)?;
    let entries = survey.entries.into_iter().map(|line| line.entry).collect();
    Ok(Contents { start, entries, complete: survey.complete })
}

/// First line and entries of a journal without damage.
pub(super) fn surveyed<E: JournalEntry>(path: &Path) -> Result<(StoredStart, Survey<E>)> {
    let text = patzer_io::read(path, Limit::JOURNAL)?;
    let end = text.iter().position(|&byte| byte == b'\n').unwrap_or(text.len());
    let header = line::header(&text[..end]).map_err(|why| Error::at(path, "line 1", why))?;
    let survey = agree::entries::<E>(&text, (end + 1).min(text.len()));
    if let Some(fault) = &survey.fault {
        let (place, reason) = fault.place(path, &survey);
        return Err(Error::at(path, place, reason));
    }
    Ok((StoredStart(header), survey))
}
