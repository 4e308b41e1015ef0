//! Removal of equal positions.
//!
//! Where the first of equal positions stays, each is judged as it comes for as long as the keys fit into memory.
//! Otherwise, and for every other choice, records and keys are written to files and judged at the end (`deferred`).
//! Both ways give the same result.

mod deferred;

use std::path::{Path, PathBuf};

use super::Record;
use super::key_set::KeySet;
use deferred::Deferred;
pub use patzer_formats::dedupe_rule::{Dedupe, Keep};
use patzer_io::error::Result;

/// Drops equal positions from records that come in order.
pub struct Deduper {
    how: Dedupe,
    memory: usize,
    folder: PathBuf,
    state: State,
}

enum State {
    Seen(KeySet),
    /// All records from a certain one on, which wait in files.
    Deferred(Box<Deferred>),
}

impl Deduper {
    /// A deduper that uses about `memory` bytes, and temporary files in `folder` beyond.
    pub fn new(how: Dedupe, memory: usize, folder: &Path) -> Result<Deduper> {
        let state = match how.keep {
            Keep::First => State::Seen(KeySet::new()),
            _ => State::Deferred(Box::new(Deferred::new(how.keep, memory, folder)?)),
        };
        Ok(Deduper { how, memory, folder: folder.to_path_buf(), state })
    }

    /// Takes the next records with their keys and keeps in `records` those that surely stay. Returns the number surely
    /// dropped.
    pub fn take(&mut self, records: &mut Vec<Record>, keys: &[u128]) -> Result<u64> {
        if let State::Seen(seen) = &mut self.state
            && seen.bytes_with(records.len()) > self.memory / 2
        {
            let mut deferred = Box::new(Deferred::new(self.how.keep, self.memory, &self.folder)?);
            std::mem::take(seen).iter().try_for_each(|key| deferred.seen(key))?;
            self.state = State::Deferred(deferred);
        }
        match &mut self.state {
            State::Seen(seen) => {
                let mut new = Vec::with_capacity(records.len());
                seen.insert_all(keys, |is_new| new.push(is_new));
                let (before, mut new) = (records.len(), new.into_iter());
                records.retain(|_| new.next().unwrap_or(true));
                Ok((before - records.len()) as u64)
            }
            State::Deferred(deferred) => {
                deferred.push(records, keys)?;
                records.clear();
                Ok(0)
            }
        }
    }

    pub fn finish(self, each: impl FnMut(Vec<Record>) -> Result<()>) -> Result<u64> {
        match self.state {
            State::Seen(_) => Ok(0),
            State::Deferred(deferred) => deferred.finish(each),
        }
    }
}
