//! Files of a run with their journals, and which games they hold.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::batch::{Batch, Format, GAMES, GameTotals};
use super::finished::FinishedGame;
use patzer_io::Earlier;
use patzer_io::error::{Error, Hint, Result};
use patzer_match::journal::{self, JournaledFile};
use patzer_match::pgn::Header;

pub struct Outputs {
    files: Vec<(Format, JournaledFile<Batch>)>,
    pub done: Vec<Batch>,
    /// Notes on earlier files: moved, resumed or replaced.
    pub notes: Vec<String>,
    /// Some file may lack the last batch, or a part of it.
    failed: bool,
}

impl Outputs {
    /// Creates or resumes the files. A run that plays the same games again replays an incomplete last batch, so that
    /// batch boundaries never move; another keeps it.
    pub fn open(
        paths: &[PathBuf],
        earlier: Earlier,
        games: usize,
        start: &journal::Start,
        replays: bool,
    ) -> Result<Outputs> {
        let formats = paths.iter().map(|path| Format::of(path)).collect::<Result<Vec<_>>>()?;
        paths.iter().try_for_each(|path| JournaledFile::<Batch>::check_free(path, earlier))?;
        let (mut files, mut batches, mut notes) = (Vec::new(), Vec::<Vec<Batch>>::new(), Vec::new());
        for (path, format) in paths.iter().zip(formats) {
            let opened = JournaledFile::open(path, earlier, start)?;
            files.push((format, opened.record));
            batches.push(opened.entries);
            notes.extend(opened.notes);
        }
        let most = batches.iter().map(Vec::len).max().unwrap_or_default();
        // Files differ by little if a run was killed between two writes: they go on after their common prefix.
        let fewest = (0..batches.len()).min_by_key(|&at| batches[at].len()).unwrap_or_default();
        let mut done = batches.get(fewest).cloned().unwrap_or_default();
        if done.is_empty() && most > 1 {
            let reason = format!("has no games where another file of the run has {most} batches");
            return Err(Error::data(&paths[fewest], reason).hint(Hint::Overwrite));
        }
        if let Some(last) = done.last()
            && replays
            && (last.counts.games != GAMES as u64 || !last.ahead.is_empty())
            && done.iter().map(|batch| batch.counts.games).sum::<u64>() < games as u64
        {
            done.pop();
        }
        files.iter_mut().for_each(|(_, file)| file.keep(done.len()));
        Ok(Outputs { files, done, notes, failed: false })
    }

    /// Returns the index of the first game that is missing, and the indices of later games that are there.
    pub fn played(&self) -> (usize, BTreeSet<usize>) {
        let (mut next, mut ahead) = (0, BTreeSet::new());
        for batch in &self.done {
            for _ in batch.ahead.len()..batch.counts.games as usize {
                while ahead.remove(&next) {
                    next += 1;
                }
                next += 1;
            }
            ahead.extend(&batch.ahead);
        }
        while ahead.remove(&next) {
            next += 1;
        }
        (next, ahead)
    }

    /// Appends games, of which those from `ahead` on do not follow the others; nothing after an error, as a file that
    /// has the batch would get its games twice.
    pub(super) fn append(&mut self, games: &[FinishedGame], ahead: usize, header: &Header) -> Result<()> {
        if std::mem::replace(&mut self.failed, true) {
            return Ok(());
        }
        let ahead = games[ahead..].iter().map(|finished| finished.index).collect();
        let mut batch = Batch { batch: self.done.len() + 1, ahead, counts: GameTotals::default() };
        games.iter().for_each(|finished| batch.counts.add(finished));
        let encoded = self.files.iter().map(|(format, _)| format.encode(games, header));
        let encoded = encoded.collect::<Result<Vec<_>>>()?;
        for ((_, file), bytes) in self.files.iter_mut().zip(encoded) {
            file.append(&batch, &bytes)?;
        }
        self.failed = false;
        self.done.push(batch);
        Ok(())
    }

    pub(super) fn sync(&mut self) -> Result<()> {
        self.files.iter_mut().try_for_each(|(_, file)| file.sync())
    }

    /// Writes the rest of each file to the disk, and whether the run has come to its end.
    pub fn finish(mut self, complete: bool) -> Result<()> {
        let finished: Vec<Result<()>> =
            self.files.iter_mut().map(|(_, file)| file.finish(complete)).collect();
        finished.into_iter().collect()
    }
}
