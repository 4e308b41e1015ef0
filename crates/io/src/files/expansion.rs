//! Streams that expand beyond measure.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Reader that counts its bytes.
pub struct Counted<R> {
    inner: R,
    bytes: Arc<AtomicU64>,
}

impl<R: Read> Counted<R> {
    /// Wraps a reader; returns its counter too.
    pub fn new(inner: R) -> (Counted<R>, Arc<AtomicU64>) {
        let bytes = Arc::new(AtomicU64::new(0));
        (Counted { inner, bytes: Arc::clone(&bytes) }, bytes)
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.bytes.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}

/// Text of a decoder whose window grows with the text, up to 2 GiB: fails where a few bytes expand to more than 128
/// MiB.
pub struct Bounded<R> {
    pub inner: R,
    pub text: u64,
    /// Compressed bytes read.
    pub packed: Arc<AtomicU64>,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.text += length as u64;
        if self.text > 128 << 20 && self.text / 1000 > self.packed.load(Ordering::Relaxed) {
            let reason = "it expands more than a thousandfold; unpack it first if you trust it";
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        Ok(length)
    }
}
