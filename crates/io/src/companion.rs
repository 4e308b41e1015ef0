//! Companion lines: the SHA-256 of a file that has no checksum of its own, in `NAME.sha256` beside it as `sha256sum`
//! writes and checks it.

use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::companion_path::companion_path;
use crate::error::{Error, Result};
use crate::files::{is_stream, raw, write};

/// The most bytes of a companion that are read: a digest and any file name.
const LIMIT: u64 = 1 << 14;

fn has_none(path: &Path) -> bool {
    path == Path::new("-") || path.file_name().is_none() || is_stream(path)
}

/// The hexadecimal SHA-256 of bytes.
pub fn sha256(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

/// Records the digest of a finished file beside it; standard output and devices get none.
pub fn write_companion(path: &Path, sha256_hex: &str) -> Result<()> {
    let Some(name) = path.file_name().filter(|_| !has_none(path)) else { return Ok(()) };
    // A leading backslash says that the name is escaped.
    let name = name.as_encoded_bytes();
    let escaped = escape(name);
    let mark: &[u8] = if escaped == name { b"" } else { b"\\" };
    write(&companion_path(path), &[mark, sha256_hex.as_bytes(), b"  ", &escaped, b"\n"].concat())
}

/// Writes a whole file atomically, and its companion.
pub fn write_with_companion(path: &Path, bytes: &[u8]) -> Result<()> {
    write(path, bytes)?;
    write_companion(path, &sha256(bytes))
}

/// Reads the digest that the companion of a file records, in lowercase; `None` without a companion.
///
/// Of several lines, the one with the file's name counts; the only line counts under any name, since it outlives a
/// renaming.
///
/// # Errors
/// The companion has no such line.
pub fn companion(path: &Path) -> Result<Option<String>> {
    let beside = companion_path(path);
    if has_none(path) || !beside.is_file() {
        return Ok(None);
    }
    let mut text = Vec::new();
    raw(&beside)?.take(LIMIT).read_to_end(&mut text).map_err(|e| Error::io(&beside, e))?;
    let own = escape(path.file_name().unwrap_or_default().as_encoded_bytes());
    let lines = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).map(parse);
    let lines = lines.collect::<Option<Vec<_>>>().unwrap_or_default();
    let named = lines.iter().find(|(_, name)| *name == own);
    let Some((digest, _)) = named.or(lines.first().filter(|_| lines.len() == 1)) else {
        let reason = "has no line of sha256sum for its file: 64 hexadecimal digits, two spaces, its name";
        return Err(Error::data(&beside, reason));
    };
    Ok(Some(String::from_utf8_lossy(digest).to_ascii_lowercase()))
}

/// Splits a line of sha256sum into digest and escaped name; an asterisk before the name marks its binary mode.
fn parse(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let line = line.strip_prefix(b"\\").unwrap_or(line);
    let (digest, name) = line.split_at_checked(64)?;
    let name = match name {
        [] => name,
        [b' ', b' ' | b'*', name @ ..] => name,
        _ => return None,
    };
    digest.iter().all(u8::is_ascii_hexdigit).then_some((digest, name))
}

/// Compares a file with its companion: true if they agree, false without a companion.
///
/// # Errors
/// They differ, or one of them cannot be read.
pub fn verify_companion(path: &Path) -> Result<bool> {
    let Some(recorded) = companion(path)? else { return Ok(false) };
    let mut hash = Sha256::new();
    std::io::copy(&mut raw(path)?, &mut hash).map_err(|e| Error::io(path, e))?;
    if format!("{:x}", hash.finalize()) == recorded {
        return Ok(true);
    }
    let name = companion_path(path);
    let name = name.file_name().unwrap_or_default().display();
    Err(Error::data(
        path,
        format!("is damaged, or is not the file that {name} was written for: their SHA-256 differ"),
    ))
}

fn escape(name: &[u8]) -> Vec<u8> {
    let mut escaped = Vec::with_capacity(name.len());
    for &byte in name {
        match byte {
            b'\\' => escaped.extend(br"\\"),
            b'\n' => escaped.extend(br"\n"),
            b'\r' => escaped.extend(br"\r"),
            byte => escaped.push(byte),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_companion_comes_back_and_tells_a_damaged_file() {
        let folder = tempfile::tempdir().unwrap();
        let names: &[&str] = if cfg!(unix) { &["raw.bin", "a\nb\\c"] } else { &["raw.bin"] };
        for name in names {
            let path = folder.path().join(name);
            std::fs::write(&path, b"weights").unwrap();
            assert!(!verify_companion(&path).unwrap());
            write_companion(&path, &sha256(b"weights")).unwrap();
            assert_eq!(companion(&path).unwrap().unwrap(), sha256(b"weights"));
            assert!(verify_companion(&path).unwrap());
            std::fs::write(&path, b"weighus").unwrap();
            let error = verify_companion(&path).unwrap_err().to_string();
            assert!(error.contains("SHA-256 differ"), "{error}");
            write_with_companion(&path, b"others").unwrap();
            assert!(verify_companion(&path).unwrap());
            write(&path, b"others again").unwrap();
            assert_eq!(companion(&path).unwrap(), None);
        }
        let known = "9a129038d9a00aed0cf6a7ea059ca50a813449061ab87848cf1a13eafdf33b2c";
        assert_eq!(sha256(b"weights"), known, "what `printf weights | sha256sum` prints");
    }

    #[test]
    fn a_companion_of_sha256sum_is_read_and_rubbish_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("raw.bin");
        let digest = sha256(b"");
        let read = |text: &str| {
            std::fs::write(folder.path().join("raw.bin.sha256"), text).unwrap();
            companion(&path)
        };
        let (upper, other) = (digest.to_uppercase(), digest.replace('e', "f"));
        for good in [
            format!("{digest}  raw.bin\n"),
            format!("{digest} *raw.bin\r\n"),
            format!("{digest}  named-before.bin\n"),
            format!("{other}  a.bin\n{digest}  raw.bin\n"),
            format!("{upper}\n"),
        ] {
            assert_eq!(read(&good).unwrap().as_ref(), Some(&digest), "{good}");
        }
        let others = format!("{digest}  a.bin\n{digest}  b.bin\n");
        for bad in ["", "\n", &digest[1..], &format!("{digest}raw.bin"), &others] {
            let error = read(bad).unwrap_err();
            assert_eq!(error.exit_code(), 1);
            assert!(error.to_string().contains("raw.bin.sha256"), "{bad}: {error}");
        }
    }
}
