//! Repair of a journal and its file of games that disagree.
//!
//! Kept are the entries up to the first damaged line of the journal, and of the file the games of those entries that
//! are whole in it. Results live in the journal: a match keeps them even where their games are lost, with no bytes in
//! the file. Self-play keeps only batches with their games.

use std::io::Write;
use std::path::Path;

use super::agree::Survey;
use super::ahead::AheadFile;
use super::aside;
use super::entry::JournalEntry;
use super::line::EntryLine;
use patzer_io::Output;
use patzer_io::checked_line;
use patzer_io::error::{Error, Result};

/// Entries and games that a repair keeps.
pub(super) struct Repair<E> {
    entries: Vec<EntryLine<E>>,
    games: Vec<u8>,
    /// Entries whose games are in the file.
    with_games: usize,
}

/// Finds the games of each entry in the file: in their place, or moved by text inserted or lost before them.
pub(super) fn plan<E: JournalEntry>(survey: &Survey<E>, file: &[u8]) -> Repair<E> {
    let as_they_are = locate(survey, file);
    if !E::TEXT || !file.contains(&b'\r') {
        return as_they_are;
    }
    let unix: Vec<u8> = file.iter().copied().filter(|&byte| byte != b'\r').collect();
    let converted = locate(survey, &unix);
    if converted.with_games > as_they_are.with_games { converted } else { as_they_are }
}

fn locate<E: JournalEntry>(survey: &Survey<E>, file: &[u8]) -> Repair<E> {
    let expected = survey.ends.last().map_or(0, |ends| ends[0]);
    let shift = file.len() as i64 - expected as i64;
    let mut repair = Repair { entries: Vec::new(), games: Vec::new(), with_games: 0 };
    let mut moved = 0;
    for (line, ends) in survey.entries.iter().zip(&survey.ends) {
        let found = [moved, shift].into_iter().find_map(|by| {
            let start = usize::try_from(ends[0] as i64 + by).ok()?;
            let bytes = file.get(start..start.checked_add(usize::try_from(line.bytes).ok()?)?)?;
            (line.bytes > 0 && checked_line::checksum(bytes) == line.sha256).then_some((by, bytes))
        });
        let mut line = line.clone();
        match found {
            Some((by, bytes)) => {
                moved = by;
                repair.games.extend_from_slice(bytes);
                repair.with_games += 1;
            }
            None if E::KEEPS_RESULTS => (line.bytes, line.sha256) = (0, checked_line::checksum(b"")),
            None => break,
        }
        repair.entries.push(line);
    }
    repair
}

impl<E: JournalEntry> Repair<E> {
    pub fn describe(&self) -> String {
        let (all, with) = (self.entries.len(), self.with_games);
        match E::KEEPS_RESULTS {
            true => format!("the results of {all} {} and the games of {with}", E::UNITS[1]),
            false => format!("{all} {}", E::UNITS[1]),
        }
    }

    /// Moves the files aside and writes what is kept; says what it did.
    pub fn carry_out(&self, path: &Path, first_line: &[u8]) -> Result<String> {
        let journal_path = E::journal(path);
        let (mut games, mut journal) = (Output::create(path)?, Output::create(&journal_path)?);
        games.write_all(&self.games).map_err(|e| Error::io(path, e))?;
        let mut text = first_line.to_vec();
        for entry in &self.entries {
            text.extend(checked_line::write(entry)?);
        }
        journal.write_all(&text).map_err(|e| Error::io(&journal_path, e))?;
        let ahead_path = aside::ahead_path::<E>(path);
        let mut ahead = AheadFile::new(ahead_path.clone(), first_line)?;
        ahead.load::<E>(self.entries.len())?;
        let moved = aside::move_aside::<E>(path)?;
        games.commit()?;
        journal.commit()?;
        if ahead.len() > 0 {
            patzer_io::write(&ahead_path, &ahead.text())?;
        }
        patzer_io::sync_folder(path);
        Ok(format!("{}: repaired, {} are kept; {moved}", path.display(), self.describe()))
    }
}
