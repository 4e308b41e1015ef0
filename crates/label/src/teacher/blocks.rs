//! Consecutive positions of a dataset in blocks of a fixed length.

use std::ops::Range;

use patzer_data::{AnyReader, DataFile, Record};
use patzer_io::Shard;
use patzer_io::error::{Error, Result};
use shakmaty::Chess;

/// Division of a dataset into blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// Positions of a block; the last may have fewer.
    pub size: usize,
    /// The blocks to label.
    pub blocks: Range<u64>,
    /// The positions of these blocks.
    pub positions: u64,
}

impl Cut {
    /// Cuts a dataset of this many positions; a shard has whole blocks.
    pub fn new(rows: u64, size: usize, shard: Option<Shard>) -> Cut {
        let (all, step) = (rows.div_ceil(size as u64), size as u64);
        let blocks = match shard {
            None => 0..all,
            Some(Shard { index, of }) => {
                let bound = |i: u32| (u128::from(all) * u128::from(i) / u128::from(of)) as u64;
                bound(index)..bound(index + 1)
            }
        };
        let positions = (blocks.end * step).min(rows).saturating_sub(blocks.start * step);
        Cut { size, blocks, positions }
    }
}

/// Returns the number of positions, which a file that does not state it is read for.
pub fn rows(data: DataFile<'_>) -> Result<u64> {
    let mut data = data.open()?;
    if let Some(rows) = data.rows() {
        return Ok(rows);
    }
    let (mut rows, mut records) = (0, Vec::new());
    while data.next_batch(&mut records)? {
        rows += records.len() as u64;
    }
    Ok(rows)
}

/// Reads the blocks of a cut in order.
pub struct Blocks {
    data: AnyReader,
    batch: Vec<Record>,
    at: usize,
    size: usize,
    next: u64,
    blocks: Range<u64>,
}

impl Blocks {
    pub fn open(data: DataFile<'_>, cut: &Cut) -> Result<Blocks> {
        let data = data.open()?;
        let (size, blocks) = (cut.size, cut.blocks.clone());
        Ok(Blocks { data, batch: Vec::new(), at: 0, size, next: 0, blocks })
    }

    /// Replaces `records` by the next block and returns its number; `None` at the end.
    pub fn next(&mut self, records: &mut Vec<Record>) -> Result<Option<u64>> {
        while self.next < self.blocks.end {
            records.clear();
            while records.len() < self.size {
                if self.at == self.batch.len() {
                    self.at = 0;
                    if !self.data.next_batch(&mut self.batch)? {
                        self.batch.clear();
                        break;
                    }
                }
                let more = &self.batch[self.at..];
                let more = &more[..more.len().min(self.size - records.len())];
                records.extend_from_slice(more);
                self.at += more.len();
            }
            if records.is_empty() {
                break;
            }
            self.next += 1;
            if self.next > self.blocks.start {
                return Ok(Some(self.next - 1));
            }
        }
        Ok(None)
    }
}

/// The position of a record.
pub fn legal(record: &Record) -> Result<Chess> {
    record.position().ok_or_else(|| not_legal(record))
}

pub fn not_legal(record: &Record) -> Error {
    let place = format!("game {}, ply {}", record.game, record.ply);
    Error::input(format!("{place}: the dataset's record is not a legal position"))
}

/// CRC-32 of what a teacher sees of the positions.
pub fn checksum(records: &[Record]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    for record in records {
        let [low, high] = record.fullmove.to_le_bytes();
        hasher.update(&record.board.0);
        hasher.update(&[record.turn.is_black().into(), record.ep, record.halfmove, low, high]);
    }
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_whole_blocks_and_together_the_whole() {
        for (rows, size, of) in [(1000, 64, 3), (64, 64, 5), (65, 64, 2), (0, 8, 2), (7, 1, 4)] {
            let whole = Cut::new(rows, size, None);
            assert_eq!(whole.positions, rows);
            let (mut next, mut positions) = (0, 0);
            for index in 0..of {
                let cut = Cut::new(rows, size, Some(Shard { index, of }));
                assert_eq!(cut.blocks.start, next, "{rows} {size} {of}");
                next = cut.blocks.end;
                positions += cut.positions;
            }
            assert_eq!((next, positions), (whole.blocks.end, rows), "{rows} {size} {of}");
        }
    }
}
