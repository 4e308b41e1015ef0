//! Archives: recognised, so that the error says how to unpack what is not unpacked here.

use std::path::Path;

use crate::error::Error;

/// A kind of file that is not unpacked here.
struct Archive {
    /// First bytes, from an offset.
    magic: (usize, &'static [u8]),
    endings: &'static [&'static str],
    what: &'static str,
    /// Writes the content to standard output.
    command: &'static str,
}

const ARCHIVES: &[Archive] = &[
    Archive { magic: (0, b"PK\x03\x04"), endings: &[".zip"], what: "a ZIP archive", command: "unzip -p" },
    Archive {
        magic: (0, b"7z\xbc\xaf\x27\x1c"),
        endings: &[".7z"],
        what: "a 7z archive",
        command: "7z x -so",
    },
    Archive {
        magic: (0, b"Rar!\x1a\x07"),
        endings: &[".rar"],
        what: "a RAR archive",
        command: "unrar p -inul",
    },
    Archive { magic: (0, b"\xfd7zXZ\0"), endings: &[".xz"], what: "compressed by xz", command: "xz -dc" },
    Archive {
        magic: (0, b"\x04\x22\x4d\x18"),
        endings: &[".lz4"],
        what: "compressed by LZ4",
        command: "lz4 -dc",
    },
    Archive {
        magic: (257, b"ustar"),
        endings: &[".tar", ".tar.gz", ".tgz", ".tar.bz2"],
        what: "a tar archive",
        command: "tar -xOf",
    },
];

/// Tests whether a name in lower case has the ending of an archive or of an unknown compression.
pub fn has_archive_ending(name: &str) -> bool {
    ARCHIVES.iter().flat_map(|archive| archive.endings).any(|ending| name.ends_with(ending))
}

/// The error of a file with these first decompressed bytes, if it is an archive or of an unknown compression.
pub fn archive(path: &Path, head: &[u8]) -> Option<Error> {
    let begins = |(at, magic): (usize, &[u8])| head.get(at..).is_some_and(|rest| rest.starts_with(magic));
    let Archive { what, command, .. } = ARCHIVES.iter().find(|archive| begins(archive.magic))?;
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
