//! Event files of TensorBoard: losses by epoch, as length-delimited records of protocol buffers.
//!
//! A record is the length in 8 bytes, its masked CRC-32C, the bytes, and their masked CRC-32C, all little-endian.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use crate::error::{Error, Result};

/// Scalars of a run by step. Wall times are the steps, so that a run has the same bytes whenever it runs.
#[derive(Debug)]
pub struct Events {
    bytes: Vec<u8>,
    /// Bytes in the file; 0 before it is written.
    saved: usize,
}

impl Default for Events {
    fn default() -> Events {
        let mut events = Events { bytes: Vec::new(), saved: 0 };
        let mut version = event(0);
        text(&mut version, 3, b"brain.Event:2");
        events.record(&version);
        events
    }
}

impl Events {
    /// Name of the file, which TensorBoard knows by its second and third word.
    pub const FILE: &str = "events.out.tfevents.0.patzer";

    /// Adds the scalars of a step.
    pub fn scalars(&mut self, step: u64, scalars: &[(&str, f64)]) {
        let mut event = event(step);
        let mut summary = Vec::new();
        for (tag, scalar) in scalars {
            let mut value = Vec::new();
            text(&mut value, 1, tag.as_bytes());
            // Field 2, 32 bits.
            value.push(2 << 3 | 5);
            value.extend((*scalar as f32).to_le_bytes());
            text(&mut summary, 1, &value);
        }
        text(&mut event, 5, &summary);
        self.record(&event);
    }

    /// Writes the events to a folder: at first the whole file, then what is new at its end, since TensorBoard reads on
    /// in an open file.
    pub fn save(&mut self, folder: &Path) -> Result<()> {
        let path = folder.join(Self::FILE);
        if self.saved == 0 || !path.exists() {
            crate::write(&path, &self.bytes)?;
        } else {
            let append = || OpenOptions::new().append(true).open(&path)?.write_all(&self.bytes[self.saved..]);
            append().map_err(|error| Error::io(&path, error))?;
        }
        self.saved = self.bytes.len();
        Ok(())
    }

    fn record(&mut self, event: &[u8]) {
        let length = (event.len() as u64).to_le_bytes();
        for part in [&length[..], event] {
            self.bytes.extend(part);
            self.bytes.extend(masked(crc32c(part)).to_le_bytes());
        }
    }
}

/// An event with wall time and step.
fn event(step: u64) -> Vec<u8> {
    // Field 1, 64 bits, and field 2, a varint.
    let mut bytes = vec![1 << 3 | 1];
    bytes.extend((step as f64).to_le_bytes());
    bytes.push(2 << 3);
    varint(&mut bytes, step);
    bytes
}

/// Appends a field of bytes.
fn text(bytes: &mut Vec<u8>, field: u8, content: &[u8]) {
    bytes.push(field << 3 | 2);
    varint(bytes, content.len() as u64);
    bytes.extend(content);
}

fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value > 0x7f {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// CRC-32C, bit by bit: a run has a few kilobytes.
fn crc32c(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 > 0 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}

/// The mask of TensorFlow's record files.
fn masked(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(0xa282_ead8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_have_lengths_and_checksums() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        let mut events = Events::default();
        events.scalars(300, &[("loss/train", 0.5)]);
        let folder = tempfile::tempdir().unwrap();
        events.save(folder.path()).unwrap();
        events.scalars(301, &[("loss/train", 0.25), ("loss/validation", 0.5)]);
        events.save(folder.path()).unwrap();
        let file = std::fs::read(folder.path().join(Events::FILE)).unwrap();
        assert_eq!(file, events.bytes);
        let (mut rest, mut records) = (&file[..], Vec::new());
        while let Some((length, after)) = rest.split_first_chunk::<8>() {
            let size = u64::from_le_bytes(*length) as usize;
            let (sums, after) = after.split_at(4);
            assert_eq!(sums, masked(crc32c(length)).to_le_bytes());
            let (event, after) = after.split_at(size);
            let (sums, after) = after.split_at(4);
            assert_eq!(sums, masked(crc32c(event)).to_le_bytes());
            records.push(event);
            rest = after;
        }
        assert!(rest.is_empty() && records[0].ends_with(b"brain.Event:2") && records.len() == 3);
        let value = [&b"\x0a\x0aloss/train\x15"[..], &0.5f32.to_le_bytes()].concat();
        let summary = [&[0x0a, value.len() as u8][..], &value].concat();
        let step = [&[9][..], &300f64.to_le_bytes(), &[0x10, 0xac, 0x02]].concat();
        assert_eq!(records[1], [&step[..], &[0x2a, summary.len() as u8], &summary].concat());
    }
}
