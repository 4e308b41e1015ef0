//! Positional reads, for many threads on one file.
//!
//! parquet's reader over a `File` moves the one cursor that its clones share, so that threads would read each other's
//! bytes.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::Arc;

use bytes::Bytes;
use parquet::file::reader::{ChunkReader, Length};

use patzer_io::ReadAt;

#[derive(Clone)]
pub struct Positioned {
    file: Arc<ReadAt>,
    length: u64,
}

impl Positioned {
    pub fn new(file: ReadAt, length: u64) -> Positioned {
        Positioned { file: Arc::new(file), length }
    }

    pub fn cursor(&self, at: u64) -> Cursor {
        Cursor { file: Arc::clone(&self.file), at }
    }
}

pub struct Cursor {
    file: Arc<ReadAt>,
    at: u64,
}

impl Read for Cursor {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Length for Positioned {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Positioned {
    type T = BufReader<Cursor>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        Ok(BufReader::new(self.cursor(start)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        let mut bytes = vec![0; length];
        self.cursor(start).read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}

pub fn read_exact_at(file: &File, mut buffer: &mut [u8], mut at: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        match patzer_io::read_at(file, buffer, at) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                buffer = &mut buffer[read..];
                at += read as u64;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}
