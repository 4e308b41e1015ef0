//! Byte streams of the formats: input with positions for error messages, compressed output.

use std::io::{self, BufRead, Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bzip2::write::BzEncoder;
use flate2::write::GzEncoder;

use crate::Record;
use crate::bad_rows::BadRows;
use crate::codec::PositionWriter;
use crate::companion::{Hash, Hashed};
use crate::fen::LineError;
use crate::foreign::columns::Columns;
use crate::notices::Notices;
use patzer_io::error::{Error, Result};

const HEAD: u64 = 4096;

/// Default level of zstd for `.zst` files, zstd's own.
const LEVEL: i32 = 3;

/// Longest line of a text format in bytes.
const LINE: u64 = 1 << 16;

/// SHA-256 and length of a file's bytes on disk, known once it has been read to its end.
#[derive(Debug, Clone, Default)]
pub struct FileDigest(Arc<Mutex<Option<(String, u64)>>>);

impl FileDigest {
    pub fn whole(&self) -> Option<(String, u64)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Reader whose bytes a thread hashes, so that reading takes no longer.
struct Digested {
    inner: Box<dyn Read + Send>,
    hash: Option<Hash>,
    length: u64,
    digest: FileDigest,
}

impl Read for Digested {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.length += length as u64;
        match &mut self.hash {
            Some(hash) if length > 0 => hash.take(&buffer[..length])?,
            Some(_) if !buffer.is_empty() => {
                let whole = self.hash.take().map(Hash::finish).transpose()?;
                let mut digest = self.digest.0.lock().unwrap_or_else(PoisonError::into_inner);
                *digest = whole.map(|sha256| (sha256, self.length));
            }
            _ => {}
        }
        Ok(length)
    }
}

/// Decompressed input that counts bytes and lines.
pub struct Input {
    path: PathBuf,
    reader: Box<dyn BufRead + Send>,
    head: Vec<u8>,
    /// Columns of a table, where they are not the usual ones.
    pub columns: Columns,
    pub notices: Notices,
    pub bad_rows: BadRows,
    /// Digest of the bytes on disk, if they are hashed.
    pub digest: FileDigest,
    /// Decompressed bytes read so far.
    pub offset: u64,
    pub lines: u64,
}

impl Input {
    pub fn open(path: &Path) -> Result<Input> {
        Input::of(path, patzer_io::open(path)?)
    }

    /// Opens a file whose digest is wanted at its end.
    pub fn hashed(path: &Path) -> Result<Input> {
        let digest = FileDigest::default();
        let (inner, hash) = (patzer_io::raw(path)?, Some(Hash::start()?));
        let raw = Box::new(Digested { inner, hash, length: 0, digest: digest.clone() });
        let input = Input::of(path, patzer_io::decompressed(raw).map_err(|e| Error::io(path, e))?)?;
        Ok(Input { digest, ..input })
    }

    pub fn of(path: &Path, mut reader: Box<dyn BufRead + Send>) -> Result<Input> {
        let mut head = Vec::new();
        reader.by_ref().take(HEAD).read_to_end(&mut head).map_err(|e| Error::io(path, e))?;
        let reader = Box::new(Cursor::new(head.clone()).chain(reader));
        Ok(Input {
            path: path.to_path_buf(),
            reader,
            head,
            columns: Columns::default(),
            notices: Notices::default(),
            bad_rows: BadRows::default(),
            digest: FileDigest::default(),
            offset: 0,
            lines: 0,
        })
    }

    pub fn head(&self) -> &[u8] {
        &self.head
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a notice about the file.
    pub fn note(&self, text: impl Into<String>) {
        self.notices.add(&self.path, text);
    }

    /// Fills a buffer, less at the end of the file; returns the number of bytes.
    pub fn fill(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.reader.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(self.read_error(filled as u64, e)),
            }
        }
        self.offset += filled as u64;
        Ok(filled)
    }

    /// Fills a buffer with records of `N` bytes, less at the end of the file.
    pub fn fixed<'b, const N: usize>(&mut self, buffer: &'b mut [u8]) -> Result<FixedRecords<'b, N>> {
        let offset = self.offset;
        let filled = self.fill(buffer)?;
        let (records, rest) = buffer[..filled].as_chunks::<N>();
        let cut = (!rest.is_empty()).then(|| {
            let reason = format!("the file ends within a record of {N} bytes");
            self.byte_error(offset + (filled - rest.len()) as u64, reason)
        });
        Ok(FixedRecords { offset, records, cut })
    }

    /// Appends up to `bytes` bytes; returns their number.
    pub fn take(&mut self, bytes: u64, into: &mut Vec<u8>) -> Result<u64> {
        let read = self.reader.by_ref().take(bytes).read_to_end(into);
        let read = read.map_err(|e| self.read_error(0, e))? as u64;
        self.offset += read;
        Ok(read)
    }

    /// Replaces `line` by the next line that is not empty, without trailing space; false at the end of the file.
    pub fn line(&mut self, line: &mut Vec<u8>) -> Result<bool> {
        line.clear();
        self.skip_empty_lines()?;
        let read = self.reader.by_ref().take(LINE).read_until(b'\n', line);
        let read = read.map_err(|e| self.read_error(0, e))? as u64;
        self.offset += read;
        self.lines += u64::from(read > 0);
        if read == LINE && line.last() != Some(&b'\n') {
            return Err(self.line_error("is longer than 65,536 bytes"));
        }
        while line.last().is_some_and(u8::is_ascii_whitespace) {
            line.pop();
        }
        if self.lines == 1 {
            line.drain(..line.len() - patzer_io::without_byte_order_mark(line).len());
        }
        Ok(read > 0)
    }

    fn skip_empty_lines(&mut self) -> Result<()> {
        loop {
            let arrived = match self.reader.fill_buf() {
                Ok(arrived) => arrived,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(self.read_error(0, e)),
            };
            let empty = arrived.iter().take_while(|&&byte| byte == b'\n').count();
            let all = empty == arrived.len();
            self.reader.consume(empty);
            self.offset += empty as u64;
            self.lines += empty as u64;
            if empty == 0 || !all {
                return Ok(());
            }
        }
    }

    /// Leaves out the line that is bad, if bad lines are.
    pub fn pass(&self, line: std::result::Result<(), LineError>) -> Result<()> {
        self.bad_rows.pass(line.map_err(|reason| self.line_error(reason)), &self.notices)
    }

    pub fn line_error(&self, reason: impl std::fmt::Display) -> Error {
        Error::at(&self.path, format!("line {}", self.lines), reason.to_string())
    }

    pub fn byte_error(&self, offset: u64, reason: impl Into<String>) -> Error {
        Error::at(&self.path, format!("byte {offset}"), reason)
    }

    fn read_error(&self, more: u64, error: io::Error) -> Error {
        match Error::io(&self.path, error) {
            Error::Data { path, reason, .. } => {
                Error::at(path, format!("byte {}", self.offset + more), reason)
            }
            other => other,
        }
    }
}

