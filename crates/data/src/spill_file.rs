//! Samples put aside in order, in a file.
//!
//! In: records. Out: the same, in the same order, some thousands at a time. The file has no name, and is gone with
//! the process; or it has one, and a later process goes on where this one was stopped.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::Record;
use super::format::positioned::read_exact_at;
use super::spill::{Spillable, nameless};
use patzer_io::error::{Error, Result};

/// Samples that are compressed together.
const TOGETHER: usize = 1 << 14;

/// Samples in a file.
pub struct SpillFile {
    path: PathBuf,
    file: File,
    end: u64,
    /// Where the stretches of bytes lie and how long they are.
    stretches: Vec<(u64, usize)>,
    pending: Vec<Record>,
    rows: u64,
}

impl SpillFile {
    /// A store in a file without a name.
    ///
    /// # Errors
    /// If the folder cannot be written to.
    pub fn nameless(folder: &Path) -> Result<SpillFile> {
        let path = folder.join("a temporary file");
        Ok(SpillFile { file: nameless(folder)?, path, end: 0, stretches: vec![], pending: vec![], rows: 0 })
    }

    /// A store in a file with a name, of which the first `length` bytes are kept.
    ///
    /// # Errors
    /// If the file cannot be written, or does not hold so many bytes of a store.
    pub fn named(path: &Path, length: u64) -> Result<SpillFile> {
        let fault = |e| Error::io(path, e);
        let mut options = File::options();
        let file = options.create(true).truncate(false).read(true).write(true).open(path).map_err(fault)?;
        file.set_len(length.min(file.metadata().map_err(fault)?.len())).map_err(fault)?;
        let mut store =
            SpillFile { path: path.to_path_buf(), file, end: 0, stretches: vec![], pending: vec![], rows: 0 };
        while store.end < length {
            let mut head = [0; 8];
            read_exact_at(&store.file, &mut head, store.end).map_err(fault)?;
            store.rows += u64::from(u32::from_le_bytes(super::spill::field(&head, 4)));
            let size = u32::from_le_bytes(super::spill::field(&head, 0)) as usize;
            store.stretches.push((store.end + 4, size));
            store.end += 4 + size as u64;
        }
        if store.end != length {
            return Err(Error::data(path, "is not what an interrupted run left"));
        }
        store.file.seek(SeekFrom::Start(length)).map_err(fault)?;
        Ok(store)
    }

    /// How many records it holds.
    pub fn rows(&self) -> u64 {
        self.rows + self.pending.len() as u64
    }

    /// Adds records.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn push(&mut self, records: &[Record]) -> Result<()> {
        self.pending.extend_from_slice(records);
        let whole = self.pending.len() / TOGETHER * TOGETHER;
        if whole >= TOGETHER * rayon::current_num_threads() { self.write(whole) } else { Ok(()) }
    }

    /// Writes what is pending and returns the length of the file. With `sync` it will be there after a power cut.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn flush(&mut self, sync: bool) -> Result<u64> {
        self.write(self.pending.len())?;
        if sync {
            self.file.sync_data().map_err(|e| Error::io(&self.path, e))?;
        }
        Ok(self.end)
    }

    fn write(&mut self, count: usize) -> Result<()> {
        let fault = |e| Error::io(&self.path, e);
        let stretches = self.pending[..count].par_chunks(TOGETHER).map(Record::encode);
        for bytes in stretches.collect::<io::Result<Vec<_>>>().map_err(fault)? {
            self.file.write_all(&(bytes.len() as u32).to_le_bytes()).map_err(fault)?;
            self.file.write_all(&bytes).map_err(fault)?;
            self.stretches.push((self.end + 4, bytes.len()));
            self.end += 4 + bytes.len() as u64;
        }
        self.rows += count as u64;
        self.pending.drain(..count);
        Ok(())
    }

    /// Gives all records back in their order.
    ///
    /// # Errors
    /// If the file cannot be read back, or `each` fails.
    pub fn replay(mut self, mut each: impl FnMut(Vec<Record>) -> Result<()>) -> Result<()> {
        self.flush(false)?;
        for some in self.stretches.chunks(2 * rayon::current_num_threads()) {
            let read = |(at, length): &(u64, usize)| {
                let (mut bytes, mut records) = (vec![0; *length], Vec::new());
                read_exact_at(&self.file, &mut bytes, *at)?;
                Record::decode(&bytes, &mut records)?;
                Ok(records)
            };
            let records = some.par_iter().map(read).collect::<io::Result<Vec<_>>>();
            records.map_err(|e| Error::io(&self.path, e))?.into_iter().try_for_each(&mut each)?;
        }
        Ok(())
    }
}
