//! The files in a tar archive, one after another as one text: OpenBench's archives of games are tars of `.pgn.bz2`.
//!
//! Source: IEEE 1003.1, "pax Interchange Format", for headers of `ustar` and the record `size`; GNU tar for sizes in base
//! 256.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::{Arc, Mutex, PoisonError};

use super::{BUFFER, decompressed};

const BLOCK: usize = 512;

/// Longest extended header that is looked at, in bytes.
const LONGEST_HEADER: u64 = 1 << 20;

/// Tests whether decompressed bytes begin a tar archive.
pub fn is_tar(head: &[u8]) -> bool {
    head.get(257..262) == Some(b"ustar")
}

/// The regular files in a tar archive, each decompressed, with a line end after each.
pub fn tar_files(archive: Box<dyn BufRead + Send>) -> Box<dyn BufRead + Send> {
    let archive = Arc::new(Mutex::new(Archive { input: archive, left: 0, padding: 0 }));
    Box::new(BufReader::with_capacity(BUFFER, Files { archive, file: None, ends_line: true }))
}

struct Archive {
    input: Box<dyn BufRead + Send>,
    /// Bytes of the present file that are not read.
    left: u64,
    /// Bytes after it, up to a whole block.
    padding: u64,
}

/// The rest of the present file.
struct Rest(Arc<Mutex<Archive>>);

impl Read for Rest {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut archive = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let most = archive.left.min(buffer.len() as u64) as usize;
        let read = archive.input.read(&mut buffer[..most])?;
        if read == 0 && most > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        archive.left -= read as u64;
        Ok(read)
    }
}

impl Archive {
    /// Goes to the next regular file; false at the end.
    fn next(&mut self) -> io::Result<bool> {
        let mut long_size = None;
        loop {
            self.skip()?;
            let mut header = [0; BLOCK];
            if self.input.fill_buf()?.is_empty() {
                return Ok(false);
            }
            self.input.read_exact(&mut header)?;
            if header == [0; BLOCK] {
                return Ok(false);
            }
            let size = number(&header[124..136]).filter(|_| checks(&header));
            let damaged = || io::Error::new(io::ErrorKind::InvalidData, "a header of the tar archive");
            self.left = long_size.take().or(size).ok_or_else(damaged)?;
            self.padding = self.left.wrapping_neg() % BLOCK as u64;
            match header[156] {
                b'0' | b'7' | 0 => return Ok(true),
                b'x' => {
                    let mut records = Vec::new();
                    let most = self.left.min(LONGEST_HEADER);
                    (&mut self.input).take(most).read_to_end(&mut records)?;
                    self.left -= records.len() as u64;
                    long_size = size_record(&records);
                }
                _ => {}
            }
        }
    }

    /// Skips the rest of the present file.
    fn skip(&mut self) -> io::Result<()> {
        let rest = self.left + std::mem::take(&mut self.padding);
        self.left = 0;
        let skipped = io::copy(&mut (&mut self.input).take(rest), &mut io::sink())?;
        if skipped < rest { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }
}

/// A number of a header: octal, or binary with the highest bit set.
fn number(field: &[u8]) -> Option<u64> {
    if field[0] & 0x80 != 0 {
        let (high, low) = field.split_at(field.len() - 8);
        let fits = high.iter().skip(1).all(|byte| *byte == 0) && field[0] == 0x80;
        return fits.then(|| low.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)));
    }
    let text = std::str::from_utf8(field).ok()?.trim_matches(['\0', ' ']);
    u64::from_str_radix(text, 8).ok()
}

/// Tests the sum of a header's bytes, in which that of the sum itself counts as blanks.
fn checks(header: &[u8; BLOCK]) -> bool {
    let bytes = header.iter().enumerate();
    let sum =
        bytes.map(|(at, byte)| if (148..156).contains(&at) { 32 } else { u64::from(*byte) }).sum::<u64>();
    number(&header[148..156]) == Some(sum)
}

/// The record `size` of an extended header.
fn size_record(records: &[u8]) -> Option<u64> {
    let text = String::from_utf8_lossy(records);
    text.lines().find_map(|line| line.split_once(" size=")?.1.parse().ok())
}

struct Files {
    archive: Arc<Mutex<Archive>>,
    file: Option<Box<dyn BufRead + Send>>,
    ends_line: bool,
}

impl Read for Files {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(file) = &mut self.file {
                let read = file.read(buffer)?;
                if read > 0 {
                    self.ends_line = buffer[read - 1] == b'\n';
                    return Ok(read);
                }
                self.file = None;
            }
            if !self.ends_line && !buffer.is_empty() {
                (buffer[0], self.ends_line) = (b'\n', true);
                return Ok(1);
            }
            if !self.archive.lock().unwrap_or_else(PoisonError::into_inner).next()? {
                return Ok(0);
            }
            self.file = Some(decompressed(Box::new(Rest(Arc::clone(&self.archive))))?);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of an archive.
    fn file(name: &str, kind: u8, size: &[u8], content: &[u8]) -> Vec<u8> {
        let mut header = [0; BLOCK];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[124..124 + size.len()].copy_from_slice(size);
        header[148..156].fill(b' ');
        header[156] = kind;
        header[257..262].copy_from_slice(b"ustar");
        let sum: u64 = header.iter().map(|byte| u64::from(*byte)).sum();
        header[148..154].copy_from_slice(format!("{sum:06o}").as_bytes());
        let mut block = header.to_vec();
        block.extend(content);
        block.resize(block.len().next_multiple_of(BLOCK), 0);
        block
    }

    fn octal(content: &[u8]) -> Vec<u8> {
        format!("{:011o}", content.len()).into_bytes()
    }

    fn read(archive: Vec<u8>) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        tar_files(Box::new(io::Cursor::new(archive))).read_to_end(&mut text).map(|_| text)
    }

    #[test]
    fn files_follow_one_another_unpacked() {
        let zst = zstd::encode_all(&b"second"[..], 1).unwrap();
        let pax = b"28 mtime=1749834800.000000\n13 size=5000\n";
        let long = [b'x'; 5000];
        let base_256 = [0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4];
        let parts = [
            file("games/", b'5', &octal(b""), b""),
            file("a.pgn", b'0', &octal(b"first\n"), b"first\n"),
            file("b.pgn.zst", b'0', &octal(&zst), &zst),
            file("c", b'x', &octal(pax), pax),
            file("c", b'0', &octal(b""), &long),
            file("d", 0, &base_256, b"last"),
            vec![0; 2 * BLOCK],
        ];
        let archive = parts.concat();
        assert!(is_tar(&archive) && !is_tar(&archive[..200]));
        let wanted = [b"first\nsecond\n", &long[..], b"\nlast\n"].concat();
        assert_eq!(read(archive.clone()).unwrap(), wanted);
        // Without its last blocks, as some programs leave it.
        assert_eq!(read(archive[..archive.len() - 2 * BLOCK].to_vec()).unwrap(), wanted);
    }

    #[test]
    fn damage_is_an_error() {
        let archive = file("a.pgn", b'0', &octal(b"first\n"), b"first\n");
        assert_eq!(read(archive[..515].to_vec()).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        for at in [0, 124, 150, 156, 300] {
            let mut bad = archive.clone();
            bad[at] ^= 1;
            let error = read(bad).unwrap_err();
            assert!(error.to_string().contains("a header of the tar archive"), "{at}: {error}");
        }
    }
}
