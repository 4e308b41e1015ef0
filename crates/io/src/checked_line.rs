//! Lines of JSON objects whose last member is a checksum of the text before it, for the journals of resumable runs.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde::Serialize;

use crate::error::{Error, Result};

const CHECK: &[u8] = b",\"check\":\"";
/// Length of `,"check":"0123456789abcdef"}`.
const SEAL: usize = CHECK.len() + 16 + 2;

/// First 16 hexadecimal digits of the SHA-256.
pub fn checksum(text: &[u8]) -> String {
    let mut digest = crate::sha256(text);
    digest.truncate(16);
    digest
}

/// Bytes of a first line at most.
const LONGEST_START: u64 = 64 << 20;

/// Reads a journal's first line with its end, as far as it is written.
pub fn first_line(path: &Path) -> Result<Vec<u8>> {
    let (mut line, text) = (Vec::new(), crate::raw(path)?.take(LONGEST_START));
    BufReader::new(text).read_until(b'\n', &mut line).map_err(|e| Error::io(path, e))?;
    match line.len() as u64 {
        LONGEST_START => Err(Error::at(path, "line 1", "is longer than 64 MiB")),
        _ => Ok(line),
    }
}

/// Serialises a value, which has members, as a line with its checksum.
///
/// # Errors
/// The value has no form in JSON.
pub fn write(value: &impl Serialize) -> Result<Vec<u8>> {
    let mut text = serde_json::to_vec(value).map_err(|e| Error::internal(e.to_string()))?;
    text.pop();
    Ok(seal(text))
}

/// Completes an object without its closing brace to a line with its checksum.
pub fn seal(mut text: Vec<u8>) -> Vec<u8> {
    let check = checksum(&text);
    text.extend_from_slice(CHECK);
    text.extend_from_slice(check.as_bytes());
    text.extend_from_slice(b"\"}\n");
    text
}

/// Compares a line, without its end, with its checksum; `needed` tells whether a line without one is damaged.
pub fn is_intact(line: &[u8], needed: bool) -> bool {
    let Some(at) = line.len().checked_sub(SEAL).filter(|&at| line[at..].starts_with(CHECK)) else {
        return !needed;
    };
    let digest = &line[at + CHECK.len()..];
    digest.strip_suffix(b"\"}") == Some(checksum(&line[..at]).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_of_a_line_is_noticed() {
        let line = write(&serde_json::json!({ "games": 1852, "name": "x" })).unwrap();
        let (end, line) = line.split_last().unwrap();
        assert_eq!(*end, b'\n');
        assert!(is_intact(line, true));
        serde_json::from_slice::<serde_json::Value>(line).unwrap();
        for bit in 0..8 * line.len() {
            let mut flipped = line.to_vec();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(!is_intact(&flipped, true), "bit {bit}");
        }
        assert!(is_intact(b"{\"games\":1}", false));
    }
}
