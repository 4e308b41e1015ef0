//! Choice by an earlier run of the same name: a free name, a resumed run, or neither.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::entry::JournalEntry;
use super::stored::is_journal;
use super::{agree, ahead, aside, line};
use patzer_io::difference;
use patzer_io::error::{Error, Hint, Result};

pub(super) fn check_path<E: JournalEntry>(path: &Path) -> Result<()> {
    if path == Path::new("-") || is_journal(path) {
        return Err(Error::usage(format!("{}: name a file for the games", path.display())));
    }
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    if E::TEXT && ending.is_some_and(|ending| matches!(&*ending, "gz" | "bz2" | "zst" | "xz" | "zip")) {
        let reason = "games are written plain, so that a run can go on; compress the file afterwards";
        return Err(Error::usage(format!("{}: {reason}", path.display())));
    }
    // Not even /dev/null: a resumed run reads the file back.
    let is_other = |path: &&PathBuf| std::fs::metadata(path).is_ok_and(|about| !about.is_file());
    match aside::names::<E>(path).iter().find(is_other) {
        Some(path) => Err(Error::data(path, "is not a regular file").hint(Hint::OtherFile)),
        None => Ok(()),
    }
}

/// Makes the names free for a new run.
pub(super) fn clear<E: JournalEntry>(path: &Path, journal: &[u8], overwrite: bool) -> Result<Option<String>> {
    if !overwrite && is_finished::<E>(path, journal)? {
        return aside::move_aside::<E>(path).map(Some);
    }
    aside::names::<E>(path).iter().try_for_each(|path| patzer_io::remove_if_exists(path))?;
    Ok(None)
}

/// Tests for a finished run, as opposed to one without games.
///
/// # Errors
/// The run is unfinished, so that its files are not to be replaced.
pub(super) fn is_finished<E: JournalEntry>(path: &Path, journal: &[u8]) -> Result<bool> {
    let first = journal.iter().position(|&byte| byte == b'\n');
    let header = first.and_then(|end| line::header(&journal[..end]).ok());
    let survey = header.as_ref().zip(first).map(|(_, end)| agree::entries::<E>(journal, end + 1));
    let done = survey.as_ref().map_or(0, |survey| survey.entries.len());
    let ahead = first.map_or(Ok(0), |first| ahead::count::<E>(path, &journal[..=first], done))?;
    let empty = survey.as_ref().is_none_or(|survey| survey.entries.is_empty() && survey.fault.is_none())
        && std::fs::metadata(path).map_or(0, |about| about.len()) == 0
        && ahead == 0;
    let complete = survey.as_ref().is_some_and(|survey| survey.complete && survey.fault.is_none());
    if complete || empty && (header.is_some() || first.is_none()) {
        return Ok(complete);
    }
    let kept = if ahead > 0 { format!(", and {ahead} ahead of an unfinished one") } else { String::new() };
    let reason =
        format!("is of an unfinished {} of {done} {}{kept}", E::OF, E::UNITS[usize::from(done != 1)]);
    Err(Error::data(path, reason).hint(Hint::ResumeOrOtherFile))
}

/// Compares the conditions that a journal stores with the present ones.
///
/// # Errors
/// They differ; the first difference is named.
pub fn check_conditions<E: JournalEntry>(path: &Path, then: &Value, now: &Value) -> Result<()> {
    let Some(difference) = difference(then, now) else { return Ok(()) };
    let reason = format!("is of a {} with other settings: {difference}", E::OF);
    Err(Error::data(path, reason).hint(Hint::Overwrite))
}
