//! Exact count of duplicates in bounded memory.
//!
//! Keys take 16 bytes. If they do not fit into memory, their own bits divide them into shares, and the files are read
//! once for each share.

use std::path::PathBuf;

use rayon::prelude::*;

use crate::Record;
use patzer_formats::ReadOptions;
use patzer_formats::row_groups::{RowGroup, RowGroups};
use patzer_io::error::Result;

const LISTS: usize = 256;

/// Bytes of memory for a key: lists double as they grow.
const KEY: u64 = 32;

#[derive(Debug, Clone, Copy)]
pub struct KeyShare {
    index: u64,
    of: u64,
}

impl KeyShare {
    #[inline]
    pub fn has(self, key: u128) -> bool {
        self.of == 1 || (key as u64) % self.of == self.index
    }
}

pub struct DuplicateCounter<'a> {
    files: &'a [PathBuf],
    options: &'a ReadOptions,
    memory: u64,
    share: KeyShare,
    lists: Vec<Vec<u128>>,
    held: u64,
    rows: Option<u64>,
}

impl<'a> DuplicateCounter<'a> {
    pub fn new(
        files: &'a [PathBuf],
        options: &'a ReadOptions,
        memory: usize,
    ) -> Result<DuplicateCounter<'a>> {
        // A stream cannot be read twice, so all its keys have to fit.
        let once = files.iter().any(|file| file.as_os_str() == "-" || patzer_io::is_stream(file));
        let rows: Option<u64> = match once {
            true => None,
            false => files
                .iter()
                .map(|file| RowGroups::open(file, options).map(|parts| parts.rows()))
                .sum::<Result<_>>()?,
        };
        let memory = if once { u64::MAX } else { memory as u64 };
        let of = rows.map_or(1, |rows| (rows * KEY).div_ceil(memory).max(1));
        let share = KeyShare { index: 0, of };
        Ok(DuplicateCounter { files, options, memory, share, lists: vec![Vec::new(); LISTS], held: 0, rows })
    }

    pub fn share(&self) -> KeyShare {
        self.share
    }

    pub fn take(&mut self, keys: Vec<u128>) {
        let share = self.share;
        for key in keys.into_iter().filter(|key| share.has(*key)) {
            self.held += 1;
            self.lists[(key >> 120) as usize].push(key);
        }
        // More keys than expected: halve the share; later passes read the other shares.
        while self.rows.is_none() && self.held * KEY > self.memory {
            self.share = KeyShare { index: 0, of: self.share.of * 2 };
            let share = self.share;
            self.lists.par_iter_mut().for_each(|list| {
                list.retain(|key| share.has(*key));
                list.shrink_to_fit();
            });
            self.held = self.lists.iter().map(|list| list.len() as u64).sum();
        }
    }

    /// Counts the collected share, then reads the files again for each other share.
    pub fn finish(mut self, progress: &(dyn Fn(u64) + Sync)) -> Result<u64> {
        let mut duplicates = self.count();
        for index in 1..self.share.of {
            let share = KeyShare { index, of: self.share.of };
            for file in self.files {
                let work = |group: RowGroup<'_>| -> Result<Vec<u128>> {
                    let records = group.records?;
                    progress(records.len() as u64);
                    Ok(records.iter().map(Record::key).filter(|key| share.has(*key)).collect())
                };
                RowGroups::open(file, self.options)?.scan(0, work, |keys| {
                    for key in keys? {
                        self.lists[(key >> 120) as usize].push(key);
                    }
                    Ok(())
                })?;
            }
            duplicates += self.count();
        }
        Ok(duplicates)
    }

    fn count(&mut self) -> u64 {
        let one = |list: &mut Vec<u128>| {
            list.sort_unstable();
            let equal = list.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64;
            list.clear();
            equal
        };
        self.lists.par_iter_mut().map(one).sum()
    }
}
