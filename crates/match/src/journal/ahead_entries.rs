//! Entries of a journaled file that finished before an earlier one.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::ahead::Ahead;
use super::entry::JournalEntry;
use super::{JournaledFile, aside};
use patzer_io::error::{Error, Result};

impl<E: JournalEntry> JournaledFile<E> {
    /// Stores an entry that finished before an earlier one, until it is appended.
    pub fn append_ahead(&mut self, entry: &E, games: String) -> Result<()> {
        self.ahead.insert(entry.clone(), self.entries, games)?;
        self.sync_if_due()
    }

    /// Entries that finished before an earlier one, by number.
    pub fn ahead(&self) -> BTreeMap<usize, Ahead<E>> {
        self.ahead.entries()
    }

    pub fn count_ahead(&self) -> usize {
        self.ahead.len()
    }

    /// File of the entries ahead.
    pub fn ahead_path(&self) -> PathBuf {
        aside::ahead_path::<E>(&self.path)
    }

    /// Drops the entries ahead, which are beyond the end of the run.
    pub fn drop_ahead(&mut self) {
        self.ahead.clear();
    }

    /// Reads the entries ahead.
    pub(super) fn load_ahead(&mut self) -> Result<()> {
        let Some(line) = self.ahead.load::<E>(self.entries)? else { return Ok(()) };
        let reason =
            format!("is damaged; move this file away, and a resumed run plays its {} again", E::UNITS[1]);
        Err(Error::at(self.ahead_path(), format!("line {line}"), reason))
    }
}
