//! Input with transparent decompression, recognised by content, and atomic output. `-` is standard input or output.

mod archive;
mod bunzip;
mod expansion;
mod gunzip;
mod output;
mod read_at;
mod regular;
mod tar;
mod temporary;
mod waiting;
mod whole;

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use crate::error::{Error, Result};

pub use archive::{archive, has_archive_ending};
pub use output::{
    Output, check_writable, create_folder, destination, is_stream, named_again, remove_if_exists, same_file,
    sync_folder, write,
};
pub use read_at::{ReadAt, read_at};
pub use tar::{is_tar, tar_files};
pub use temporary::{nameless_file, temporary_folder};
pub use waiting::stdout;
pub use whole::{LONGEST_LINE, Limit, ShortLines, expand, parse, read, read_as, read_plain, read_text};

/// Compression of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Plain bytes.
    None,
    /// gzip, also several members.
    Gzip,
    /// bzip2, also several streams.
    Bzip2,
    /// Zstandard, with windows up to 2 GiB.
    Zstd,
}

impl Compression {
    /// Recognises a stream by its first bytes.
    pub fn of(head: &[u8]) -> Compression {
        match head {
            [0x1f, 0x8b, ..] => Compression::Gzip,
            // Includes the magic of the first block, or that of the end of an empty stream.
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..]
            | [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, 0x45, 0x38, 0x50, 0x90, ..] => Compression::Bzip2,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Compression::Zstd,
            // A skippable frame may precede the first real one.
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Compression::Zstd,
            _ => Compression::None,
        }
    }
}

const BUFFER: usize = 1 << 18;

/// Opens a file, or standard input for `-`, and decompresses gzip, bzip2 or Zstandard.
pub fn open(path: &Path) -> Result<Box<dyn BufRead + Send>> {
    decompressed(raw(path)?).map_err(|e| Error::io(path, e))
}

/// Opens a file, or standard input for `-`, without decompression.
pub fn raw(path: &Path) -> Result<Box<dyn Read + Send>> {
    if path == Path::new("-") {
        return waiting::stdin().map_err(|e| Error::io(path, e));
    }
    let file = waiting::open_to_read(path).map_err(|e| Error::io(path, e))?;
    let about = file.metadata().map_err(|e| Error::io(path, e))?;
    if about.is_dir() {
        return Err(Error::data(path, "is a folder, not a file"));
    }
    // The size of devices and pipes says nothing, nor that of files of the kernel, which is 0.
    Ok(match about.is_file() {
        true => Box::new(regular::Regular::new(path, file).map_err(|e| Error::io(path, e))?),
        false => Box::new(waiting::Waiting(file)),
    })
}

/// Decompresses a stream: gzip and bzip2 also of several members, Zstandard with windows up to 2 GiB.
pub fn decompressed(raw: Box<dyn Read + Send>) -> io::Result<Box<dyn BufRead + Send>> {
    let (raw, packed) = expansion::Counted::new(raw);
    let mut raw = BufReader::with_capacity(BUFFER, raw);
    Ok(match Compression::of(raw.fill_buf()?) {
        Compression::None => Box::new(raw),
        Compression::Gzip => Box::new(BufReader::with_capacity(BUFFER, gunzip::Members::new(raw))),
        Compression::Bzip2 => Box::new(bunzip::Blocks::new(raw)),
        Compression::Zstd => {
            let mut decoder = zstd::Decoder::with_buffer(raw)?;
            decoder.window_log_max(31)?;
            let bounded = expansion::Bounded { inner: decoder, text: 0, packed };
            Box::new(BufReader::with_capacity(BUFFER, bounded))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn decompress(packed: Vec<u8>) -> Vec<u8> {
        let mut plain = Vec::new();
        decompressed(Box::new(io::Cursor::new(packed))).unwrap().read_to_end(&mut plain).unwrap();
        plain
    }

    #[test]
    fn compression_is_recognised_by_content_and_every_member_is_read() {
        let text = b"[Event \"x\"]\n".repeat(100);
        let (mut gz, mut bz2, zst) = (Vec::new(), Vec::new(), zstd::encode_all(&text[..], 1).unwrap());
        flate2::read::GzEncoder::new(&text[..], Default::default()).read_to_end(&mut gz).unwrap();
        bzip2::read::BzEncoder::new(&text[..], Default::default()).read_to_end(&mut bz2).unwrap();
        for packed in [text.clone(), gz, bz2, zst.clone()] {
            assert_eq!(decompress(packed.clone()), text);
            assert_eq!(decompress([packed.clone(), packed].concat()), text.repeat(2));
        }
        // A skippable frame first; a window above the decoder's default limit.
        assert_eq!(decompress([&[0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 1, 2][..], &zst].concat()), text);
        let mut long = zstd::Encoder::new(Vec::new(), 1).unwrap();
        long.window_log(28).unwrap();
        long.write_all(&text).unwrap();
        assert_eq!(decompress(long.finish().unwrap()), text);
    }

    #[test]
    fn zero_bytes_after_a_member_are_padding_and_other_bytes_an_error() {
        let mut gz = Vec::new();
        flate2::read::GzEncoder::new(&b"text"[..], Default::default()).read_to_end(&mut gz).unwrap();
        let zeros = vec![0; 1_000_000];
        assert_eq!(decompress([&gz[..], &gz, &zeros].concat()), b"texttext");
        assert_eq!(decompress([&gz[..], &[0; 512], &gz].concat()), b"texttext");
        for bad in [&b"x"[..], &b"\0x"[..], &gz[..gz.len() - 1]] {
            let raw = io::Cursor::new([&gz[..], bad].concat());
            assert!(decompressed(Box::new(raw)).unwrap().read_to_end(&mut Vec::new()).is_err());
        }
    }

    /// A frame with a window of 2 GiB and blocks of one byte, repeated 128 Ki times: 4 bytes each.
    fn zstd_bomb(blocks: usize) -> Vec<u8> {
        let block =
            [(128 << 10 << 3 | 1 << 1) as u8, (128 << 10 << 3 >> 8) as u8, (128 << 10 << 3 >> 16) as u8];
        let mut bomb = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 21 << 3];
        (0..blocks).for_each(|_| bomb.extend([block[0], block[1], block[2], b'\n']));
        bomb.extend([1, 0, 0]);
        bomb
    }

    #[test]
    fn a_large_window_is_not_filled_by_a_few_bytes() {
        assert!(decompress(zstd_bomb(100)) == vec![b'\n'; 100 * (128 << 10)]);
        let mut text = Vec::new();
        let bomb = io::Cursor::new(zstd_bomb(20_000));
        let error = decompressed(Box::new(bomb)).unwrap().read_to_end(&mut text).unwrap_err();
        assert!(error.to_string().contains("more than a thousandfold"), "{error}");
        let length = text.len();
        assert!((128 << 20..129 << 20).contains(&length), "{length}");
    }

    #[test]
    fn a_truncated_stream_is_an_error_with_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cut.gz");
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(&b"some text that is long enough".repeat(50)).unwrap();
        let whole = gz.finish().unwrap();
        std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        let error = read(&path, Limit::RUN).unwrap_err();
        assert_eq!(error.exit_code(), 1);
        assert!(error.to_string().contains("cut.gz"), "{error}");
    }
}
