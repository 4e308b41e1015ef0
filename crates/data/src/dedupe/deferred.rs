//! Deduplication when all positions are known, beyond memory.
//!
//! Records go to a file. Their keys are partitioned by their highest bits, so that equal ones meet in one partition,
//! which fits into memory and is sorted. The verdicts go, partitioned by row, to a second set of buckets, by which the
//! file is read once more in its order. Source: partitioning as in the GRACE hash join; Kitsuregawa, Tanaka and
//! Moto-oka (1983).

use std::io;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::spill::Buckets;
use crate::spill_file::SpillFile;
use crate::{MeanResult, Record};
use patzer_formats::bytes::field;
use patzer_formats::dedupe_rule::Keep;
use patzer_formats::spillable::Spillable;
use patzer_io::error::Result;
use patzer_io::interrupt;

/// Partitions of the keys. Memory holds one for each thread, so 256 suffice for 256 times the memory.
const PARTITIONS: usize = 1 << 8;

/// Rows that share a bucket of verdicts.
const ROWS_PER_BUCKET: u64 = 1 << 20;

/// Records that wait in a file for their verdicts.
pub struct Deferred {
    keep: Keep,
    memory: usize,
    folder: PathBuf,
    records: SpillFile,
    entries: Buckets<Entry>,
}

struct Entry {
    key: u128,
    /// Row in the file, from 1; 0 for a record that stayed before any was deferred.
    row: u64,
    /// Rank by depth: 0 without a score, 1 without a depth, else 2 + depth.
    rank: u16,
    mean: MeanResult,
}

/// The fate of a row; a row without a verdict stays as it is.
struct Verdict {
    row: u64,
    /// The merged results, or `None` if the row is dropped.
    mean: Option<MeanResult>,
}

impl Deferred {
    pub fn new(keep: Keep, memory: usize, folder: &Path) -> Result<Deferred> {
        Ok(Deferred {
            keep,
            memory,
            folder: folder.to_path_buf(),
            records: SpillFile::nameless(folder)?,
            entries: Buckets::new(PARTITIONS, memory / 2, folder),
        })
    }

    pub fn seen(&mut self, key: u128) -> Result<()> {
        let mean = MeanResult { count: 0, sum: 0 };
        self.entries.push(partition(key), Entry { key, row: 0, rank: 0, mean })
    }

    pub fn push(&mut self, records: &[Record], keys: &[u128]) -> Result<()> {
        let first = self.records.rows() + 1;
        for ((record, key), row) in records.iter().zip(keys).zip(first..) {
            let rank = record.score.map_or(0, |_| record.depth.map_or(1, |depth| 2 + u16::from(depth)));
            let mean = own_mean(record);
            self.entries.push(partition(*key), Entry { key: *key, row, rank, mean })?;
        }
        self.records.push(records)
    }

    pub fn finish(mut self, mut each: impl FnMut(Vec<Record>) -> Result<()>) -> Result<u64> {
        let buckets = (self.records.rows() / ROWS_PER_BUCKET + 1) as usize;
        let buckets = Buckets::new(buckets, self.memory / 2, &self.folder);
        let mut verdicts = Verdicts { buckets, current: Vec::new().into_iter().peekable(), next_bucket: 0 };
        let all: Vec<usize> = (0..self.entries.count()).collect();
        for some in all.chunks(rayon::current_num_threads()) {
            interrupt::check()?;
            let partitions: Result<Vec<Vec<Entry>>> = some.iter().map(|p| self.entries.take(*p)).collect();
            let judged: Vec<Vec<Verdict>> =
                partitions?.into_par_iter().map(|p| judge(p, self.keep)).collect();
            judged.into_iter().flatten().try_for_each(|verdict| verdicts.push(verdict))?;
        }
        drop(self.entries);
        let (mut row, mut dropped) = (0, 0);
        self.records.replay(|mut records| {
            interrupt::check()?;
            let mut kept = 0;
            for index in 0..records.len() {
                let verdict = verdicts.take(row)?;
                row += 1;
                if verdict.as_ref().is_some_and(|v| v.mean.is_none()) {
                    dropped += 1;
                    continue;
                }
                records[kept] = records[index];
                if self.keep == Keep::Mean {
                    let mean = verdict.and_then(|v| v.mean).unwrap_or_else(|| own_mean(&records[kept]));
                    records[kept].mean = Some(mean);
                }
                kept += 1;
            }
            records.truncate(kept);
            each(records)
        })?;
        Ok(dropped)
    }
}