/// Input that is read in small pieces, with the offset of the next.
pub struct Buffered {
    input: Input,
    buffer: Vec<u8>,
    used: usize,
}

impl Buffered {
    const BLOCK: u64 = 1 << 16;

    pub fn new(input: Input) -> Buffered {
        Buffered { input, buffer: Vec::new(), used: 0 }
    }

    /// Adds a notice about the file.
    pub fn note(&self, text: impl Into<String>) {
        self.input.note(text);
    }

    pub fn offset(&self) -> u64 {
        self.input.offset - (self.buffer.len() - self.used) as u64
    }

    pub fn error(&self, offset: u64, reason: impl Into<String>) -> Error {
        self.input.byte_error(offset, reason)
    }

    /// The byte in this place from here on, which stays to be read; `None` beyond the end of the file.
    pub fn peek(&mut self, place: usize) -> Result<Option<u8>> {
        if self.buffer.len() - self.used <= place {
            Input::take(&mut self.input, Buffered::BLOCK, &mut self.buffer)?;
        }
        Ok(self.buffer[self.used..].get(place).copied())
    }

    /// Reads the next `N` bytes; `None` at the end of the file.
    #[inline]
    pub fn get<const N: usize>(&mut self) -> Result<Option<[u8; N]>> {
        if self.buffer.len() - self.used < N {
            self.buffer.drain(..self.used);
            self.used = 0;
            Input::take(&mut self.input, Buffered::BLOCK, &mut self.buffer)?;
        }
        let Some(bytes) = self.buffer[self.used..].first_chunk::<N>() else {
            return match self.buffer.len() - self.used {
                0 => Ok(None),
                _ => Err(self.error(self.offset(), "the file ends within a game")),
            };
        };
        self.used += N;
        Ok(Some(*bytes))
    }

