//! Sample of scored positions.

use std::collections::BTreeMap;

use shakmaty::Chess;

use super::histogram::Observation;
use patzer_data::Record;

/// Positions in a sample.
const POSITIONS: usize = 1_000;

/// The positions with the smallest keys: the same ones in any order of reading.
#[derive(Debug, Default)]
pub struct Sample(BTreeMap<u128, (Chess, Observation)>);

impl Sample {
    pub fn positions(&self) -> impl ExactSizeIterator<Item = &(Chess, Observation)> {
        self.0.values()
    }

    pub(super) fn see(&mut self, record: &Record, observation: Observation) {
        let key = record.key();
        if self.0.len() < POSITIONS || self.0.last_key_value().is_some_and(|(last, _)| key < *last) {
            self.0.extend(record.position().map(|position| (key, (position, observation))));
            self.cut();
        }
    }

    pub(super) fn merge(&mut self, other: Sample) {
        self.0.extend(other.0);
        self.cut();
    }

    fn cut(&mut self) {
        while self.0.len() > POSITIONS {
            self.0.pop_last();
        }
    }
}
