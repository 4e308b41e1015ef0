//! Removal of equal positions: which of them stays, exactly, in memory or beyond it.
//!
//! In: records in order, with their keys. Out: those that stay, in the same order, and how many do not. If the first
//! of equal positions stays, each is judged as it comes, for as long as the keys fit into memory. Otherwise, and for
//! every other choice, records and keys are put aside and judged at the end ([`deferred`]). Both ways give the same.

mod deferred;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Record;
use super::key_set::KeySet;
use deferred::Deferred;
use patzer_io::error::Result;

/// Which of equal positions stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Keep {
    /// The first in the order of the input
    #[default]
    First,
    /// The last in the order of the input
    Last,
    /// The one whose score was searched deepest, and the first of several
    Deepest,
    /// The first, with the mean of the results of all
    Mean,
}

/// How equal positions are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Dedupe {
    /// Which of equal positions stays.
    pub keep: Keep,
    /// Whether positions that are each other's mirror image, left and right exchanged, are equal too. With castling
    /// rights they never are.
    pub mirror: bool,
}

impl Dedupe {
    /// The key by which a position is equal to others.
    #[inline]
    pub fn key(self, record: &Record) -> u128 {
        if self.mirror { record.key_or_mirrored() } else { record.key() }
    }
}

/// Drops equal positions from records that come in order.
pub struct Deduper {
    how: Dedupe,
    memory: usize,
    folder: PathBuf,
    state: State,
}

enum State {
    /// The keys so far.
    Seen(KeySet),
    /// Everything from some record on.
    Deferred(Box<Deferred>),
}

impl Deduper {
    /// Takes about so many bytes of memory; what does not fit goes to files in that folder, which have no name.
    ///
    /// # Errors
    /// If the folder is needed from the start, and cannot be written to.
    pub fn new(how: Dedupe, memory: usize, folder: &Path) -> Result<Deduper> {
        let state = match how.keep {
            Keep::First => State::Seen(KeySet::new()),
            _ => State::Deferred(Box::new(Deferred::new(how.keep, memory, folder)?)),
        };
        Ok(Deduper { how, memory, folder: folder.to_path_buf(), state })
    }

    /// Takes the next records, with their keys, and leaves those that are known to stay. Returns how many are known
    /// not to.
    ///
    /// # Errors
    /// If they have to be put aside, and cannot be.
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

    /// Gives those records that were put aside and stay, in their order. Returns how many do not.
    ///
    /// # Errors
    /// If they cannot be read back, or `each` fails.
    pub fn finish(self, each: impl FnMut(Vec<Record>) -> Result<()>) -> Result<u64> {
        match self.state {
            State::Seen(_) => Ok(0),
            State::Deferred(deferred) => deferred.finish(each),
        }
    }
}
