//! Files that are read whole, each kind up to its limit.

use std::io::{self, BufRead, Read};
use std::path::Path;
use std::sync::atomic::Ordering;

use super::expansion::Counted;
use super::{decompressed, raw};
use crate::error::{Error, Result};

/// Largest size, after decompression, of a kind of file that is read whole.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    kind: &'static str,
    mib: u64,
}

impl Limit {
    /// TOML of filters.
    pub const PRESET: Limit = Limit { kind: "a preset", mib: 1 };
    /// TOML of a training run.
    pub const RECIPE: Limit = Limit { kind: "a recipe", mib: 1 };
    /// TOML of weights, terms or move strengths.
    pub const WEIGHTS: Limit = Limit { kind: "weights", mib: 16 };
    /// TOML of a raw file's order and units.
    pub const LAYOUT: Limit = Limit { kind: "a layout file", mib: 1 };
    /// The largest table, 65,536 rows of 4,096 neurons, takes 512 MiB.
    pub const NETWORK: Limit = Limit { kind: "a network", mib: 640 };
    /// Six vectors of 32-bit parameters.
    pub const CHECKPOINT: Limit = Limit { kind: "a checkpoint", mib: 8192 };
    /// Logs, settings and results in a run folder.
    pub const RUN: Limit = Limit { kind: "a file of a run", mib: 256 };
    /// Journals of matches.
    pub const JOURNAL: Limit = Limit { kind: "a journal", mib: 256 };
    /// Games that wait for those before them.
    pub const AHEAD: Limit = Limit { kind: "games ahead of a journal", mib: 512 };
    /// Opening books.
    pub const BOOK: Limit = Limit { kind: "an opening book", mib: 1024 };
    /// Positions with perft counts.
    pub const SUITE: Limit = Limit { kind: "a perft suite", mib: 64 };
    /// Names of players.
    pub const NAMES: Limit = Limit { kind: "a file of names", mib: 64 };
    /// Programs of engines.
    pub const PROGRAM: Limit = Limit { kind: "an engine", mib: 2048 };

    fn bytes(self) -> u64 {
        self.mib << 20
    }
}

/// Bytes read before the kind of a file is decided.
const HEAD: u64 = 4096;

/// Reads a whole file, decompressed.
///
/// # Errors
/// The file is larger than the limit, or expands more than a hundredfold beyond 64 MiB.
pub fn read(path: &Path, limit: Limit) -> Result<Vec<u8>> {
    read_as(path, |_| Some(limit))
}

/// Reads a whole file, decompressed; its first bytes decide its kind. With `None` these bytes are all that is read, for
/// the parser to reject.
///
/// # Errors
/// As [`read`].
pub fn read_as(path: &Path, kind: impl FnOnce(&[u8]) -> Option<Limit>) -> Result<Vec<u8>> {
    let (counted, packed) = Counted::new(raw(path)?);
    let mut text = decompressed(Box::new(counted)).map_err(|e| Error::io(path, e))?;
    let mut head = Vec::new();
    text.by_ref().take(HEAD).read_to_end(&mut head).map_err(|e| Error::io(path, e))?;
    let Some(limit) = kind(&head) else { return Ok(head) };
    expand(path, io::Cursor::new(head).chain(text), limit, || packed.load(Ordering::Relaxed))
}

/// Reads a stream of `packed` compressed bytes to its end.
///
/// # Errors
/// As [`read`].
pub fn expand(path: &Path, mut text: impl Read, limit: Limit, packed: impl Fn() -> u64) -> Result<Vec<u8>> {
    const STEP: u64 = 16 << 20;
    const UNSUSPECTED: u64 = 64 << 20;
    const RATIO: u64 = 100;
    let mut bytes = Vec::new();
    loop {
        let step = STEP.min(limit.bytes() + 1 - bytes.len() as u64);
        let arrived = text.by_ref().take(step).read_to_end(&mut bytes).map_err(|e| Error::io(path, e))?;
        let length = bytes.len() as u64;
        if length > limit.bytes() {
            let Limit { kind, mib } = limit;
            return Err(Error::data(path, format!("is larger than {mib} MiB, the limit for {kind}")));
        }
        if length > UNSUSPECTED && length / RATIO > packed() {
            let reason = "expands more than a hundredfold; unpack it first if you trust it";
            return Err(Error::data(path, reason));
        }
        if arrived == 0 {
            return Ok(bytes);
        }
    }
}

/// Reads a stream that is not compressed to its end.
///
/// # Errors
/// It is larger than the limit.
pub fn read_plain(path: &Path, text: impl Read, limit: Limit) -> Result<Vec<u8>> {
    expand(path, text, limit, || u64::MAX)
}

