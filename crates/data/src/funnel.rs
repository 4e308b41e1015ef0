//! Counts what each filter drops alone and in sequence, for `extract --dry-run`.
//!
//! The counts are made independently of the extraction, and [`FunnelCounts::steps`] checks that the two agree.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Record;
use super::dedupe::Dedupe;
use super::filter::{FilterSet, GameTags};
use super::key_set::KeySet;
use patzer_io::error::{Error, Result};

/// One filter, or another reason, of the funnel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FunnelStep {
    pub filter: String,
    pub label: String,
    /// Usable positions that it would drop alone.
    pub alone: u64,
    /// Positions that it drops after the steps before.
    pub sequence: u64,
    pub left: u64,
}

/// Counts for each filter in their order, and for the stages after them.
#[derive(Debug, Default)]
pub struct FunnelCounts {
    counts: Vec<DropCounts>,
    pub records: u64,
    pub over_cap: u64,
    keys: Vec<u128>,
    seen: KeySet,
}

#[derive(Debug, Clone, Copy, Default)]
struct DropCounts {
    alone: u64,
    sequence: u64,
}

impl FunnelCounts {
    pub fn new(filters: &FilterSet) -> FunnelCounts {
        let counts = vec![DropCounts::default(); filters.names().count()];
        FunnelCounts { counts, ..FunnelCounts::default() }
    }

    /// Counts a game's records. `tags` are for filters of games, `keys` for duplicates, `cap` limits the positions of
    /// a game.
    pub fn count(
        &mut self,
        filters: &FilterSet,
        tags: &GameTags,
        records: &[Record],
        keys: Option<Dedupe>,
        cap: Option<usize>,
    ) {
        let number = records.len() as u64;
        self.records += number;
        self.over_cap += cap.map_or(0, |cap| number.saturating_sub(cap as u64));
        if let Some(how) = keys {
            self.keys.extend(records.iter().map(|record| how.key(record)));
        }
        let mut gone = false;
        let games = filters.each_of_games(tags).count();
        for (counts, keeps) in self.counts.iter_mut().zip(filters.each_of_games(tags)) {
            counts.add(keeps, number, &mut gone);
        }
        let in_game = filters.in_game(tags);
        for record in records {
            let mut gone = gone;
            let of_game = in_game.iter().map(|(_, keeps)| keeps(record));
            let each = of_game.chain(filters.each_of_positions(record));
            for (counts, keeps) in self.counts[games..].iter_mut().zip(each) {
                counts.add(keeps, 1, &mut gone);
            }
        }
    }

    pub fn merge(&mut self, other: FunnelCounts) {
        for (ours, theirs) in self.counts.iter_mut().zip(&other.counts) {
            ours.alone += theirs.alone;
            ours.sequence += theirs.sequence;
        }
        self.records += other.records;
        self.over_cap += other.over_cap;
        for key in other.keys {
            self.seen.insert(key);
        }
    }

    pub fn duplicates(&self) -> u64 {
        self.records - self.seen.len() as u64
    }

    /// The whole funnel of `read` positions: the reasons `before` the filters, the filters, and the reasons `after`
    /// them with what each drops alone, if in use.
    pub fn steps(
        &self,
        filters: &FilterSet,
        read: u64,
        dropped: &BTreeMap<String, u64>,
        before: &[&'static str],
        after: &[(&'static str, Option<u64>)],
    ) -> Result<Vec<FunnelStep>> {
        let mut left = read;
        let mut steps = Vec::new();
        let mut add = |filter: &str, label: &str, alone, sequence| {
            left = left.saturating_sub(sequence);
            steps.push(FunnelStep { filter: filter.into(), label: label.into(), alone, sequence, left });
        };
        let real = |reason: &str| dropped.get(reason).copied().unwrap_or(0);
        for reason in before {
            add(reason, reason, real(reason), real(reason));
        }
        for (counts, (name, label)) in self.counts.iter().zip(filters.names()) {
            add(name, label, counts.alone, counts.sequence);
        }
        for (reason, alone) in after {
            if let Some(alone) = alone {
                add(reason, reason, *alone, real(reason));
            }
        }
        let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
        for step in steps.iter().filter(|step| step.sequence > 0) {
            *sums.entry(&step.filter).or_default() += step.sequence;
        }
        if !sums.iter().map(|(name, count)| (*name, *count)).eq(dropped.iter().map(|(n, c)| (n.as_str(), *c)))
        {
            return Err(Error::internal(format!("the funnel drops {sums:?}, the extraction {dropped:?}")));
        }
        Ok(steps)
    }
}

impl DropCounts {
    #[inline]
    fn add(&mut self, keeps: bool, number: u64, gone: &mut bool) {
        if !keeps {
            self.alone += number;
            self.sequence += if *gone { 0 } else { number };
            *gone = true;
        }
    }
}
