//! Input with transparent decompression, recognised by content, and atomic output. `-` is standard input or output.

mod bunzip;

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

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
        return Ok(Box::new(io::stdin()));
    }
    let file = File::open(path).map_err(|e| Error::io(path, e))?;
    if file.metadata().map_err(|e| Error::io(path, e))?.is_dir() {
        return Err(Error::data(path, "is a folder, not a file"));
    }
    Ok(Box::new(file))
}

/// Decompresses a stream: gzip and bzip2 also of several members, Zstandard with windows up to 2 GiB (`--long=31`).
pub fn decompressed(raw: Box<dyn Read + Send>) -> io::Result<Box<dyn BufRead + Send>> {
    let mut raw = BufReader::with_capacity(BUFFER, raw);
    Ok(match Compression::of(raw.fill_buf()?) {
        Compression::None => Box::new(raw),
        Compression::Gzip => {
            Box::new(BufReader::with_capacity(BUFFER, flate2::bufread::MultiGzDecoder::new(raw)))
        }
        Compression::Bzip2 => Box::new(bunzip::Blocks::new(raw)),
        Compression::Zstd => {
            let mut decoder = zstd::Decoder::with_buffer(raw)?;
            decoder.window_log_max(31)?;
            Box::new(BufReader::with_capacity(BUFFER, decoder))
        }
    })
}

/// Reads a whole file, decompressed.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes).map_err(|e| Error::io(path, e))?;
    Ok(bytes)
}

/// Reads a whole UTF-8 file, decompressed.
pub fn read_text(path: &Path) -> Result<String> {
    String::from_utf8(read(path)?)
        .map_err(|e| Error::at(path, format!("byte {}", e.utf8_error().valid_up_to()), "is not UTF-8 text"))
}

/// Reads, decompresses and parses a file; a parser's error becomes an [`Error::Data`].
pub fn parse<T, E: std::fmt::Display>(
    path: &Path,
    parser: impl FnOnce(&[u8]) -> std::result::Result<T, E>,
) -> Result<T> {
    parser(&read(path)?).map_err(|error| Error::data(path, error.to_string()))
}

/// A file that appears under its name only with [`Output::commit`]; before, it is a temporary file in the same folder.
///
/// Standard output, devices and pipes are written directly: a file must not replace `/dev/null`.
pub struct Output {
    path: PathBuf,
    target: Target,
}

enum Target {
    Stream(BufWriter<Box<dyn Write + Send>>),
    /// The temporary file and its final path.
    File(BufWriter<tempfile::NamedTempFile>, PathBuf),
}

/// Tests for a device or a pipe, which a file must not replace.
pub fn is_stream(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir())
}

impl Output {
    /// Creates a temporary file, or opens standard output for `-`.
    pub fn create(path: &Path) -> Result<Output> {
        let stream = |out| Target::Stream(BufWriter::with_capacity(BUFFER, out));
        let target = if path == Path::new("-") {
            stream(Box::new(io::stdout()))
        } else if is_stream(path) {
            stream(Box::new(File::options().write(true).open(path).map_err(|e| Error::io(path, e))?))
        } else {
            if path.is_dir() {
                return Err(Error::data(path, "is a folder; name a file to write"));
            }
            // Replace the file that a link points to, not the link.
            let file_path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
            let folder = match file_path.parent() {
                Some(parent) if !parent.as_os_str().is_empty() => parent,
                _ => Path::new("."),
            };
            let mut builder = tempfile::Builder::new();
            builder.prefix(".patzer-");
            // tempfile's default is 0600; the umask applies to 0666.
            #[cfg(unix)]
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
            let file = builder.tempfile_in(folder).map_err(|e| Error::create(path, e))?;
            Target::File(BufWriter::with_capacity(BUFFER, file), file_path)
        };
        Ok(Output { path: path.to_path_buf(), target })
    }

    /// Renames the finished file to its final name.
    pub fn commit(self) -> Result<()> {
        let path = self.path;
        match self.target {
            Target::Stream(mut out) => out.flush().map_err(|e| Error::io(&path, e)),
            Target::File(out, path_to) => {
                let file = out.into_inner().map_err(|e| Error::io(&path, e.into_error()))?;
                file.as_file().sync_data().map_err(|e| Error::io(&path, e))?;
                file.persist(&path_to).map_err(|e| Error::io(&path, e.error))?;
                sync_folder(&path_to);
                Ok(())
            }
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.target {
            Target::Stream(out) => out.write(bytes),
            Target::File(out, _) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.target {
            Target::Stream(out) => out.flush(),
            Target::File(out, _) => out.flush(),
        }
    }
}

/// Makes the name of a new or renamed file survive a power cut, where the system can sync folders.
pub fn sync_folder(file: &Path) {
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

/// Checks before a long run that a file can be created there.
pub fn check_writable(path: &Path) -> Result<()> {
    // Opening and closing a pipe would signal its reader the end of the data.
    if is_stream(path) { Ok(()) } else { Output::create(path).map(drop) }
}

/// Writes a whole file atomically.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut out = Output::create(path)?;
    out.write_all(bytes).map_err(|e| Error::io(path, e))?;
    out.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn an_uncommitted_output_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let mut out = Output::create(&path).unwrap();
        out.write_all(b"half").unwrap();
        drop(out);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        write(&path, b"whole").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"whole");
    }

    #[test]
    #[cfg(unix)]
    fn only_a_file_is_replaced_and_a_link_stays_one() {
        use std::os::unix::fs::{FileTypeExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let [socket, link, file] = ["socket", "link", "file"].map(|name| folder.path().join(name));
        // A socket, like devices and pipes, is no regular file, and needs no special rights.
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        assert!(write(&socket, b"gone").is_err());
        assert!(std::fs::metadata(&socket).unwrap().file_type().is_socket());
        std::fs::write(&file, b"old").unwrap();
        symlink(&file, &link).unwrap();
        write(&link, b"new").unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
    }

    #[test]
    fn a_truncated_stream_is_an_error_with_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cut.gz");
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(&b"some text that is long enough".repeat(50)).unwrap();
        let whole = gz.finish().unwrap();
        std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        let error = read(&path).unwrap_err();
        assert_eq!(error.exit_code(), 1);
        assert!(error.to_string().contains("cut.gz"), "{error}");
    }
}
