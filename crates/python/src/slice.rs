//! Records that several batches share.

use std::ops::{Deref, Range};
use std::sync::Arc;

use patzer_data::Record;

/// A part of a block of records, without a copy of them.
#[derive(Default)]
pub struct Slice {
    block: Arc<Vec<Record>>,
    range: Range<usize>,
}

impl Slice {
    /// Takes the first records away, `count` of them or all.
    pub fn take(&mut self, count: usize) -> Slice {
        let middle = self.range.start + count.min(self.len());
        let range = self.range.start..middle;
        self.range.start = middle;
        Slice { block: Arc::clone(&self.block), range }
    }

    /// Returns the block's memory, or new memory if a batch still uses it.
    pub fn into_records(self) -> Vec<Record> {
        Arc::try_unwrap(self.block).unwrap_or_default()
    }
}

impl From<Vec<Record>> for Slice {
    fn from(records: Vec<Record>) -> Slice {
        Slice { range: 0..records.len(), block: Arc::new(records) }
    }
}

impl Deref for Slice {
    type Target = [Record];
    fn deref(&self) -> &[Record] {
        &self.block[self.range.clone()]
    }
}
