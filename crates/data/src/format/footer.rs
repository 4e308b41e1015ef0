//! Checksum of a dataset's footer.
//!
//! Parquet has checksums of pages, none of the footer. Between the last page and the footer, where other readers do not
//! look, the writer puts [`MAGIC`] and the CRC-32 (little-endian) of everything from the footer on. It is not a key of
//! the metadata, since libraries copy keys into files that they write.

use std::io::{self, Write};

use parquet::file::reader::{ChunkReader, Length};

use super::positioned::Positioned;
use patzer_io::Output;

const MAGIC: &[u8; 12] = b"patzer crc32";
const SEAL: usize = MAGIC.len() + 4;
/// The footer's length (u32, little-endian) and `PAR1`.
const TAIL: usize = 8;

/// Output of a dataset that holds the end of the file back to seal it.
pub struct Sealed {
    out: Output,
    /// What was written since [`Sealed::hold`].
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

/// Checks a footer's checksum before the footer is parsed; false if it has none.
pub fn check(file: &Positioned) -> std::result::Result<bool, &'static str> {
    const NO_FOOTER: &str = "is not a Parquet file; make a dataset with `patzer extract`";
    let length = file.len();
    let read = |from: u64, bytes: usize| file.get_bytes(from, bytes).map_err(|_| NO_FOOTER);
    let tail = read(length.checked_sub(TAIL as u64).ok_or(NO_FOOTER)?, TAIL)?;
    let bytes = footer_length(&tail).ok_or(NO_FOOTER)? + TAIL;
    let start = length.checked_sub(bytes as u64).ok_or(NO_FOOTER)?;
    let footer = read(start, bytes)?;
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
    (magic == b"PAR1").then(|| u32::from_le_bytes(*length) as usize)
}

/// The most bytes of a page header up to its checksum.
pub const TO_CHECKSUM: u64 = 19;

/// Whether a page header has a checksum, which the parquet crate checks but does not show. It is the fourth field, after
/// the page's type and sizes, all of them 32-bit integers of Thrift's compact protocol.
pub fn has_page_checksum(header: &[u8]) -> bool {
    const INT: u8 = 0x15;
    let mut rest = header;
    for _ in 0..3 {
        let Some((&INT, value)) = rest.split_first() else { return false };
        let Some(last) = value.iter().position(|byte| *byte < 128) else { return false };
        rest = &value[last + 1..];
    }
    rest.first() == Some(&INT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_header_says_whether_it_has_a_checksum() {
        let with = [0x15, 0, 0x15, 0x80, 0x80, 2, 0x15, 0x28, 0x15, 0x90, 0x4e, 0x1c];
        let without = [0x15, 0, 0x15, 0x80, 0x80, 2, 0x15, 0x28, 0x2c, 0x15, 8];
        assert!(has_page_checksum(&with));
        assert!(!has_page_checksum(&without));
        (0..8).for_each(|length| assert!(!has_page_checksum(&with[..length])));
    }
}
