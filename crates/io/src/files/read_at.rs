//! Positional reads of regular files, however many are open.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::trail;

/// Files that stay open at once; systems allow 256 or 1,024 by default. Others are opened for each read.
const MOST_OPEN: usize = 128;

static OPEN: AtomicUsize = AtomicUsize::new(0);

/// A regular file, read by position from any thread.
#[derive(Debug)]
pub struct ReadAt {
    path: PathBuf,
    /// The file, if it stays open.
    file: Option<File>,
    identity: [u64; 2],
}

impl ReadAt {
    /// A file that may be closed and opened again by its path.
    pub fn new(path: &Path, file: File) -> io::Result<ReadAt> {
        trail::reads(path);
        let (path, identity) = (path.to_path_buf(), identity(&file)?);
        let file = (OPEN.fetch_add(1, Ordering::Relaxed) < MOST_OPEN).then_some(file);
        Ok(ReadAt { path, file, identity })
    }

    /// A file that has no path.
    pub fn nameless(file: File) -> ReadAt {
        OPEN.fetch_add(1, Ordering::Relaxed);
        ReadAt { path: PathBuf::new(), file: Some(file), identity: [0; 2] }
    }

    /// Reads bytes at an offset; 0 at the end.
    pub fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        if let Some(file) = &self.file {
            return read_at(file, buffer, at);
        }
        let file = File::open(&self.path)?;
        if identity(&file)? != self.identity {
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, "another file took its place"));
        }
        read_at(&file, buffer, at)
    }
}

impl Drop for ReadAt {
    fn drop(&mut self) {
        OPEN.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Reads bytes at an offset; 0 at the end.
pub fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_at(file, buffer, at);
    #[cfg(windows)]
    return std::os::windows::fs::FileExt::seek_read(file, buffer, at);
}

/// Device and number of a file, where the system has them.
fn identity(file: &File) -> io::Result<[u64; 2]> {
    let about = file.metadata()?;
    #[cfg(unix)]
    return Ok([std::os::unix::fs::MetadataExt::dev(&about), std::os::unix::fs::MetadataExt::ino(&about)]);
    #[cfg(not(unix))]
    return Ok([about.len(), 0]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_beyond_those_that_stay_open_are_read_and_another_in_their_place_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = |number: usize| folder.path().join(number.to_string());
        let open = |number: usize| {
            std::fs::write(path(number), number.to_string()).unwrap();
            ReadAt::new(&path(number), File::open(path(number)).unwrap()).unwrap()
        };
        let files: Vec<ReadAt> = (0..MOST_OPEN + 2).map(open).collect();
        assert!(files.iter().filter(|file| file.file.is_some()).count() <= MOST_OPEN);
        for (number, file) in files.iter().enumerate() {
            let mut bytes = [0; 8];
            let length = file.read_at(&mut bytes, 1).unwrap();
            assert_eq!(bytes[..length], number.to_string().as_bytes()[1..]);
        }
        let last = MOST_OPEN + 1;
        std::fs::write(folder.path().join("other"), "other").unwrap();
        std::fs::rename(folder.path().join("other"), path(last)).unwrap();
        #[cfg(unix)]
        assert!(files[last].read_at(&mut [0], 0).is_err());
    }
}