    /// Reads the next `N` bytes of a game.
    #[inline]
    pub fn need<const N: usize>(&mut self) -> Result<[u8; N]> {
        let at = self.offset();
        self.get()?.ok_or_else(|| self.error(at, "the file ends within a game"))
    }
}

/// Records of `N` bytes from a place of a file on.
pub struct FixedRecords<'b, const N: usize> {
    pub offset: u64,
    pub records: &'b [[u8; N]],
    /// The fault of a last record that is incomplete; to be reported after those before it.
    pub cut: Option<Error>,
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.offset += read as u64;
        Ok(read)
    }
}

const PACKINGS: [&str; 3] = ["zst", "gz", "bz2"];

/// Returns the compression that a name ends in.
pub fn packing(path: &Path) -> Option<&'static str> {
    let ending = path.extension()?.to_str()?;
    PACKINGS.into_iter().find(|packed| ending.eq_ignore_ascii_case(packed))
}

/// Output compressed according to the file name: `.zst`, `.gz`, `.bz2` or plain.
pub struct CompressedOutput {
    path: PathBuf,
    encoder: Encoder,
}

enum Encoder {
    Plain(Hashed),
    Zstd(Box<zstd::Encoder<'static, Hashed>>),
    Gzip(Box<GzEncoder<Hashed>>),
    Bzip2(Box<BzEncoder<Hashed>>),
}

impl CompressedOutput {
    /// Creates a file, which appears under its name with [`CompressedOutput::commit`], and then perhaps its companion.
    pub fn create(path: &Path, level: Option<i32>, companion: bool) -> Result<CompressedOutput> {
        let output = Hashed::create(path, companion)?;
        let encoder = match packing(path) {
            Some("zst") => {
                let fault = |e| Error::io(path, e);
                let mut encoder = zstd::Encoder::new(output, level.unwrap_or(LEVEL)).map_err(fault)?;
                encoder.include_checksum(true).map_err(fault)?;
                Encoder::Zstd(Box::new(encoder))
            }
            Some("gz") => Encoder::Gzip(Box::new(GzEncoder::new(output, Default::default()))),
            Some("bz2") => Encoder::Bzip2(Box::new(BzEncoder::new(output, Default::default()))),
            _ => Encoder::Plain(output),
        };
        Ok(CompressedOutput { path: path.to_path_buf(), encoder })
    }

    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        let written = match &mut self.encoder {
            Encoder::Plain(out) => out.write_all(bytes),
            Encoder::Zstd(out) => out.write_all(bytes),
            Encoder::Gzip(out) => out.write_all(bytes),
            Encoder::Bzip2(out) => out.write_all(bytes),
        };
        written.map_err(|e| Error::io(&self.path, e))
    }

    pub fn commit(self) -> Result<()> {
        let output = match self.encoder {
            Encoder::Plain(out) => Ok(out),
            Encoder::Zstd(out) => out.finish(),
            Encoder::Gzip(out) => out.finish(),
            Encoder::Bzip2(out) => out.finish(),
        };
        output.map_err(|e| Error::io(&self.path, e))?.commit()
    }
}

/// Writer of a format that encodes each record by itself.
pub struct RecordWriter<F> {
    out: CompressedOutput,
    buffer: Vec<u8>,
    encode: F,
}

impl<F: FnMut(&mut Vec<u8>, &Record)> RecordWriter<F> {
    pub fn new(out: CompressedOutput, header: Vec<u8>, encode: F) -> RecordWriter<F> {
        RecordWriter { out, buffer: header, encode }
    }
}

impl<F: FnMut(&mut Vec<u8>, &Record) + Send> PositionWriter for RecordWriter<F> {
    fn write(&mut self, records: &[Record]) -> Result<u64> {
        for record in records {
            (self.encode)(&mut self.buffer, record);
            if self.buffer.len() > 1 << 20 {
                self.out.put(&self.buffer)?;
                self.buffer.clear();
            }
        }
        Ok(0)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.out.put(&self.buffer)?;
        self.out.commit()
    }
}
