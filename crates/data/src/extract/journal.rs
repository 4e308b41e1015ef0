//! Checkpoints of a run beside its output, from which a killed run resumes.
//!
//! The folder `NAME.partial`, which a run locks, holds the positions that passed the filters (`positions`) and the
//! journal: a line of JSON that identifies the run and has its arguments, and a line for each checkpoint, all with
//! checksums. A checkpoint is written after everything it refers to is on disk, and an incomplete last line is ignored,
//! so the run may be killed at any moment. Short runs, which lose little, create no folder.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::scores::ScoreCounts;
use super::settings::{Journaling, Settings};
use super::summary::{BadGame, Summary};
use crate::spill_file::SpillFile;
use crate::{Metadata, Record, Source};
use patzer_io::Earlier;
use patzer_io::error::{Error, Hint, Result};
use patzer_io::{Limit, Lock, checked_line, difference};
use patzer_pgn::ScoreOptions;

const JOURNAL: &str = "journal";
const POSITIONS: &str = "positions";

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Checkpoint {
    /// Length of the file of positions, in bytes.
    pub(super) length: u64,
    pub(super) next_game: u64,
    pub(super) summary: Summary,
    /// Broken games since the checkpoint before.
    pub(super) bad: Vec<BadGame>,
    pub(super) damage: Vec<String>,
    pub(super) scores: ScoreCounts,
    pub(super) sources: Option<Vec<Source>>,
}

/// Bound on the positions of a run; counts up to it add up without overflow.
const MOST_POSITIONS: u64 = 1 << 40;

impl Checkpoint {
    /// Tests whether all that was read is accounted for, and by no other files than the run's.
    fn agrees(&self, files: usize, passed: u64) -> bool {
        let summary = &self.summary;
        let counted = summary.dropped.values().fold(passed, |sum, count| sum.saturating_add(*count));
        let counts = [summary.games, summary.positions_read, summary.null_moves, self.next_game];
        counts.iter().all(|count| *count <= MOST_POSITIONS)
            && summary.games_bad <= summary.games
            && summary.positions_read == counted
            && summary.positions_written == 0
            && self.scores.is_of(files, summary.games, summary.positions_read)
            && self.sources.as_ref().is_none_or(|sources| sources.len() == files)
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Identity {
    metadata: Metadata,
    #[serde(default)]
    licence: Option<String>,
    keep_partial: bool,
    scores: ScoreOptions,
    /// Path, size in bytes and modification time in nanoseconds of every file of games.
    files: Vec<(PathBuf, u64, u64)>,
}

/// First line of a journal.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    arguments: Value,
    identity: Identity,
}

/// Positions that stay in memory before the folder is created: short runs write none.
const IN_MEMORY: u64 = 1 << 18;

pub(super) struct Journal {
    folder: PathBuf,
    header: Header,
    last: Option<Checkpoint>,
    files: Option<Files>,
    pending: Vec<Record>,
    lock: Option<Lock>,
    interval: u64,
    at: u64,
}

struct Files {
    path: PathBuf,
    journal: File,
    positions: SpillFile,
    /// Has a checkpoint.
    worth_keeping: bool,
}

impl Journal {
    /// Opens the journal of an unfinished run, or prepares one beside an output.
    pub(super) fn open(
        output: &Path,
        files: &[PathBuf],
        metadata: &Metadata,
        settings: &Settings,
        how: &Journaling,
    ) -> Result<Journal> {
        let identity = Identity {
            metadata: metadata.clone(),
            licence: settings.licence.clone(),
            keep_partial: settings.keep_partial,
            scores: settings.scores.clone(),
            files: files.iter().map(|path| stamp(path)).collect::<Result<_>>()?,
        };
        let folder = folder_of(output);
        let lock = if folder.is_dir() { Lock::take(&folder)? } else { None };
        let interval = (settings.memory() as u64 / 256).clamp(1 << 14, 1 << 23);
        let header = Header { arguments: how.arguments.clone(), identity };
        let mut journal =
            Journal { folder, header, last: None, files: None, pending: Vec::new(), lock, interval, at: 0 };
        if how.earlier != Earlier::Overwrite {
            journal.read(files.len(), how.earlier)?;
        }
        Ok(journal)
    }

