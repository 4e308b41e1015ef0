//! A finished journal with its games, entry by entry.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::entry::JournalEntry;
use super::line::EntryLine;
use super::stored::{StoredStart, surveyed};
use patzer_io::checked_line;
use patzer_io::error::{Error, Hint, Result};

/// Entries of a finished run in their order, read with their games.
pub struct Piece<E> {
    pub path: PathBuf,
    pub start: StoredStart,
    entries: std::vec::IntoIter<EntryLine<E>>,
    games: Box<dyn Read + Send>,
}

impl<E: JournalEntry> Piece<E> {
    /// Opens the journal of a file of games.
    ///
    /// # Errors
    /// The run has not come to its end, or the journal is damaged.
    pub fn open(file: &Path) -> Result<Piece<E>> {
        let path = E::journal(file);
        let (start, survey) = surveyed::<E>(&path)?;
        if !survey.complete {
            return Err(Error::data(&path, "has not come to its end").hint(Hint::Resume));
        }
        Ok(Piece {
            path: file.to_path_buf(),
            start,
            entries: survey.entries.into_iter(),
            games: patzer_io::raw(file)?,
        })
    }

    /// The next entry and its games.
    ///
    /// # Errors
    /// The games are not those that the journal counts.
    pub fn read(&mut self) -> Result<Option<(E, Vec<u8>)>> {
        let Some(line) = self.entries.next() else { return Ok(None) };
        let mut games = Vec::new();
        let read = (&mut self.games).take(line.bytes).read_to_end(&mut games);
        read.map_err(|e| Error::io(&self.path, e))?;
        if checked_line::checksum(&games) != line.sha256 {
            let number = line.entry.number();
            let reason =
                format!("the games of {} {number} differ from those that the journal counts", E::UNITS[0]);
            return Err(Error::data(&self.path, reason));
        }
        Ok(Some((line.entry, games)))
    }
}
