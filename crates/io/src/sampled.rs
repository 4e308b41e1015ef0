//! A digest of a file that costs the same however large the file is.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use sha2::{Digest, Sha256};

const BLOCKS: u64 = 64;
const BLOCK: u64 = 1 << 12;

/// Hexadecimal SHA-256 of a file's length and of 64 blocks of 4 KiB spread evenly over it, first and last included;
/// none for what is no regular file.
pub fn sampled_digest(path: &Path) -> io::Result<Option<String>> {
    let about = std::fs::metadata(path)?;
    if !about.is_file() {
        return Ok(None);
    }
    let (length, mut file) = (about.len(), File::open(path)?);
    let mut hash = Sha256::new();
    hash.update(length.to_le_bytes());
    let mut block = Vec::new();
    let last = length.saturating_sub(BLOCK);
    for number in 0..BLOCKS {
        let at = u128::from(last) * u128::from(number) / u128::from(BLOCKS - 1);
        file.seek(SeekFrom::Start(at as u64))?;
        block.clear();
        file.by_ref().take(BLOCK).read_to_end(&mut block)?;
        hash.update(&block);
    }
    Ok(Some(format!("{:x}", hash.finalize())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_sees_length_beginning_middle_and_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bullet");
        let digest = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            sampled_digest(&path).unwrap().unwrap()
        };
        let plain = vec![7; 1 << 20];
        let first = digest(&plain);
        assert_eq!(digest(&plain), first);
        let changed = |at: usize, bytes: usize| {
            let mut other = plain.clone();
            other[at..at + bytes].fill(8);
            other
        };
        for (at, bytes) in [(0, 1), ((1 << 20) - 1, 1), (500_000, 20_000)] {
            assert_ne!(digest(&changed(at, bytes)), first, "{at}");
        }
        assert_ne!(digest(&plain[1..]), first);
        for short in [&b""[..], b"x", b"y"] {
            assert_eq!(digest(short).len(), 64);
        }
        assert_eq!(sampled_digest(folder.path()).unwrap(), None);
    }
}