fn partition(key: u128) -> usize {
    (key >> 120) as usize % PARTITIONS
}

fn own_mean(record: &Record) -> MeanResult {
    record.mean.unwrap_or(MeanResult { count: 1, sum: i32::from(record.result) })
}

fn judge(mut entries: Vec<Entry>, keep: Keep) -> Vec<Verdict> {
    entries.sort_unstable_by_key(|entry| (entry.key, entry.row));
    let mut verdicts = Vec::new();
    for equal in entries.chunk_by(|a, b| a.key == b.key).filter(|equal| equal.len() > 1) {
        let stays = match keep {
            Keep::First | Keep::Mean => 0,
            Keep::Last => equal.len() - 1,
            Keep::Deepest => {
                (1..equal.len()).fold(0, |a, b| if equal[b].rank > equal[a].rank { b } else { a })
            }
        };
        for (index, entry) in equal.iter().enumerate().filter(|(_, entry)| entry.row > 0) {
            let mean = (index == stays).then(|| sum(equal));
            verdicts.push(Verdict { row: entry.row - 1, mean });
        }
    }
    verdicts
}

fn sum(equal: &[Entry]) -> MeanResult {
    equal.iter().fold(MeanResult { count: 0, sum: 0 }, |total, entry| MeanResult {
        count: total.count.saturating_add(entry.mean.count),
        sum: total.sum.saturating_add(entry.mean.sum),
    })
}

struct Verdicts {
    buckets: Buckets<Verdict>,
    current: std::iter::Peekable<std::vec::IntoIter<Verdict>>,
    next_bucket: u64,
}

impl Verdicts {
    fn push(&mut self, verdict: Verdict) -> Result<()> {
        self.buckets.push((verdict.row / ROWS_PER_BUCKET) as usize, verdict)
    }

    /// The verdict on a row; rows have to be consecutive.
    #[inline]
    fn take(&mut self, row: u64) -> Result<Option<Verdict>> {
        if row == self.next_bucket * ROWS_PER_BUCKET {
            let mut verdicts = self.buckets.take(self.next_bucket as usize)?;
            verdicts.sort_unstable_by_key(|verdict| verdict.row);
            self.current = verdicts.into_iter().peekable();
            self.next_bucket += 1;
        }
        Ok(self.current.next_if(|verdict| verdict.row == row))
    }
}

impl Spillable for Entry {
    fn encode(entries: &[Entry]) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(entries.len() * 34);
        for entry in entries {
            bytes.extend(entry.key.to_le_bytes());
            bytes.extend(entry.row.to_le_bytes());
            bytes.extend(entry.rank.to_le_bytes());
            bytes.extend(entry.mean.count.to_le_bytes());
            bytes.extend(entry.mean.sum.to_le_bytes());
        }
        Ok(bytes)
    }

    fn decode(bytes: &[u8], to: &mut Vec<Entry>) -> io::Result<()> {
        to.extend(bytes.chunks_exact(34).map(|b| Entry {
            key: u128::from_le_bytes(field(b, 0)),
            row: u64::from_le_bytes(field(b, 16)),
            rank: u16::from_le_bytes(field(b, 24)),
            mean: MeanResult {
                count: u32::from_le_bytes(field(b, 26)),
                sum: i32::from_le_bytes(field(b, 30)),
            },
        }));
        Ok(())
    }
}

impl Spillable for Verdict {
    fn encode(verdicts: &[Verdict]) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(verdicts.len() * 16);
        for verdict in verdicts {
            let mean = verdict.mean.unwrap_or(MeanResult { count: 0, sum: 0 });
            bytes.extend(verdict.row.to_le_bytes());
            bytes.extend(mean.count.to_le_bytes());
            bytes.extend(mean.sum.to_le_bytes());
        }
        Ok(bytes)
    }

    fn decode(bytes: &[u8], to: &mut Vec<Verdict>) -> io::Result<()> {
        to.extend(bytes.chunks_exact(16).map(|b| {
            let count = u32::from_le_bytes(field(b, 8));
            let mean = MeanResult { count, sum: i32::from_le_bytes(field(b, 12)) };
            Verdict { row: u64::from_le_bytes(field(b, 0)), mean: (count > 0).then_some(mean) }
        }));
        Ok(())
    }
}
