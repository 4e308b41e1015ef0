//! An append-only file of games with a journal beside it, for resumable matches and self-play.
//!
//! The journal is JSON lines: first the settings, then for each entry its counts with the length and SHA-256 of its
//! bytes in the file, and at the end of the run a line that says so. Each line ends with a checksum.
//!
//! A line is written only after its games have reached the disk, at most a second later. So a kill or a power cut
//! leaves games that the journal does not count, or part of a line: a resumed run cuts these off and plays them again,
//! and also the games of unfinished entries that an interrupted run leaves at the end of the file.
//! Entries that finished before an earlier one wait in a third file, `NAME.journal.ahead`.
//! Any other difference is damage, which a resumed run reports.

mod agree;
mod ahead;
mod ahead_entries;
mod aside;
mod earlier;
mod entry;
mod follow;
mod key;
mod line;
mod piece;
mod rescue;
mod stored;
#[cfg(test)]
mod tests;

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ahead::AheadFile;
use earlier::{check_path, clear, is_finished};
use line::{EntryLine, Header};
use patzer_io::error::{Error, Hint, Result};
use patzer_io::number::counted;
use patzer_io::{Earlier, Limit, checked_line};

pub use ahead::Ahead;
pub use earlier::check_conditions;
pub use entry::JournalEntry;
pub use follow::Follower;
pub use key::Key;
pub use line::Start;
pub use piece::Piece;
pub use stored::{Contents, StoredStart, is_journal, read, stored};

/// An opened record with the entries of the run that it goes on with.
pub struct Opened<E> {
    pub record: JournaledFile<E>,
    pub entries: Vec<E>,
    /// Notes on earlier files: moved, resumed or replaced.
    pub notes: Vec<String>,
}

pub struct JournaledFile<E> {
    file: File,
    path: PathBuf,
    journal: File,
    journal_path: PathBuf,
    /// Lengths of file and journal.
    lengths: [u64; 2],
    /// Journal lines whose games may not have reached the disk.
    pending: Vec<u8>,
    /// Entries that the journal has, counting `pending`.
    entries: usize,
    ahead: AheadFile,
    /// End offsets in file and journal of the entries that a resumed run found, after the start.
    ends: Vec<[u64; 2]>,
    entry: PhantomData<E>,
    /// `None` until the first entry, which is synced at once.
    synced: Option<Instant>,
    /// The files are not under their names any more, or are not as they were left.
    lost: bool,
    /// Bytes of an unfinished entry, or the end line, still follow `lengths`; they stay until there is more to write.
    uncut: bool,
    /// Games of unfinished entries, which an interrupted run leaves at the end of the file.
    uncounted: Vec<u8>,
}

impl<E> Drop for JournaledFile<E> {
    fn drop(&mut self) {
        // Unlock before closing: a process being spawned may still hold a copy of the descriptor.
        let _ = self.journal.unlock();
    }
}

/// Longest time that finished entries stay in memory: the loss in a power cut.
const SYNC: Duration = Duration::from_secs(1);

/// The journal of a file whose whole name it keeps, since one run may write `games.pgn` and `games.vf`.
pub fn beside(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".journal");
    name.into()
}

const MAGIC: &[u8] = b"{\"patzer_journal\":";

impl<E: JournalEntry> JournaledFile<E> {
    /// Creates the files, or resumes an earlier run's.
    ///
    /// # Errors
    /// The files are in use, of another program, of an unfinished run, of other settings, or disagree.
    pub fn open(path: &Path, earlier: Earlier, start: &Start) -> Result<Opened<E>> {
        check_path::<E>(path)?;
        match Self::lock_earlier(path)? {
            None => Ok(Opened { record: Self::create(path, start)?, entries: Vec::new(), notes: Vec::new() }),
            Some((journal, text)) if earlier == Earlier::Resume => Self::resume(path, journal, &text, start),
            Some((journal, text)) => {
                let note = clear::<E>(path, &text, earlier == Earlier::Overwrite)?;
                // Held until now, so that no other run takes the name meanwhile.
                let _ = journal.unlock();
                let record = Self::create(path, start)?;
                Ok(Opened { record, entries: Vec::new(), notes: note.into_iter().collect() })
            }
        }
    }

    /// The files of a run that writes games to `path`: games, journal, and entries ahead.
    pub fn files(path: &Path) -> [PathBuf; 3] {
        aside::names::<E>(path)
    }

