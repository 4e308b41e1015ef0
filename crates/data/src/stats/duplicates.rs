//! How many positions are equal to an earlier one, exactly, in bounded memory.
//!
//! In: the keys of all positions, 16 bytes each. Out: how many of them came before. If they do not fit into memory,
//! they are divided by their own bits into shares, and the files are read once for each share.

use std::path::PathBuf;

use rayon::prelude::*;

use crate::Record;
use crate::format::registry::Format;
use crate::row_groups::{RowGroup, RowGroups};
use patzer_io::error::Result;

/// DuplicateCounter are sorted in this many lists, by their highest bits, each on its own thread.
const LISTS: usize = 256;

/// Bytes of memory that a key may take: lists double as they grow.
const KEY: u64 = 32;

/// Some of all keys, chosen by the keys themselves.
#[derive(Debug, Clone, Copy)]
pub struct KeyShare {
    index: u64,
    of: u64,
}

impl KeyShare {
    /// Whether a key belongs to it.
    #[inline]
    pub fn has(self, key: u128) -> bool {
        self.of == 1 || (key as u64) % self.of == self.index
    }
}

/// Collects keys and counts those that came before.
pub struct DuplicateCounter<'a> {
    files: &'a [PathBuf],
    format: Option<&'static Format>,
    memory: u64,
    share: KeyShare,
    lists: Vec<Vec<u128>>,
    held: u64,
    /// DuplicateCounter seen, of all shares.
    rows: Option<u64>,
}

impl<'a> DuplicateCounter<'a> {
    /// For these files, with so much memory.
    ///
    /// # Errors
    /// If a file cannot be opened.
    pub fn new(files: &'a [PathBuf], format: Option<&'static Format>, memory: usize) -> Result<DuplicateCounter<'a>> {
        // Standard input cannot be read twice, and has to be held whole.
        let once = files.iter().any(|file| file.as_os_str() == "-");
        let rows: Option<u64> = match once {
            true => None,
            false => files
                .iter()
                .map(|file| RowGroups::open(file, format).map(|parts| parts.rows()))
                .sum::<Result<_>>()?,
        };
        let memory = if once { u64::MAX } else { memory as u64 };
        let of = rows.map_or(1, |rows| (rows * KEY).div_ceil(memory).max(1));
        let share = KeyShare { index: 0, of };
        Ok(DuplicateCounter { files, format, memory, share, lists: vec![Vec::new(); LISTS], held: 0, rows })
    }

    /// The share that is being collected.
    pub fn share(&self) -> KeyShare {
        self.share
    }

    /// Takes keys of the share, in any order.
    pub fn take(&mut self, keys: Vec<u128>) {
        let share = self.share;
        for key in keys.into_iter().filter(|key| share.has(*key)) {
            self.held += 1;
            self.lists[(key >> 120) as usize].push(key);
        }
        // More came than was known of before: go on with a smaller share, to be read again from the start.
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

    /// GameCounts what was collected and, if that was a share, the other shares too.
    ///
    /// # Errors
    /// If a file cannot be read again.
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
                RowGroups::open(file, self.format)?.scan(0, work, |keys| {
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

    /// How many of the collected keys are equal to another, but one of each; empties the lists.
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
