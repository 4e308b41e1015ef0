//! Removal of equal positions.
//!
//! Where the first of equal positions stays, each is judged as it comes for as long as the keys fit into memory.
//! Otherwise, and for every other choice, records and keys are written to files and judged at the end (`deferred`).
//! Both ways give the same result.

mod deferred;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Record;
use super::key_set::KeySet;
use deferred::Deferred;
use patzer_io::error::Result;

patzer_io::named! {
    /// Which of equal positions stays.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Keep {
        #[default]
        First: "first", "The first in the order of the input";
        Last: "last", "The last in the order of the input";
        Deepest: "deepest", "The one whose score was searched deepest, and the first of several";
        Mean: "mean", "The first, with the mean of the results of all";
    }
}

/// Rule of deduplication.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Dedupe {
    pub keep: Keep,
    pub mirror: bool,
}

impl std::fmt::Display for Dedupe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kept = match self.keep {
            Keep::First => "the first stays",
            Keep::Last => "the last stays",
            Keep::Deepest => "the deepest stays",
            Keep::Mean => "the first stays, with the mean result",
        };
        write!(f, "{kept}{}", if self.mirror { "; mirror images are equal" } else { "" })
    }
}

impl Dedupe {
    /// Equal positions have equal keys.
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
    Seen(KeySet),
    /// All records from some one on wait in files.
    Deferred(Box<Deferred>),
}

impl Deduper {
    /// Uses about `memory` bytes; the rest goes to temporary files in `folder`.
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
