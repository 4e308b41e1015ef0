//! Checksum of a dataset's footer.
//!
//! Parquet has checksums of pages, none of the footer. Between the last page and the footer, where other readers do not
//! look, the writer puts [`MAGIC`] and the CRC-32 (little-endian) of everything from the footer on. It is not a key of
//! the metadata, since libraries copy keys into files that they write.

use std::io::{self, Write};

use parquet::file::reader::{ChunkReader, Length};

use crate::native::positioned::Positioned;
use crate::native::thrift;
use patzer_io::Output;

const MAGIC: &[u8; 12] = b"patzer crc32";
const SEAL: usize = MAGIC.len() + 4;
/// The first and the last bytes of a Parquet file.
const PARQUET: &[u8; 4] = b"PAR1";
/// The footer's length (u32, little-endian) and [`PARQUET`].
const TAIL: usize = 8;

/// Output of a dataset that holds the end of the file back to seal it.
pub struct Sealed {
    out: Output,
    /// Bytes written since [`Sealed::hold`].
    held: Option<Vec<u8>>,
}

impl Sealed {
    pub fn new(out: Output) -> Sealed {
        Sealed { out, held: None }
    }

    /// Keeps everything that is written from now on, until [`Sealed::seal`].
    pub fn hold(&mut self) {
        self.held = Some(Vec::new());
    }

    /// Writes what was held, with the checksum before the footer.
    pub fn seal(mut self) -> io::Result<Output> {
        let held = self.held.unwrap_or_default();
        let footer = footer_length(&held).and_then(|length| held.len().checked_sub(length + TAIL));
        let footer = footer.ok_or_else(|| io::Error::other("a file without a footer"))?;
        let (pages, footer) = held.split_at(footer);
        self.out.write_all(pages)?;
        self.out.write_all(MAGIC)?;
        self.out.write_all(&crc32fast::hash(footer).to_le_bytes())?;
        self.out.write_all(footer)?;
        Ok(self.out)
    }
}

impl Write for Sealed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.held {
            Some(held) => held.write(bytes),
            None => self.out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.held.is_some() { Ok(()) } else { self.out.flush() }
    }
}

/// Checks a footer's checksum and the size of its schema before the footer is parsed; false if it has no checksum.
pub fn check(file: &Positioned) -> std::result::Result<bool, &'static str> {
    let length = file.len();
    let begins = file.get_bytes(0, PARQUET.len()).is_ok_and(|head| *head == *PARQUET);
    let no_footer = match begins {
        true => "is a Parquet file that breaks off, or is damaged at its end: it has no footer there",
        false => "is not a Parquet file; make a dataset with `patzer extract`",
    };
    let read = |from: u64, bytes: usize| file.get_bytes(from, bytes).map_err(|_| no_footer);
    let tail = read(length.checked_sub(TAIL as u64).ok_or(no_footer)?, TAIL)?;
    let bytes = footer_length(&tail).ok_or(no_footer)? + TAIL;
    let start = length.checked_sub(bytes as u64).ok_or(no_footer)?;
    let footer = read(start, bytes)?;
    if !thrift::is_footer(&footer) {
        return Err(
            "its footer is damaged (it claims more than it has bytes for, or a field has a wrong type)",
        );
    }
    let seal = start.checked_sub(SEAL as u64).map(|at| read(at, SEAL)).transpose()?;
    match seal.as_deref().and_then(|seal| seal.strip_prefix(MAGIC)) {
        Some(crc) if crc == crc32fast::hash(&footer).to_le_bytes() => Ok(true),
        Some(_) => Err("its footer is damaged (its checksum differs)"),
        None => Ok(false),
    }
}

/// Length of the footer by the last [`TAIL`] bytes of a file; `None` if these are not the end of a Parquet file.
fn footer_length(bytes: &[u8]) -> Option<usize> {
    let (length, magic) = bytes.last_chunk::<TAIL>()?.split_first_chunk::<4>()?;
    (magic == PARQUET).then(|| u32::from_le_bytes(*length) as usize)
}
