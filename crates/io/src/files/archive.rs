//! Archives: recognised, so that the error says how to unpack what is not unpacked here.

use std::path::Path;

use crate::error::Error;

/// What begins so, and the command that writes its content to standard output.
const ARCHIVES: &[(usize, &[u8], &str, &str)] = &[
    (0, b"PK\x03\x04", "a ZIP archive", "unzip -p"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive", "7z x -so"),
    (0, b"Rar!\x1a\x07", "a RAR archive", "unrar p -inul"),
    (0, b"\xfd7zXZ\0", "compressed by xz", "xz -dc"),
    (0, b"\x04\x22\x4d\x18", "compressed by LZ4", "lz4 -dc"),
    (257, b"ustar", "a tar archive", "tar -xOf"),
];

/// The error of a file with these first decompressed bytes, if it is an archive or of an unknown compression.
pub fn archive(path: &Path, head: &[u8]) -> Option<Error> {
    let begins = |at: usize, magic: &[u8]| head.get(at..).is_some_and(|rest| rest.starts_with(magic));
    let (.., what, command) = ARCHIVES.iter().find(|(at, magic, ..)| begins(*at, magic))?;
    Some(Error::data(
        path,
        format!("is {what}; unpack it first, or pass it on: `{command} FILE | patzer … -`"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_named_with_the_command_that_unpacks_it() {
        let reason = |head: &[u8]| archive(Path::new("a"), head).map(|error| error.to_string());
        let zip = reason(b"PK\x03\x04\x14\0").unwrap();
        assert_eq!(zip, "a: is a ZIP archive; unpack it first, or pass it on: `unzip -p FILE | patzer … -`");
        let mut tar = [0; 512];
        tar[..5].copy_from_slice(b"a.pgn");
        tar[257..262].copy_from_slice(b"ustar");
        assert!(reason(&tar).unwrap().contains("tar -xOf"));
        for head in [&b"[Event \"a\"]"[..], b"PAR1", b"P", b"", &[0; 300]] {
            assert_eq!(reason(head), None);
        }
    }
}
