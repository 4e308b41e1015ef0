//! Companion files: `out.bullet.sha256` beside `out.bullet`, a line as `sha256sum` writes and checks it, for formats
//! without checksums of their own.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use sha2::{Digest, Sha256};

use patzer_io::Output;
use patzer_io::error::{Error, Result};

/// Bytes that the hashing thread takes at a time.
const BLOCK: usize = 1 << 18;
/// Blocks that may wait for it.
const WAITING: usize = 8;

/// Output that gets a companion if it is a file. A thread computes the hash while more is written.
pub struct Hashed {
    path: PathBuf,
    out: Output,
    hash: Option<Hash>,
}

struct Hash {
    block: Vec<u8>,
    blocks: SyncSender<Vec<u8>>,
    thread: JoinHandle<Sha256>,
}

impl Hash {
    fn start() -> Hash {
        let (blocks, receiver) = sync_channel::<Vec<u8>>(WAITING);
        let thread = std::thread::spawn(move || {
            let mut hash = Sha256::new();
            receiver.into_iter().for_each(|block| hash.update(block));
            hash
        });
        Hash { block: Vec::with_capacity(BLOCK), blocks, thread }
    }

    fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.block.extend_from_slice(bytes);
        if self.block.len() < BLOCK {
            return Ok(());
        }
        let block = std::mem::replace(&mut self.block, Vec::with_capacity(BLOCK));
        self.blocks.send(block).map_err(io::Error::other)
    }

    /// Returns the hash in hexadecimal digits.
    fn finish(self) -> io::Result<String> {
        self.blocks.send(self.block).map_err(io::Error::other)?;
        drop(self.blocks);
        let hash = self.thread.join().map_err(|_| io::Error::other("the hashing thread panicked"))?;
        Ok(hex(hash))
    }
}

impl Hashed {
    pub fn create(path: &Path) -> Result<Hashed> {
        let out = Output::create(path)?;
        let file = path != Path::new("-") && !patzer_io::is_stream(path);
        Ok(Hashed { path: path.to_path_buf(), out, hash: file.then(Hash::start) })
    }

    /// Renames the finished file to its final name, then writes the companion. If the process ends in between, the file
    /// has none: an old one does not outlive its file.
    pub fn commit(self) -> Result<()> {
        let Some(hash) = self.hash else { return self.out.commit() };
        let hash = hash.finish().map_err(|e| Error::io(&self.path, e))?;
        let companion = companion_of(&self.path);
        match std::fs::remove_file(&companion) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(Error::io(companion, e)),
            _ => self.out.commit()?,
        }
        patzer_io::write(&companion, line(&hash, &name_of(&self.path)).as_bytes())
    }
}

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        if let Some(hash) = &mut self.hash {
            hash.take(&bytes[..written])?;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The name of a file's companion.
pub fn companion_of(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".sha256");
    name.into()
}

/// Checks a file against its companion; false if it has none.
pub fn verify(path: &Path) -> Result<bool> {
    let companion = companion_of(path);
    if path == Path::new("-") || patzer_io::is_stream(path) || !companion.is_file() {
        return Ok(false);
    }
    let text = patzer_io::read_text(&companion)?;
    let expected = hash_in(&text, &name_of(path)).ok_or_else(|| {
        Error::data(
            &companion,
            "has no line of sha256sum for its file: 64 hexadecimal digits, two spaces, its name",
        )
    })?;
    if hash_of(path)?.eq_ignore_ascii_case(expected) {
        return Ok(true);
    }
    let reason = format!("is damaged or was changed: its SHA-256 is not that of {}", companion.display());
    Err(Error::data(path, reason))
}

fn hash_of(path: &Path) -> Result<String> {
    let (mut file, mut hash, mut block) = (patzer_io::raw(path)?, Sha256::new(), vec![0; BLOCK]);
    loop {
        match file.read(&mut block) {
            Ok(0) => return Ok(hex(hash)),
            Ok(read) => hash.update(&block[..read]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(Error::io(path, e)),
        }
    }
}

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A line of sha256sum.
fn line(hash: &str, name: &str) -> String {
    let escaped = escaped(name);
    let mark = if escaped == name { "" } else { r"\" };
    format!("{mark}{hash}  {escaped}\n")
}

/// A name as sha256sum escapes it; a backslash before the hash then marks the line.
fn escaped(name: &str) -> String {
    name.replace('\\', r"\\").replace('\n', r"\n").replace('\r', r"\r")
}

/// The hash of the line that names the file, or of the only line, which outlives a renaming.
fn hash_in<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let parts = |line: &'a str| {
        let (hash, name) = line.strip_prefix('\\').unwrap_or(line).split_once([' ', '\t'])?;
        let sound = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        sound.then_some((hash, name.trim_start_matches([' ', '*'])))
    };
    let lines: Vec<_> = text.lines().filter(|line| !line.is_empty()).map(parts).collect::<Option<_>>()?;
    let named = lines.iter().find(|(_, found)| *found == escaped(name));
    named.or(lines.first().filter(|_| lines.len() == 1)).map(|(hash, _)| *hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SHA-256 of nothing, by sha256sum.
    const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn a_companion_is_a_line_of_sha256sum() {
        let folder = tempfile::tempdir().unwrap();
        // As coreutils write them.
        for (name, expected) in [
            ("x y.bullet", format!("{EMPTY}  x y.bullet\n")),
            ("a\\b\nc.viri", format!("\\{EMPTY}  a\\\\b\\nc.viri\n")),
        ] {
            let path = folder.path().join(name);
            Hashed::create(&path).unwrap().commit().unwrap();
            assert_eq!(std::fs::read_to_string(companion_of(&path)).unwrap(), expected);
            assert!(verify(&path).unwrap());
        }
    }

    #[test]
    fn a_changed_file_is_an_error_and_a_renamed_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let [path, renamed] = ["x.bullet", "y.bullet"].map(|name| folder.path().join(name));
        // More than one block.
        let mut bytes = b"patzer ".repeat(BLOCK / 3);
        let mut out = Hashed::create(&path).unwrap();
        bytes.chunks(1000).for_each(|some| out.write_all(some).unwrap());
        out.commit().unwrap();
        assert!(verify(&path).unwrap());
        std::fs::rename(&path, &renamed).unwrap();
        assert!(!verify(&renamed).unwrap());
        std::fs::rename(companion_of(&path), companion_of(&renamed)).unwrap();
        assert!(verify(&renamed).unwrap());
        bytes[BLOCK + 77] ^= 1;
        std::fs::write(&renamed, &bytes).unwrap();
        assert!(verify(&renamed).is_err_and(|error| error.exit_code() == 1));
        std::fs::write(companion_of(&renamed), "rubbish").unwrap();
        assert!(verify(&renamed).is_err_and(|error| error.to_string().contains("y.bullet.sha256")));
    }

    #[test]
    fn of_several_lines_the_one_with_the_name_counts() {
        let other = EMPTY.replace('e', "f");
        let text = format!("{other}  a.bullet\n{EMPTY} *b.bullet\n");
        assert_eq!(hash_in(&text, "b.bullet"), Some(EMPTY));
        assert_eq!(hash_in(&text, "a.bullet"), Some(&*other));
        assert_eq!(hash_in(&text, "c.bullet"), None);
        assert_eq!(hash_in(&text[1..], "b.bullet"), None);
    }
}
