//! Counts of the positions read, taken and dropped.

use std::collections::BTreeMap;
use std::path::PathBuf;

use patzer_data::Metadata;
use patzer_io::number::grouped;

#[derive(Debug, Default)]
pub struct Account {
    pub sources: Vec<(PathBuf, Metadata)>,
    pub read: u64,
    pub taken: u64,
    pub dropped: BTreeMap<&'static str, u64>,
}

impl Account {
    pub fn summary(&self, train: usize, validation: usize) -> String {
        summary(self.read, &self.dropped, train, validation)
    }

    /// Counts a position: taken, or dropped for a reason.
    pub(crate) fn count(&mut self, reason: Option<&'static str>) {
        match reason {
            Some(reason) => *self.dropped.entry(reason).or_default() += 1,
            None => self.taken += 1,
        }
    }
}

/// Line on positions read, dropped by reason, and kept.
pub fn summary(read: u64, dropped: &BTreeMap<&'static str, u64>, train: usize, validation: usize) -> String {
    let count: u64 = dropped.values().sum();
    let reasons: Vec<String> =
        dropped.iter().map(|(reason, n)| format!("{reason} {}", grouped(*n))).collect();
    let list = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
    let [read, count, train, validation] = [read, count, train as u64, validation as u64].map(grouped);
    format!("{read} positions read, {count} dropped{list}; {train} to train, {validation} to validate")
}