    /// Reads the checkpoints of an unfinished run.
    fn read(&mut self, files: usize, earlier: Earlier) -> Result<()> {
        let path = self.folder.join(JOURNAL);
        let fault = |e| Error::io(&path, e);
        let text = if path.exists() { patzer_io::read(&path, Limit::JOURNAL)? } else { Vec::new() };
        // The run was killed while it wrote a line without its end.
        let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let mut lines = (1..).zip(text[..whole].split_inclusive(|&byte| byte == b'\n'));
        let Some(first) = lines.next() else { return Ok(()) };
        let stored: Header = parse(&path, first)?;
        let checkpoints = lines.map(|line| parse::<Checkpoint>(&path, line)).collect::<Result<Vec<_>>>()?;
        let last = checkpoints.into_iter().reduce(|before, mut next| {
            next.bad.splice(0..0, before.bad);
            next
        });
        let Some(last) = last else { return Ok(()) };
        if earlier == Earlier::Protect {
            let error = Error::data(&self.folder, "is of an unfinished run");
            return Err(error.hint(Hint::ResumeOrOverwrite));
        }
        check(&self.folder, &stored.identity, &self.header.identity)?;
        let positions = SpillFile::named(&self.folder.join(POSITIONS), last.length)?;
        if !last.agrees(files, positions.rows()) {
            let reason = "holds counts that contradict each other; remove the folder to start again";
            return Err(Error::data(&path, reason));
        }
        let journal = File::options().append(true).open(&path).map_err(fault)?;
        journal.set_len(whole as u64).map_err(fault)?;
        self.at = last.summary.positions_read;
        self.last = Some(last);
        self.files = Some(Files { path, journal, positions, worth_keeping: true });
        Ok(())
    }

    pub(super) fn last(&self) -> Option<&Checkpoint> {
        self.last.as_ref()
    }

    /// Positions of the earlier run.
    pub(super) fn rows(&self) -> u64 {
        self.files.as_ref().map_or(0, |files| files.positions.rows())
    }

    pub(super) fn replay(&mut self, each: impl FnMut(Vec<Record>) -> Result<()>) -> Result<()> {
        self.files.as_mut().map_or(Ok(()), |files| files.positions.replay(each))
    }

    /// Tests whether the journal is in files, from which a later run can resume.
    pub(super) fn is_in_files(&self) -> bool {
        self.files.is_some()
    }

    pub(super) fn is_complete(&self) -> bool {
        self.last.as_ref().is_some_and(|last| last.sources.is_some())
    }

    pub(super) fn is_due(&self, positions_read: u64) -> bool {
        positions_read >= self.at + self.interval
    }

    pub(super) fn push(&mut self, records: &[Record]) -> Result<()> {
        if let Some(files) = &mut self.files {
            return files.positions.push(records);
        }
        self.pending.extend_from_slice(records);
        let full = self.pending.len() as u64 >= self.interval.min(IN_MEMORY);
        if full { self.files().map(|_| ()) } else { Ok(()) }
    }

    /// Writes a checkpoint, and before it all positions that it refers to; `length` is set here.
    pub(super) fn write(&mut self, mut checkpoint: Checkpoint) -> Result<()> {
        self.at = checkpoint.summary.positions_read;
        let files = self.files()?;
        checkpoint.length = files.positions.flush(true)?;
        files.line(&checkpoint)?;
        files.worth_keeping = true;
        Ok(())
    }

    /// Creates the folder and its files at the first use.
    fn files(&mut self) -> Result<&mut Files> {
        if self.files.is_none() {
            std::fs::create_dir_all(&self.folder).map_err(|e| Error::create(&self.folder, e))?;
            if self.lock.is_none() {
                self.lock = Lock::take(&self.folder)?;
            }
            let path = self.folder.join(JOURNAL);
            let journal = File::create(&path).map_err(|e| Error::create(&path, e))?;
            let mut positions = SpillFile::named(&self.folder.join(POSITIONS), 0)?;
            positions.push(&std::mem::take(&mut self.pending))?;
            let mut files = Files { path, journal, positions, worth_keeping: false };
            files.line(&self.header)?;
            self.files = Some(files);
        }
        self.files.as_mut().ok_or_else(|| Error::internal("the journal has files"))
    }

