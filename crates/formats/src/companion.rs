//! Output that gets a companion such as `out.bullet.sha256`, for formats without checksums of their own.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use sha2::{Digest, Sha256};

use patzer_io::Output;
use patzer_io::error::{Error, Result};

/// Bytes that the hashing thread takes at a time.
const BLOCK: usize = 1 << 18;
/// Blocks that may wait for it.
const WAITING: usize = 8;

/// Output that may get a companion, if it is a file. A thread computes the hash while more is written.
pub struct Hashed {
    path: PathBuf,
    out: Output,
    hash: Option<Hash>,
}

/// SHA-256 that a thread computes.
pub(crate) struct Hash {
    block: Vec<u8>,
    blocks: SyncSender<Vec<u8>>,
    thread: JoinHandle<Sha256>,
}

impl Hash {
    pub(crate) fn start() -> Result<Hash> {
        let (blocks, receiver) = sync_channel::<Vec<u8>>(WAITING);
        let work = move || {
            let mut hash = Sha256::new();
            receiver.into_iter().for_each(|block| hash.update(block));
            hash
        };
        let thread = std::thread::Builder::new().spawn(work).map_err(Error::thread)?;
        Ok(Hash { block: Vec::with_capacity(BLOCK), blocks, thread })
    }

    pub(crate) fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.block.extend_from_slice(bytes);
        if self.block.len() < BLOCK {
            return Ok(());
        }
        let block = std::mem::replace(&mut self.block, Vec::with_capacity(BLOCK));
        self.blocks.send(block).map_err(io::Error::other)
    }

    pub(crate) fn finish(self) -> io::Result<String> {
        self.blocks.send(self.block).map_err(io::Error::other)?;
        drop(self.blocks);
        let hash = self.thread.join().map_err(|_| io::Error::other("the hashing thread panicked"))?;
        Ok(format!("{:x}", hash.finalize()))
    }
}

impl Hashed {
    pub fn create(path: &Path, companion: bool) -> Result<Hashed> {
        let out = Output::create(path)?;
        let hashed = companion && path != Path::new("-") && !patzer_io::is_stream(path);
        Ok(Hashed { path: path.to_path_buf(), out, hash: hashed.then(Hash::start).transpose()? })
    }

    /// Renames the finished file to its final name, then writes the companion. If the process ends in between, the file
    /// has none: an old one does not outlive its file.
    pub fn commit(self) -> Result<()> {
        let Some(hash) = self.hash else { return self.out.commit() };
        let hash = hash.finish().map_err(|e| Error::io(&self.path, e))?;
        self.out.commit()?;
        patzer_io::write_companion(&self.path, &hash)
    }
}

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        if let Some(hash) = &mut self.hash {
            hash.take(&bytes[..written])?;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_companion_of_several_blocks_is_right_whatever_the_writes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.bullet");
        let bytes = b"patzer ".repeat(BLOCK / 3);
        for size in [1000, bytes.len()] {
            let mut out = Hashed::create(&path, true).unwrap();
            bytes.chunks(size).for_each(|some| out.write_all(some).unwrap());
            out.commit().unwrap();
            assert_eq!(patzer_io::companion(&path).unwrap(), Some(patzer_io::sha256(&bytes)));
        }
    }
}
