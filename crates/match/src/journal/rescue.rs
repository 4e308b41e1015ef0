//! Games whose files were removed, replaced or changed while they were played.

use std::fs::{File, OpenOptions};
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};

use super::entry::JournalEntry;
use super::{JournaledFile, aside};
use patzer_io::error::{Error, Hint, Result};

impl<E: JournalEntry> JournaledFile<E> {
    /// The files are under their names, so that `--resume` finds them.
    pub fn is_in_place(&self) -> bool {
        !self.lost
    }

    /// Fails if somebody removed, replaced or shortened a file; removed games are saved under another name.
    pub(super) fn check_names(&mut self) -> Result<()> {
        let files = [(&self.file, &self.path), (&self.journal, &self.journal_path)];
        let changed = files.iter().zip(self.lengths).find(|((file, path), length)| {
            !aside::is_at(file, path) || file.metadata().is_ok_and(|about| about.len() != *length)
        });
        let Some(((_, path), _)) = changed else { return Ok(()) };
        let path = path.to_path_buf();
        self.lost = true;
        let lost = format!("was removed, replaced or changed during the {}", E::OF);
        match self.rescue() {
            Some(saved) => {
                let saved = saved.display();
                let error = Error::data(path, format!("{lost}; the games are in {saved}"));
                Err(error.hint(Hint::ResumeIn(saved.to_string())))
            }
            None => Err(Error::data(path, format!("{lost}, and its games could not be saved"))),
        }
    }

    /// Copies both files from their open descriptors to the first place that takes them.
    fn rescue(&mut self) -> Option<PathBuf> {
        let name = PathBuf::from(self.path.file_name()?);
        let places = [self.path.clone(), name.clone(), std::env::temp_dir().join(name)];
        places.iter().find_map(|place| self.rescue_to(place).ok())
    }

    fn rescue_to(&mut self, place: &Path) -> std::io::Result<PathBuf> {
        let [games, journal, ahead] = aside::free_names::<E>(place);
        let copy = |from: &mut File, to: &Path, rest: &[u8]| {
            let mut out = OpenOptions::new().write(true).create_new(true).open(to)?;
            from.rewind()?;
            std::io::copy(from, &mut out)?;
            out.write_all(rest)?;
            out.sync_all()
        };
        copy(&mut self.file, &games, &[])?;
        copy(&mut self.journal, &journal, &self.pending)?;
        if self.ahead.len() > 0 {
            std::fs::write(&ahead, self.ahead.text())?;
        }
        patzer_io::sync_folder(&games);
        Ok(games)
    }
}
