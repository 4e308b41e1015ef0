//! Checkpoints of a run beside its output, from which a killed run resumes.
//!
//! The folder `NAME.partial`, which a run locks, holds the positions that passed the filters (`positions`) and the
//! journal: a line of JSON that identifies the run, and a line for each checkpoint, all with checksums. A checkpoint
//! is written after everything it refers to is on disk, and an incomplete last line is ignored, so the run may be
//! killed at any moment.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::scores::ScoreCounts;
use super::settings::Settings;
use super::summary::{BadGame, Summary};
use crate::spill_file::SpillFile;
use crate::{Metadata, Source};
use patzer_io::error::{Error, Result};
use patzer_io::{Lock, checked_line, difference};
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

pub(super) struct Journal {
    folder: PathBuf,
    _lock: Option<Lock>,
    file: File,
    last: Option<Checkpoint>,
    interval: u64,
    at: u64,
}

impl Journal {
    /// Opens or creates the journal beside an output, and the file of positions.
    pub(super) fn open(
        output: &Path,
        files: &[PathBuf],
        metadata: &Metadata,
        settings: &Settings,
    ) -> Result<(Journal, SpillFile)> {
        let identity = Identity {
            metadata: metadata.clone(),
            licence: settings.licence.clone(),
            keep_partial: settings.keep_partial,
            scores: settings.scores.clone(),
            files: files.iter().map(|path| stamp(path)).collect::<Result<_>>()?,
        };
        if output == Path::new("-") || patzer_io::is_stream(output) || output.is_dir() {
            return Err(Error::usage("--resume needs a file as its output: name one with -o"));
        }
        let mut name = output.as_os_str().to_os_string();
        name.push(".partial");
        let folder = PathBuf::from(name);
        std::fs::create_dir_all(&folder).map_err(|e| Error::create(&folder, e))?;
        let lock = Lock::take(&folder)?;
        let path = folder.join(JOURNAL);
        let fault = |e| Error::io(&path, e);
        let text = if path.exists() { std::fs::read(&path).map_err(fault)? } else { Vec::new() };
        // The run was killed while it wrote a line without its end.
        let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let mut lines = (1..).zip(text[..whole].split_inclusive(|&byte| byte == b'\n'));
        let last = match lines.next() {
            None => None,
            Some(first) => {
                check(&folder, &parse(&path, first)?, &identity)?;
                let checkpoints = lines.map(|line| parse::<Checkpoint>(&path, line));
                checkpoints.collect::<Result<Vec<_>>>()?.into_iter().reduce(|before, mut next| {
                    next.bad.splice(0..0, before.bad);
                    next
                })
            }
        };
        let spilled = SpillFile::named(&folder.join(POSITIONS), last.as_ref().map_or(0, |last| last.length))?;
        if last.as_ref().is_some_and(|last| !last.agrees(files.len(), spilled.rows())) {
            let reason = "holds counts that contradict each other; remove the folder to start again";
            return Err(Error::data(&path, reason));
        }
        let options = File::options().create(true).truncate(false).write(true).open(&path).map_err(fault)?;
        options.set_len(whole as u64).map_err(fault)?;
        let file = File::options().append(true).open(&path).map_err(fault)?;
        let at = last.as_ref().map_or(0, |last| last.summary.positions_read);
        let interval = (settings.memory() as u64 / 256).clamp(1 << 14, 1 << 20);
        let mut journal = Journal { folder, _lock: lock, file, last, interval, at };
        if whole == 0 {
            journal.line(&identity)?;
        }
        Ok((journal, spilled))
    }

    pub(super) fn last(&self) -> Option<&Checkpoint> {
        self.last.as_ref()
    }

    pub(super) fn is_complete(&self) -> bool {
        self.last.as_ref().is_some_and(|last| last.sources.is_some())
    }

    pub(super) fn is_due(&self, positions_read: u64) -> bool {
        positions_read >= self.at + self.interval
    }

    /// Writes a checkpoint. Everything it refers to has to be on disk.
    pub(super) fn write(&mut self, checkpoint: Checkpoint) -> Result<()> {
        self.at = checkpoint.summary.positions_read;
        self.line(&checkpoint)
    }

    fn line(&mut self, line: &impl Serialize) -> Result<()> {
        let text = checked_line::write(line)?;
        let written = self.file.write_all(&text).and_then(|()| self.file.sync_data());
        written.map_err(|e| Error::io(self.folder.join(JOURNAL), e))
    }

    /// Removes the folder, once the dataset is written.
    pub(super) fn finish(self) -> Result<()> {
        std::fs::remove_dir_all(&self.folder).map_err(|e| Error::io(&self.folder, e))
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
    if path == Path::new("-") {
        return Err(Error::usage("standard input cannot be read again, so --resume cannot go on with it"));
    }
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