    /// Checks, before anything is changed, that a new run may take the name.
    pub fn check_free(path: &Path, earlier: Earlier) -> Result<()> {
        check_path::<E>(path)?;
        match Self::lock_earlier(path)? {
            Some((_, text)) if earlier == Earlier::Protect => is_finished::<E>(path, &text).map(drop),
            _ => Ok(()),
        }
    }

    /// Locks and reads the journal of an earlier run.
    fn lock_earlier(path: &Path) -> Result<Option<(File, Vec<u8>)>> {
        let journal_path = E::journal(path);
        let ahead = aside::ahead_path::<E>(path);
        let is_ahead = !ahead::read(&ahead)?.is_empty();
        let mut journal = match OpenOptions::new().read(true).write(true).open(&journal_path) {
            Ok(journal) => journal,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let has_games = std::fs::metadata(path).is_ok_and(|about| about.len() > 0);
                if has_games || is_ahead {
                    let reason = "exists and has no journal beside it; move it away";
                    let error = Error::data(if has_games { path } else { &ahead }, reason);
                    return Err(error.hint(Hint::OtherFile));
                }
                return Ok(None);
            }
            Err(error) => return Err(Error::io(&journal_path, error)),
        };
        patzer_io::try_lock(&journal, &journal_path)?;
        if !aside::is_at(&journal, &journal_path) {
            return Err(Error::data(&journal_path, "another run has just moved it; try again"));
        }
        let mut text = Vec::new();
        let read = (&mut journal).take(MAGIC.len() as u64).read_to_end(&mut text);
        read.map_err(|e| Error::io(&journal_path, e))?;
        // A run interrupted at once leaves part of the first line.
        let is_ours = MAGIC.starts_with(&text);
        if !is_ours {
            let error = Error::data(&journal_path, "exists and is not a journal of patzer");
            return Err(error.hint(Hint::OtherFile));
        }
        let whole = std::io::Cursor::new(text).chain(&mut journal);
        let text = patzer_io::read_plain(&journal_path, whole, Limit::JOURNAL)?;
        Ok(Some((journal, text)))
    }

    fn create(path: &Path, start: &Start) -> Result<JournaledFile<E>> {
        let journal_path = E::journal(path);
        let new = |path: &Path| {
            let file = OpenOptions::new().read(true).write(true).create_new(true).open(path);
            file.map_err(|e| Error::create(path, e))
        };
        let journal = new(&journal_path)?;
        patzer_io::try_lock(&journal, &journal_path)?;
        let there = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let file = there.map_err(|e| Error::create(path, e))?;
        let first_line = checked_line::write(&Header::new(start)?)?;
        let mut record = JournaledFile::of(path, file, journal, &first_line)?;
        record.pending = first_line;
        record.sync()?;
        patzer_io::sync_folder(path);
        record.synced = None;
        Ok(record)
    }

    fn of(path: &Path, file: File, journal: File, first_line: &[u8]) -> Result<JournaledFile<E>> {
        patzer_io::trail::writes(path);
        Ok(JournaledFile {
            file,
            path: path.to_path_buf(),
            journal,
            journal_path: E::journal(path),
            lengths: [0; 2],
            pending: Vec::new(),
            entries: 0,
            ahead: AheadFile::new(aside::ahead_path::<E>(path), first_line)?,
            ends: Vec::new(),
            entry: PhantomData,
            synced: None,
            lost: false,
            uncut: false,
            uncounted: Vec::new(),
        })
    }

    fn resume(path: &Path, journal: File, text: &[u8], start: &Start) -> Result<Opened<E>> {
        let journal_path = E::journal(path);
        let Some(first) = text.iter().position(|&byte| byte == b'\n') else {
            if std::fs::metadata(path).is_ok_and(|about| about.len() > 0) {
                let reason = "is cut off, so nothing is known of the games";
                return Err(Error::at(&journal_path, "line 1", reason).hint(Hint::Overwrite));
            }
            clear::<E>(path, text, true)?;
            return Ok(Opened { record: Self::create(path, start)?, entries: Vec::new(), notes: Vec::new() });
        };
        let header = line::header(&text[..first]).map_err(|why| Error::at(&journal_path, "line 1", why))?;
        check_conditions::<E>(&journal_path, &header.conditions, start.conditions)?;
        let mut survey = agree::entries::<E>(text, first + 1);
        let mut file = match OpenOptions::new().read(true).write(true).open(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            file => Some(file.map_err(|e| Error::io(path, e))?),
        };
        agree::compare(&mut survey, file.as_mut()).map_err(|e| Error::io(path, e))?;
        if let Some(fault) = &survey.fault {
            let of_journal = matches!(fault, agree::Fault::Journal { .. });
            let (place, reason) = fault.place(path, &survey);
            let error = Error::at(if of_journal { &journal_path } else { path }, place, reason);
            return Err(error.hint(Hint::OverwriteOrOtherFile));
        }
        let rest = if E::TEXT { agree::rest(&survey, file.as_ref()) } else { 0 };
        if rest > 0 && survey.complete {
            let reason =
                format!("has text after the last game of a finished {}; move it to another file", E::OF);
            return Err(Error::data(path, reason));
        }
        let file = match file {
            Some(file) => file,
            None => {
                let new = OpenOptions::new().read(true).write(true).create_new(true).open(path);
                new.map_err(|e| Error::create(path, e))?
            }
        };
        let mut record = JournaledFile::of(path, file, journal, &text[..=first])?;
        record.ends = survey.ends;
        record.keep(survey.entries.len());
        record.load_ahead()?;
        let mut notes = Vec::new();
        if rest > 0 {
            let (games, bytes) = (path.display(), counted(rest, "byte"));
            notes.push(format!("{games}: cuts off {bytes} after the last pair that the journal counts"));
        }
        let entries = survey.entries.into_iter().map(|line| line.entry).collect();
        Ok(Opened { record, entries, notes })
    }

    pub fn append(&mut self, entry: &E, bytes: &[u8]) -> Result<()> {
        self.cut_rest()?;
        if let Err(error) = self.file.write_all(bytes) {
            // Games that are not whole would be damage to other readers.
            let _ = cut(&mut self.file, self.lengths[0]);
            return Err(Error::io(&self.path, error));
        }
        self.lengths[0] += bytes.len() as u64;
        let line = EntryLine {
            entry: entry.clone(),
            bytes: bytes.len() as u64,
            sha256: checked_line::checksum(bytes),
        };
        self.pending.extend(checked_line::write(&line)?);
        self.entries += 1;
        self.ahead.remove(entry.number());
        self.sync_if_due()
    }

    fn sync_if_due(&mut self) -> Result<()> {
        // The first entry at once, so that a short run leaves more than nothing.
        if self.synced.is_none_or(|synced| synced.elapsed() >= SYNC) { self.sync() } else { Ok(()) }
    }

    /// Writes the finished entries to the disk: first their games, then the lines that count them, then those ahead.
    pub fn sync(&mut self) -> Result<()> {
        if self.lost || self.pending.is_empty() && !self.ahead.is_due() {
            return Ok(());
        }
        self.cut_rest()?;
        self.check_names()?;
        self.sync_counted()?;
        self.ahead.sync()?;
        self.synced = Some(Instant::now());
        Ok(())
    }

    fn sync_counted(&mut self) -> Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        self.file.sync_data().map_err(|e| Error::io(&self.path, e))?;
        let written = self.journal.write_all(&self.pending).and_then(|()| self.journal.sync_data());
        if let Err(error) = written {
            let _ = cut(&mut self.journal, self.lengths[1]);
            return Err(Error::io(&self.journal_path, error));
        }
        self.lengths[1] += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }

    /// Keeps games of an unfinished entry for the end of an interrupted run.
    pub fn append_uncounted(&mut self, games: &[u8]) {
        self.uncounted.extend_from_slice(games);
    }

    /// Writes the rest to the disk, and that the run has come to its end.
    pub fn finish(&mut self, complete: bool) -> Result<()> {
        self.cut_rest()?;
        if complete && !self.lost {
            self.pending.extend(line::end_line()?);
        }
        self.sync()?;
        if complete || self.lost {
            return Ok(());
        }
        let written = self.file.write_all(&self.uncounted).and_then(|()| self.file.sync_data());
        written.map_err(|e| Error::io(&self.path, e))
    }

    /// Goes on after this many entries of those that a resumed run found.
    pub fn keep(&mut self, entries: usize) {
        if let Some(ends) = self.ends.get(entries) {
            (self.lengths, self.uncut, self.entries) = (*ends, true, entries);
        }
    }

    fn cut_rest(&mut self) -> Result<()> {
        if std::mem::take(&mut self.uncut) {
            cut(&mut self.file, self.lengths[0]).map_err(|e| Error::io(&self.path, e))?;
            cut(&mut self.journal, self.lengths[1]).map_err(|e| Error::io(&self.journal_path, e))?;
        }
        Ok(())
    }
}

fn cut(file: &mut File, length: u64) -> std::io::Result<()> {
    file.set_len(length)?;
    file.seek(SeekFrom::End(0)).map(drop)
}
