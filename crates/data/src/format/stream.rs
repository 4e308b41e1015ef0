//! Bytes in and out for the formats: where one is in a file, and packed outputs.
//!
//! In: a path. Out: a reader that undoes compression, counts bytes and lines and can look ahead; a writer that packs
//! by the ending of the name (`.zst`, `.gz`, `.bz2`) and appears whole or not at all.

use std::io::{self, BufRead, Cursor, Read, Write};
use std::path::{Path, PathBuf};

use patzer_io::Output;
use patzer_io::error::{Error, Result};

/// How much is looked at to recognise a format.
const HEAD: u64 = 4096;

/// The longest line of a text format, in bytes.
const LINE: u64 = 1 << 16;

/// A file that is read from its start to its end.
pub struct Input {
    path: PathBuf,
    reader: Box<dyn BufRead + Send>,
    head: Vec<u8>,
    /// Bytes taken so far, after compression is undone.
    pub offset: u64,
    /// Lines taken so far.
    pub lines: u64,
}

impl Input {
    /// Opens a file, or standard input for `-`, and undoes its compression.
    ///
    /// # Errors
    /// If it cannot be opened or its first bytes cannot be read.
    pub fn open(path: &Path) -> Result<Input> {
        Input::of(path, patzer_io::open(path)?)
    }

    /// Reads from anything, which is called `path` in messages.
    ///
    /// # Errors
    /// If the first bytes cannot be read.
    pub fn of(path: &Path, mut reader: Box<dyn BufRead + Send>) -> Result<Input> {
        let mut head = Vec::new();
        reader.by_ref().take(HEAD).read_to_end(&mut head).map_err(|e| Error::io(path, e))?;
        let reader = Box::new(Cursor::new(head.clone()).chain(reader));
        Ok(Input { path: path.to_path_buf(), reader, head, offset: 0, lines: 0 })
    }

    /// The first bytes of the file.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Its name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Fills a buffer, or as much of it as there is; gives how much.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn fill(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.reader.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(self.broken(filled as u64, e)),
            }
        }
        self.offset += filled as u64;
        Ok(filled)
    }

    /// Appends up to `bytes` bytes; gives how many there were.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn take(&mut self, bytes: u64, into: &mut Vec<u8>) -> Result<u64> {
        let read = self.reader.by_ref().take(bytes).read_to_end(into);
        let read = read.map_err(|e| self.broken(0, e))? as u64;
        self.offset += read;
        Ok(read)
    }

    /// Puts the next line into `line`, without what ends it; false at the end of the file.
    ///
    /// # Errors
    /// If the file cannot be read, or the line is longer than any of a text format.
    pub fn line(&mut self, line: &mut Vec<u8>) -> Result<bool> {
        line.clear();
        let read = self.reader.by_ref().take(LINE).read_until(b'\n', line);
        let read = read.map_err(|e| self.broken(0, e))? as u64;
        self.offset += read;
        self.lines += u64::from(read > 0);
        if read == LINE && line.last() != Some(&b'\n') {
            return Err(self.line_fault("is longer than 65,536 bytes"));
        }
        while line.last().is_some_and(u8::is_ascii_whitespace) {
            line.pop();
        }
        if self.lines == 1 && line.starts_with(b"\xef\xbb\xbf") {
            line.drain(..3);
        }
        Ok(read > 0)
    }

    /// A fault in the line that was read last.
    pub fn line_fault(&self, reason: impl Into<String>) -> Error {
        Error::at(&self.path, format!("line {}", self.lines), reason)
    }

    /// A fault at a byte of the file.
    pub fn byte_fault(&self, offset: u64, reason: impl Into<String>) -> Error {
        Error::at(&self.path, format!("byte {offset}"), reason)
    }

    fn broken(&self, more: u64, error: io::Error) -> Error {
        match Error::io(&self.path, error) {
            Error::Data { path, reason, .. } => {
                Error::at(path, format!("byte {}", self.offset + more), reason)
            }
            other => other,
        }
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.offset += read as u64;
        Ok(read)
    }
}

/// A file that is written from its start to its end.
pub struct Packed {
    path: PathBuf,
    pack: Pack,
}

enum Pack {
    Plain(Output),
    Zstd(Box<zstd::Encoder<'static, Output>>),
    Gzip(Box<flate2::write::GzEncoder<Output>>),
    Bzip2(Box<bzip2::write::BzEncoder<Output>>),
}

impl Packed {
    /// Starts a file; it appears when [`Packed::commit`] succeeds.
    ///
    /// # Errors
    /// If nothing can be written there.
    pub fn create(path: &Path) -> Result<Packed> {
        let output = Output::create(path)?;
        let pack = match path.extension().and_then(|ending| ending.to_str()) {
            Some("zst") => {
                Pack::Zstd(Box::new(zstd::Encoder::new(output, 3).map_err(|e| Error::io(path, e))?))
            }
            Some("gz") => {
                Pack::Gzip(Box::new(flate2::write::GzEncoder::new(output, flate2::Compression::default())))
            }
            Some("bz2") => {
                Pack::Bzip2(Box::new(bzip2::write::BzEncoder::new(output, bzip2::Compression::default())))
            }
            _ => Pack::Plain(output),
        };
        Ok(Packed { path: path.to_path_buf(), pack })
    }

    /// Writes all of these bytes.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        let written = match &mut self.pack {
            Pack::Plain(out) => out.write_all(bytes),
            Pack::Zstd(out) => out.write_all(bytes),
            Pack::Gzip(out) => out.write_all(bytes),
            Pack::Bzip2(out) => out.write_all(bytes),
        };
        written.map_err(|e| Error::io(&self.path, e))
    }

    /// Ends the file and gives it its name.
    ///
    /// # Errors
    /// If the last bytes cannot be written.
    pub fn commit(self) -> Result<()> {
        let output = match self.pack {
            Pack::Plain(out) => Ok(out),
            Pack::Zstd(out) => out.finish(),
            Pack::Gzip(out) => out.finish(),
            Pack::Bzip2(out) => out.finish(),
        };
        output.map_err(|e| Error::io(&self.path, e))?.commit()
    }
}