    /// Removes the folder, once the dataset is written.
    pub(super) fn finish(mut self) -> Result<()> {
        self.files = None;
        match self.folder.exists() {
            true => std::fs::remove_dir_all(&self.folder).map_err(|e| Error::io(&self.folder, e)),
            false => Ok(()),
        }
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // A run that failed before its first checkpoint leaves nothing in the way of the next.
        if self.files.as_ref().is_some_and(|files| !files.worth_keeping) {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}

impl Files {
    fn line(&mut self, line: &impl Serialize) -> Result<()> {
        let text = checked_line::write(line)?;
        let written = self.journal.write_all(&text).and_then(|()| self.journal.sync_data());
        written.map_err(|e| Error::io(&self.path, e))
    }
}

fn folder_of(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_os_string();
    name.push(".partial");
    name.into()
}

/// Arguments of the unfinished run of an output; `None` without a journal.
pub fn stored(output: &Path) -> Result<Option<Value>> {
    let path = folder_of(output).join(JOURNAL);
    if !path.exists() {
        return Ok(None);
    }
    let line = checked_line::first_line(&path)?;
    let line = line.ends_with(b"\n").then_some(line);
    line.map(|line| parse(&path, (1, &line)).map(|header: Header| header.arguments)).transpose()
}

/// Reason why a run cannot be resumed.
pub(super) fn obstacle(output: &Path, files: &[PathBuf], settings: &Settings) -> Option<&'static str> {
    if output == Path::new("-") || patzer_io::is_stream(output) || output.is_dir() {
        Some("only a run that writes a file can be resumed")
    } else if files.iter().any(|path| path == Path::new("-") || patzer_io::is_stream(path)) {
        Some("standard input and pipes cannot be read again, so that no run resumes from them")
    } else if files.iter().any(|path| path.to_str().is_none()) {
        Some("a run on files whose names are not UTF-8 cannot be resumed")
    } else if settings.visits || settings.rejects.is_some() {
        Some("a run that writes visits or rejected games cannot be resumed")
    } else {
        None
    }
}

/// Refuses a run with other games or settings.
fn check(folder: &Path, stored: &Identity, now: &Identity) -> Result<()> {
    let value = |identity| serde_json::to_value(identity).map_err(|e| Error::internal(e.to_string()));
    let Some(difference) = difference(&value(stored)?, &value(now)?) else { return Ok(()) };
    let reason =
        format!("belongs to a run with other games or settings: {difference}; remove it to start again");
    Err(Error::data(folder, reason))
}

/// Parses a line with its number.
fn parse<T: DeserializeOwned>(path: &Path, (number, line): (usize, &[u8])) -> Result<T> {
    let line = line.trim_ascii_end();
    let parsed = checked_line::is_intact(line, true).then(|| serde_json::from_slice(line).ok()).flatten();
    parsed.ok_or_else(|| {
        let reason =
            "is damaged, or of an earlier version: its checksum differs; remove the folder to start again";
        Error::at(path, format!("line {number}"), reason)
    })
}

fn stamp(path: &Path) -> Result<(PathBuf, u64, u64)> {
    let about = std::fs::metadata(path).map_err(|e| Error::io(path, e))?;
    let changed = about.modified().map_err(|e| Error::io(path, e))?;
    let nanoseconds =
        changed.duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    Ok((path.to_path_buf(), about.len(), nanoseconds))
}

#[cfg(test)]
mod tests {
    use patzer_pgn::{EvalSide, Factor, PerSource};

    use super::*;

    #[test]
    fn scores_are_kept_by_name() {
        let scores = ScoreOptions {
            side: vec![PerSource { source: None, value: EvalSide::Mover }],
            unit: vec!["a.pgn=cp".parse().unwrap()],
            scale: vec![PerSource { source: None, value: Factor(0.5) }],
            of: Vec::new(),
        };
        let text = r#"{"side":[{"source":null,"value":"mover"}],"unit":[{"source":"a.pgn","value":"cp"}],"scale":[{"source":null,"value":0.5}],"of":[]}"#;
        assert_eq!(serde_json::to_string(&scores).unwrap(), text);
        assert_eq!(serde_json::from_str::<ScoreOptions>(text).unwrap(), scores);
    }
}
