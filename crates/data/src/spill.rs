//! Records in buckets, in memory up to a bound and beyond it in a temporary file without a name.
//!
//! Each bucket keeps its order. The file lies beside the output and is gone with the process, however that ends.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use patzer_formats::native::positioned::read_exact_at;
use patzer_formats::spillable::Spillable;
use patzer_io::error::{Error, Result};
use patzer_io::nameless_file;

pub struct Buckets<T> {
    folder: PathBuf,
    buffers: Vec<Vec<T>>,
    held: usize,
    most: usize,
    file: Option<Spilled>,
}

struct Spilled {
    file: File,
    end: u64,
    /// Offset, length and CRC-32 of the blocks of each bucket.
    blocks: Vec<Vec<(u64, usize, u32)>>,
}

impl<T: Spillable> Buckets<T> {
    /// Creates `count` buckets that hold about `memory` bytes, and the rest in a file in `folder`.
    pub fn new(count: usize, memory: usize, folder: &Path) -> Buckets<T> {
        Buckets {
            folder: folder.to_path_buf(),
            buffers: (0..count.max(1)).map(|_| Vec::new()).collect(),
            held: 0,
            // Growing vectors have up to twice the capacity that they need.
            most: (memory / size_of::<T>() / 2).max(64),
            file: None,
        }
    }

    pub fn count(&self) -> usize {
        self.buffers.len()
    }

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
                file: nameless_file(&self.folder)?,
                end: 0,
                blocks: self.buffers.iter().map(|_| Vec::new()).collect(),
            }),
        };
        // A few buckets at a time, so that not all encoded bytes are in memory beside the records.
        let batch = 2 * rayon::current_num_threads();
        for (buffers, blocks) in self.buffers.chunks_mut(batch).zip(spilled.blocks.chunks_mut(batch)) {
            let encoded: io::Result<Vec<Vec<u8>>> = buffers.par_iter().map(|b| T::encode(b)).collect();
            let encoded = encoded.map_err(fault)?;
            for ((buffer, blocks), bytes) in buffers.iter_mut().zip(blocks).zip(encoded) {
                if !buffer.is_empty() {
                    spilled.file.write_all(&bytes).map_err(fault)?;
                    blocks.push((spilled.end, bytes.len(), crc32fast::hash(&bytes)));
                    spilled.end += bytes.len() as u64;
                    buffer.clear();
                }
            }
        }
        self.held = 0;
        Ok(())
    }

    pub fn take(&mut self, bucket: usize) -> Result<Vec<T>> {
        let last = std::mem::take(&mut self.buffers[bucket]);
        self.held -= last.len();
        let Some(spilled) = &mut self.file else { return Ok(last) };
        let fault = |e| Error::io(self.folder.join("a temporary file"), e);
        let (mut records, mut bytes) = (Vec::new(), Vec::new());
        for (at, length, crc) in std::mem::take(&mut spilled.blocks[bucket]) {
            bytes.resize(length, 0);
            read_exact_at(&spilled.file, &mut bytes, at).map_err(fault)?;
            if crc32fast::hash(&bytes) != crc {
                return Err(Error::data(
                    self.folder.join("a temporary file"),
                    "was damaged while it was in use",
                ));
            }
            T::decode(&bytes, &mut records).map_err(fault)?;
        }
        records.extend(last);
        Ok(records)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_formats::bytes::field;

    #[derive(Debug, PartialEq)]
    struct Number(u64);

    impl Spillable for Number {
        fn encode(records: &[Number]) -> io::Result<Vec<u8>> {
            Ok(records.iter().flat_map(|r| r.0.to_le_bytes()).collect())
        }

        fn decode(bytes: &[u8], to: &mut Vec<Number>) -> io::Result<()> {
            to.extend(bytes.chunks_exact(8).map(|b| Number(u64::from_le_bytes(field(b, 0)))));
            Ok(())
        }
    }

    #[test]
    fn a_flipped_bit_of_a_spilled_bucket_is_an_error() {
        use std::io::{Read, Seek};
        let folder = tempfile::tempdir().unwrap();
        let mut buckets = Buckets::new(1, 0, folder.path());
        (0..1000u64).for_each(|number| buckets.push(0, Number(number)).unwrap());
        let file = &mut buckets.file.as_mut().unwrap().file;
        let mut byte = [0];
        file.seek(io::SeekFrom::Start(77)).unwrap();
        file.read_exact(&mut byte).unwrap();
        file.seek(io::SeekFrom::Start(77)).unwrap();
        file.write_all(&[byte[0] ^ 4]).unwrap();
        assert!(buckets.take(0).is_err_and(|error| error.to_string().contains("was damaged")));
    }

    #[test]
    fn buckets_give_back_what_came_in_its_order_and_leave_no_file() {
        let folder = tempfile::tempdir().unwrap();
        for memory in [0, 5000, usize::MAX] {
            let mut buckets = Buckets::new(7, memory, folder.path());
            for number in 0..10_000u64 {
                buckets.push((number * number % 7) as usize, Number(number)).unwrap();
            }
            assert_eq!(buckets.file.is_some(), memory < usize::MAX);
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
            for bucket in 0..7 {
                let expected = (0..10_000).filter(|n| n * n % 7 == bucket).map(Number);
                assert_eq!(buckets.take(bucket as usize).unwrap(), expected.collect::<Vec<_>>());
            }
        }
    }
}