/// Reads a whole UTF-8 file, decompressed.
///
/// # Errors
/// As [`read`], and for bytes that are not UTF-8.
pub fn read_text(path: &Path, limit: Limit) -> Result<String> {
    String::from_utf8(read(path, limit)?)
        .map_err(|e| Error::at(path, format!("byte {}", e.utf8_error().valid_up_to()), "is not UTF-8 text"))
}

/// Reads, decompresses and parses a file; a parser's error becomes an [`Error::Data`].
///
/// # Errors
/// As [`read_as`], and the parser's errors.
pub fn parse<T, E: std::fmt::Display>(
    path: &Path,
    kind: impl FnOnce(&[u8]) -> Option<Limit>,
    parser: impl FnOnce(&[u8]) -> std::result::Result<T, E>,
) -> Result<T> {
    parser(&read_as(path, kind)?).map_err(|error| Error::data(path, error.to_string()))
}

/// Longest line in bytes of a text format that is read line by line.
pub const LONGEST_LINE: u64 = 1 << 16;

/// Reader that fails at a line of more than about [`LONGEST_LINE`] bytes.
pub struct ShortLines<R> {
    inner: R,
    /// Line ends consumed.
    lines: u64,
    /// Bytes consumed since the last of them.
    line: u64,
}

impl<R> ShortLines<R> {
    /// Wraps a reader at the start of a line.
    pub fn new(inner: R) -> ShortLines<R> {
        ShortLines { inner, lines: 0, line: 0 }
    }
}

impl<R: BufRead> BufRead for ShortLines<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.line > LONGEST_LINE {
            let reason = format!("line {} is longer than 65,536 bytes", self.lines + 1);
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        // Short pieces, so that the line ends of what was consumed say enough.
        self.inner.fill_buf().map(|bytes| &bytes[..bytes.len().min(LONGEST_LINE as usize)])
    }

    fn consume(&mut self, length: usize) {
        // The buffer is still there: it is consumed below.
        let consumed = self.inner.fill_buf().map_or(&[][..], |bytes| &bytes[..length]);
        self.lines += consumed.iter().filter(|&&byte| byte == b'\n').count() as u64;
        self.line = match consumed.iter().rposition(|&byte| byte == b'\n') {
            Some(at) => (length - at - 1) as u64,
            None => self.line + length as u64,
        };
        self.inner.consume(length);
    }
}

impl<R: BufRead> Read for ShortLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.fill_buf()?;
        let length = bytes.len().min(buffer.len());
        buffer[..length].copy_from_slice(&bytes[..length]);
        self.consume(length);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const SMALL: Limit = Limit { kind: "a test", mib: 1 };

    fn written(name: &str, bytes: &[u8]) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        (folder, path)
    }

    #[test]
    fn a_file_over_its_limit_is_refused_while_it_is_read() {
        let (_folder, path) = written("exact", &vec![b'x'; 1 << 20]);
        assert_eq!(read(&path, SMALL).unwrap().len(), 1 << 20);
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(&vec![b'x'; (1 << 20) + 1]).unwrap();
        let (_folder, path) = written("large.gz", &gz.finish().unwrap());
        let error = read(&path, SMALL).unwrap_err();
        assert!(
            error.to_string().ends_with("large.gz: is larger than 1 MiB, the limit for a test"),
            "{error}"
        );
        assert_eq!(error.exit_code(), 1);
        #[cfg(unix)]
        assert!(read_text(Path::new("/dev/zero"), SMALL).is_err());
    }

    #[test]
    fn the_first_bytes_decide_the_limit() {
        let (_folder, path) = written("junk", &vec![0; 2 << 20]);
        let kind = |head: &[u8]| head.starts_with(b"MAGIC").then_some(Limit::NETWORK);
        assert_eq!(read_as(&path, kind).unwrap().len() as u64, HEAD);
        let (_folder, path) = written("magic", &[&b"MAGIC"[..], &vec![0; 2 << 20]].concat());
        assert_eq!(read_as(&path, kind).unwrap().len(), 5 + (2 << 20));
    }

    #[test]
    fn what_expands_without_measure_is_refused() {
        let expanded =
            |length, packed| expand(Path::new("x.gz"), io::repeat(b'x').take(length), Limit::BOOK, || packed);
        assert!(expanded(100 << 20, 2 << 20).is_ok());
        assert!(expanded(50 << 20, 1000).is_ok());
        let error = expanded(100 << 20, 1000).unwrap_err();
        assert!(error.to_string().contains("more than a hundredfold"), "{error}");
    }

    #[test]
    fn an_endless_line_is_an_error() {
        let text = b"one\ntwo\n".repeat(20_000);
        let mut same = Vec::new();
        ShortLines::new(&text[..]).read_to_end(&mut same).unwrap();
        assert!(same == text);
        let lines = ShortLines::new(io::BufReader::new(io::repeat(0))).split(b'\n').next().unwrap();
        assert_eq!(lines.unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
