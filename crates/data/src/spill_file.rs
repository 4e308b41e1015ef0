//! A temporary file of compressed records, read back in the order in which they were written.
//!
//! Without a name it is gone with the process; with a name, a later process resumes where an earlier one stopped.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::Record;
use patzer_formats::bytes::field;
use patzer_formats::native::positioned::read_exact_at;
use patzer_formats::spillable::Spillable;
use patzer_io::error::{Error, Result};
use patzer_io::nameless_file;

const TOGETHER: usize = 1 << 14;

/// Records in a temporary file.
pub struct SpillFile {
    path: PathBuf,
    file: File,
    end: u64,
    blocks: Vec<(u64, usize)>,
    pending: Vec<Record>,
    rows: u64,
}

impl SpillFile {
    pub fn nameless(folder: &Path) -> Result<SpillFile> {
        let path = folder.join("a temporary file");
        Ok(SpillFile { file: nameless_file(folder)?, path, end: 0, blocks: vec![], pending: vec![], rows: 0 })
    }

    /// Opens or creates a named file and keeps its first `length` bytes.
    pub fn named(path: &Path, length: u64) -> Result<SpillFile> {
        let fault = |e| Error::io(path, e);
        let mut options = File::options();
        let file = options.create(true).truncate(false).read(true).write(true).open(path).map_err(fault)?;
        file.set_len(length.min(file.metadata().map_err(fault)?.len())).map_err(fault)?;
        let mut spilled =
            SpillFile { path: path.to_path_buf(), file, end: 0, blocks: vec![], pending: vec![], rows: 0 };
        while spilled.end < length {
            let mut head = [0; 8];
            read_exact_at(&spilled.file, &mut head, spilled.end).map_err(fault)?;
            spilled.rows += u64::from(u32::from_le_bytes(field(&head, 4)));
            let size = u32::from_le_bytes(field(&head, 0)) as usize;
            spilled.blocks.push((spilled.end + 4, size));
            spilled.end += 4 + size as u64;
        }
        if spilled.end != length {
            return Err(Error::data(path, "is not what an interrupted run left"));
        }
        spilled.file.seek(SeekFrom::Start(length)).map_err(fault)?;
        Ok(spilled)
    }

    pub fn rows(&self) -> u64 {
        self.rows + self.pending.len() as u64
    }

    pub fn push(&mut self, records: &[Record]) -> Result<()> {
        self.pending.extend_from_slice(records);
        let whole = self.pending.len() / TOGETHER * TOGETHER;
        if whole >= TOGETHER * rayon::current_num_threads() { self.write(whole) } else { Ok(()) }
    }

    /// Writes pending records and returns the length of the file; with `sync` it survives a power cut.
    pub fn flush(&mut self, sync: bool) -> Result<u64> {
        self.write(self.pending.len())?;
        if sync {
            self.file.sync_data().map_err(|e| Error::io(&self.path, e))?;
        }
        Ok(self.end)
    }

    fn write(&mut self, count: usize) -> Result<()> {
        let fault = |e| Error::io(&self.path, e);
        let blocks = self.pending[..count].par_chunks(TOGETHER).map(Record::encode);
        for bytes in blocks.collect::<io::Result<Vec<_>>>().map_err(fault)? {
            self.file.write_all(&(bytes.len() as u32).to_le_bytes()).map_err(fault)?;
            self.file.write_all(&bytes).map_err(fault)?;
            self.blocks.push((self.end + 4, bytes.len()));
            self.end += 4 + bytes.len() as u64;
        }
        self.rows += count as u64;
        self.pending.drain(..count);
        Ok(())
    }

    pub fn replay(&mut self, mut each: impl FnMut(Vec<Record>) -> Result<()>) -> Result<()> {
        self.flush(false)?;
        for some in self.blocks.chunks(2 * rayon::current_num_threads()) {
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
