//! Lines and rows that cannot be read: an error, or left out, counted and named.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::notices::Notices;
use patzer_io::error::{Error, Result};

/// Most bad rows of a file that are named.
const NAMED: u64 = 5;

/// Counter of a file's bad rows; clones share it.
#[derive(Debug, Clone, Default)]
pub struct BadRows {
    skip: bool,
    count: Arc<AtomicU64>,
}

impl BadRows {
    /// A counter that lets readers go on after a bad row, or not.
    pub fn new(skip: bool) -> BadRows {
        BadRows { skip, ..BadRows::default() }
    }

    /// Tests whether bad rows are left out.
    pub fn skips(&self) -> bool {
        self.skip
    }

    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Leaves out a row that is bad, where that is allowed; names the first ones.
    pub fn pass(&self, row: Result<()>, notices: &Notices) -> Result<()> {
        match row {
            Err(Error::Data { path, place, reason }) if self.skip => {
                if self.count.fetch_add(1, Ordering::Relaxed) < NAMED {
                    let place = place.map(|place| place + ": ").unwrap_or_default();
                    notices.add(&path, format!("{place}{reason}; left out"));
                }
                Ok(())
            }
            row => row,
        }
    }
}
