//! SHA-256 and length of a file's bytes on disk, taken while it is read.

use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest as _, Sha256};

/// Digest of the bytes that its reader has passed on. Clones share the digest.
#[derive(Debug, Clone)]
pub struct Digest {
    state: Arc<Mutex<State>>,
    bytes: Arc<AtomicU64>,
}

#[derive(Debug, Default)]
struct State {
    /// `None` if only the length is taken.
    hash: Option<Sha256>,
    length: u64,
}

impl Digest {
    /// A new digest that also adds the length of what is read to `bytes`, which others may share; `hashed` says whether
    /// it takes the SHA-256 at all.
    pub fn new(bytes: Arc<AtomicU64>, hashed: bool) -> Digest {
        let state = State { hash: hashed.then(Sha256::default), length: 0 };
        Digest { state: Arc::new(Mutex::new(state)), bytes }
    }

    /// Wraps a reader.
    pub fn reader(&self, inner: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        Box::new(Digested { inner, digest: self.clone() })
    }

    /// Hexadecimal SHA-256, empty if it is not taken, and length of what has been read so far.
    pub fn so_far(&self) -> (String, u64) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let hash = state.hash.as_ref().map(|hash| format!("{:x}", hash.clone().finalize()));
        (hash.unwrap_or_default(), state.length)
    }
}

struct Digested {
    inner: Box<dyn Read + Send>,
    digest: Digest,
}

impl Read for Digested {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        let mut state = self.digest.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(hash) = &mut state.hash {
            hash.update(&buffer[..length]);
        }
        state.length += length as u64;
        self.digest.bytes.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_that_of_what_was_read() {
        let bytes = Arc::new(AtomicU64::new(5));
        let digest = Digest::new(Arc::clone(&bytes), true);
        let mut read = digest.reader(Box::new(&b"weights"[..]));
        read.read_exact(&mut [0; 3]).unwrap();
        assert_eq!(digest.so_far(), (crate::sha256(b"wei"), 3));
        read.read_exact(&mut [0; 4]).unwrap();
        assert_eq!(digest.so_far(), (crate::sha256(b"weights"), 7));
        assert_eq!(bytes.load(Ordering::Relaxed), 12);
    }
}
