//! Records in buckets, in memory up to a bound and beyond it in a file without a name.
//!
//! In: records, each for one of a fixed number of buckets. Out: each bucket's records in the order in which they
//! came, whether they went through the file or not. The file lies beside the output and has no name, so that it is
//! gone when the process is, whatever ends it.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::format::positioned::read_exact_at;
use patzer_io::error::{Error, Result};

/// Something that can be written to a file and read back.
pub trait Spillable: Sized + Send + Sync {
    /// Records as bytes.
    ///
    /// # Errors
    /// If compression fails.
    fn encode(records: &[Self]) -> io::Result<Vec<u8>>;

    /// Adds the records of what [`Spillable::encode`] made.
    ///
    /// # Errors
    /// If the bytes are not that.
    fn decode(bytes: &[u8], to: &mut Vec<Self>) -> io::Result<()>;
}

/// The folder in which files beside an output belong: its own, or for standard output that for temporary files.
pub fn folder_of(output: Option<&Path>) -> PathBuf {
    match output.filter(|path| *path != Path::new("-") && !patzer_io::is_stream(path)) {
        Some(path) => match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
            _ => PathBuf::from("."),
        },
        None => std::env::temp_dir(),
    }
}

/// A file without a name.
///
/// # Errors
/// If the folder cannot be written to.
pub fn nameless(folder: &Path) -> Result<File> {
    tempfile::tempfile_in(folder).map_err(|e| Error::create(folder.join("a temporary file"), e))
}

/// Records by bucket.
pub struct Buckets<T> {
    folder: PathBuf,
    buffers: Vec<Vec<T>>,
    held: usize,
    /// How many records may be held in memory.
    most: usize,
    file: Option<Spilled>,
}

/// What has left memory.
struct Spilled {
    file: File,
    end: u64,
    /// For each bucket, where its stretches of bytes lie and how long they are.
    stretches: Vec<Vec<(u64, usize)>>,
}

impl<T: Spillable> Buckets<T> {
    /// So many empty buckets, which hold about so many bytes in memory and the rest in a file in that folder.
    pub fn new(count: usize, memory: usize, folder: &Path) -> Buckets<T> {
        Buckets {
            folder: folder.to_path_buf(),
            buffers: (0..count.max(1)).map(|_| Vec::new()).collect(),
            held: 0,
            // Vectors that grow have up to twice the room that they need.
            most: (memory / size_of::<T>() / 2).max(64),
            file: None,
        }
    }

    /// How many buckets there are.
    pub fn count(&self) -> usize {
        self.buffers.len()
    }

    /// Adds a record to a bucket.
    ///
    /// # Errors
    /// If memory is full and the file cannot be written.
    #[inline]
    pub fn push(&mut self, bucket: usize, record: T) -> Result<()> {
        self.buffers[bucket].push(record);
        self.held += 1;
        if self.held >= self.most { self.spill() } else { Ok(()) }
    }

    #[cold]
    fn spill(&mut self) -> Result<()> {
        let fault = |e| Error::io(self.folder.join("a temporary file"), e);
        let spilled = match &mut self.file {
            Some(spilled) => spilled,
            none => none.insert(Spilled {
                file: nameless(&self.folder)?,
                end: 0,
                stretches: self.buffers.iter().map(|_| Vec::new()).collect(),
            }),
        };
        // Some buckets at a time, so that their bytes never all stand beside the records.
        let batch = 2 * rayon::current_num_threads();
        for (buffers, stretches) in self.buffers.chunks_mut(batch).zip(spilled.stretches.chunks_mut(batch)) {
            let encoded: io::Result<Vec<Vec<u8>>> = buffers.par_iter().map(|b| T::encode(b)).collect();
            let encoded = encoded.map_err(fault)?;
            for ((buffer, stretches), bytes) in buffers.iter_mut().zip(stretches).zip(encoded) {
                if !buffer.is_empty() {
                    spilled.file.write_all(&bytes).map_err(fault)?;
                    stretches.push((spilled.end, bytes.len()));
                    spilled.end += bytes.len() as u64;
                    buffer.clear();
                }
            }
        }
        self.held = 0;
        Ok(())
    }

    /// Takes all records of a bucket, in the order in which they came.
    ///
    /// # Errors
    /// If the file cannot be read back.
    pub fn take(&mut self, bucket: usize) -> Result<Vec<T>> {
        let last = std::mem::take(&mut self.buffers[bucket]);
        self.held -= last.len();
        let Some(spilled) = &mut self.file else { return Ok(last) };
        let fault = |e| Error::io(self.folder.join("a temporary file"), e);
        let (mut records, mut bytes) = (Vec::new(), Vec::new());
        for (at, length) in std::mem::take(&mut spilled.stretches[bucket]) {
            bytes.resize(length, 0);
            read_exact_at(&spilled.file, &mut bytes, at).map_err(fault)?;
            T::decode(&bytes, &mut records).map_err(fault)?;
        }
        records.extend(last);
        Ok(records)
    }
}

/// The bytes of a fixed-size record at some place, for [`Spillable::decode`].
pub fn field<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut field = [0; N];
    field.copy_from_slice(&bytes[at..at + N]);
    field
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Spillable for u64 {
        fn encode(records: &[u64]) -> io::Result<Vec<u8>> {
            Ok(records.iter().flat_map(|r| r.to_le_bytes()).collect())
        }

        fn decode(bytes: &[u8], to: &mut Vec<u64>) -> io::Result<()> {
            to.extend(bytes.chunks_exact(8).map(|b| u64::from_le_bytes(field(b, 0))));
            Ok(())
        }
    }

    #[test]
    fn buckets_give_back_what_came_in_its_order_and_leave_no_file() {
        let folder = tempfile::tempdir().unwrap();
        for memory in [0, 5000, usize::MAX] {
            let mut buckets = Buckets::new(7, memory, folder.path());
            for number in 0..10_000u64 {
                buckets.push((number * number % 7) as usize, number).unwrap();
            }
            assert_eq!(buckets.file.is_some(), memory < usize::MAX);
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
            for bucket in 0..7 {
                let expected: Vec<u64> = (0..10_000).filter(|n| n * n % 7 == bucket).collect();
                assert_eq!(buckets.take(bucket as usize).unwrap(), expected);
            }
        }
    }
}
