//! Files in and out.
//!
//! In: a path, or `-` for standard input and output. Out: a reader that has already undone any compression
//! (recognised by content, never by name), or a writer whose file appears under its name only when it is
//! complete. Every other module opens files through here, so that no half-written output can exist.

mod bunzip;

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// How the bytes of an input are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Plain bytes.
    None,
    /// gzip, also several members one after another.
    Gzip,
    /// bzip2, also several streams one after another.
    Bzip2,
    /// Zstandard, also with windows up to 2 GiB (`zstd --long=31`).
    Zstd,
}

impl Compression {
    /// Recognises a stream by its first bytes.
    pub fn of(head: &[u8]) -> Compression {
        match head {
            [0x1f, 0x8b, ..] => Compression::Gzip,
            // The first block's magic belongs to it, or that of the end where there is none.
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..]
            | [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, 0x45, 0x38, 0x50, 0x90, ..] => Compression::Bzip2,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Compression::Zstd,
            // A skippable frame may stand before the first real one.
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Compression::Zstd,
            _ => Compression::None,
        }
    }
}

const BUFFER: usize = 1 << 18;

/// Opens a file, or standard input for `-`, and undoes gzip, bzip2 or Zstandard if its first bytes say so.
///
/// # Errors
/// If the file cannot be opened or its first bytes cannot be read.
pub fn open(path: &Path) -> Result<Box<dyn BufRead + Send>> {
    decompressed(raw(path)?).map_err(|e| Error::io(path, e))
}

/// Opens a file, or standard input for `-`, as the bytes that it holds.
///
/// # Errors
/// If the file cannot be opened, or is a folder.
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

/// Wraps a byte stream so that gzip, bzip2 and Zstandard are undone, also where several lie one after another.
///
/// # Errors
/// If the first bytes cannot be read.
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

/// Reads a whole file, undoing any compression.
///
/// # Errors
/// If it cannot be opened or read to its end.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes).map_err(|e| Error::io(path, e))?;
    Ok(bytes)
}

/// Reads a whole text file.
///
/// # Errors
/// If it cannot be read, or is not UTF-8.
pub fn read_text(path: &Path) -> Result<String> {
    String::from_utf8(read(path)?)
        .map_err(|e| Error::at(path, format!("byte {}", e.utf8_error().valid_up_to()), "is not UTF-8 text"))
}

/// Reads a whole file, undoing any compression, and parses it. The parser's error becomes one of the file's content.
///
/// # Errors
/// The file cannot be read, or the parser refuses it.
pub fn parse<T, E: std::fmt::Display>(
    path: &Path,
    parser: impl FnOnce(&[u8]) -> std::result::Result<T, E>,
) -> Result<T> {
    parser(&read(path)?).map_err(|error| Error::data(path, error.to_string()))
}

/// A file that appears under its name only when [`Output::commit`] is called.
///
/// Until then it lies beside its final place under a temporary name and is removed when dropped. Standard output,
/// a device or a pipe is written as it is: a finished file must not take the place of `/dev/null`.
pub struct Output {
    path: PathBuf,
    sink: Sink,
}

enum Sink {
    Stream(BufWriter<Box<dyn Write + Send>>),
    /// The temporary file, and the name that it is to get.
    File(BufWriter<tempfile::NamedTempFile>, PathBuf),
}

/// Whether something stands at a path that cannot be replaced by a file: a device or a pipe.
pub fn is_stream(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir())
}

impl Output {
    /// Starts a new file, or standard output for `-`.
    ///
    /// # Errors
    /// If nothing can be written at that place.
    pub fn create(path: &Path) -> Result<Output> {
        let stream = |out| Sink::Stream(BufWriter::with_capacity(BUFFER, out));
        let sink = if path == Path::new("-") {
            stream(Box::new(io::stdout()))
        } else if is_stream(path) {
            stream(Box::new(File::options().write(true).open(path).map_err(|e| Error::io(path, e))?))
        } else {
            if path.is_dir() {
                return Err(Error::data(path, "is a folder; name a file to write"));
            }
            // A link stays one: the file that it names is replaced.
            let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
            let folder = match target.parent() {
                Some(parent) if !parent.as_os_str().is_empty() => parent,
                _ => Path::new("."),
            };
            let mut builder = tempfile::Builder::new();
            builder.prefix(".patzer-");
            // tempfile's default is 0600; an output is an ordinary file, cut by the user's umask.
            #[cfg(unix)]
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
            let file = builder.tempfile_in(folder).map_err(|e| Error::create(path, e))?;
            Sink::File(BufWriter::with_capacity(BUFFER, file), target)
        };
        Ok(Output { path: path.to_path_buf(), sink })
    }

    /// Gives the finished file its name.
    ///
    /// # Errors
    /// If the last bytes cannot be written or the file cannot be renamed.
    pub fn commit(self) -> Result<()> {
        let path = self.path;
        match self.sink {
            Sink::Stream(mut out) => out.flush().map_err(|e| Error::io(&path, e)),
            Sink::File(out, target) => {
                let file = out.into_inner().map_err(|e| Error::io(&path, e.into_error()))?;
                file.as_file().sync_data().map_err(|e| Error::io(&path, e))?;
                file.persist(target).map_err(|e| Error::io(&path, e.error))?;
                Ok(())
            }
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.sink {
            Sink::Stream(out) => out.write(bytes),
            Sink::File(out, _) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::Stream(out) => out.flush(),
            Sink::File(out, _) => out.flush(),
        }
    }
}

/// Checks that a file could be written, so that a long run does not end in that fault. Leaves nothing.
///
/// # Errors
/// If nothing can be written at that place.
pub fn check_writable(path: &Path) -> Result<()> {
    // Opening a pipe and closing it again would tell its reader that all has been written.
    if is_stream(path) { Ok(()) } else { Output::create(path).map(drop) }
}

/// Writes a whole file at once, atomically.
///
/// # Errors
/// If it cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut out = Output::create(path)?;
    out.write_all(bytes).map_err(|e| Error::io(path, e))?;
    out.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn undone(packed: Vec<u8>) -> Vec<u8> {
        let mut plain = Vec::new();
        decompressed(Box::new(io::Cursor::new(packed))).unwrap().read_to_end(&mut plain).unwrap();
        plain
    }

    #[test]
    fn compression_is_recognised_by_content_and_undone_to_the_last_member() {
        let text = b"[Event \"x\"]\n".repeat(100);
        let gz = || {
            let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            gz.write_all(&text).unwrap();
            gz.finish().unwrap()
        };
        let bz2 = || {
            let mut bz2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            bz2.write_all(&text).unwrap();
            bz2.finish().unwrap()
        };
        let zst = || zstd::encode_all(&text[..], 1).unwrap();
        for packed in [text.clone(), gz(), bz2(), zst()] {
            assert_eq!(undone(packed.clone()), text);
            assert_eq!(undone([packed.clone(), packed].concat()), text.repeat(2));
        }
        // A skippable frame first; a window larger than decoders take unasked.
        assert_eq!(undone([&[0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 1, 2][..], &zst()].concat()), text);
        let mut long = zstd::Encoder::new(Vec::new(), 1).unwrap();
        long.window_log(28).unwrap();
        long.write_all(&text).unwrap();
        assert_eq!(undone(long.finish().unwrap()), text);
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
        // A socket stands for devices and pipes: it can be made without special rights, and never opened.
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
