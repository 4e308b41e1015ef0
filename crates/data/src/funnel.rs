//! What each filter would drop alone, and what it drops in its place.
//!
//! In: the filters, and every game and record that they filters. Out: the [`FunnelStep`]s of a funnel, which a table and JSON
//! are made of. `extract --dry-run` shows it, so that presets can be compared before anything is written. What is
//! counted here goes another way than the extraction itself, and the two have to agree.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Record;
use super::dedupe::Dedupe;
use super::filter::{FilterSet, GameTags};
use super::key_set::KeySet;
use patzer_io::error::{Error, Result};

/// One step of the funnel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FunnelStep {
    /// What drops: the reason as in `dropped`.
    pub filter: String,
    /// The same with its values.
    pub label: String,
    /// Positions that it would drop if it stood alone, of those that can be used at all.
    pub alone: u64,
    /// Positions that it drops after those before it.
    pub sequence: u64,
    /// Positions left after it.
    pub left: u64,
}

/// DropCounts for each filter, in the order in which they filters, and for what comes after them.
#[derive(Debug, Default)]
pub struct FunnelCounts {
    counts: Vec<DropCounts>,
    records: u64,
    over_cap: u64,
    /// The keys of records that are not in `seen` yet.
    keys: Vec<u128>,
    seen: KeySet,
}

#[derive(Debug, Clone, Copy, Default)]
struct DropCounts {
    alone: u64,
    sequence: u64,
}

impl FunnelCounts {
    /// An account for these filters, with nothing counted yet.
    pub fn new(filters: &FilterSet) -> FunnelCounts {
        FunnelCounts { counts: vec![DropCounts::default(); filters.names().count()], ..FunnelCounts::default() }
    }

    /// DropCounts a game's records. `tags` matter where the filters judges games, `keys` says how duplicates are
    /// looked for, if they are, `cap` how many positions a game may have.
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
        for record in records {
            let mut gone = gone;
            for (counts, keeps) in self.counts[games..].iter_mut().zip(filters.each_of_positions(record)) {
                counts.add(keeps, 1, &mut gone);
            }
        }
    }

    /// Adds what another account of the same filters has counted.
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

    /// Positions that can be used at all.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Positions beyond the cap of their game.
    pub fn over_cap(&self) -> u64 {
        self.over_cap
    }

    /// Positions that are equal to an earlier one.
    pub fn duplicates(&self) -> u64 {
        self.records - self.seen.len() as u64
    }

    /// The whole funnel: `read` positions come in, `before` are the reasons that stand before the filters, `after`
    /// those after them, with what each would drop alone if it is in use.
    ///
    /// # Errors
    /// If what the filters drop here is not what was `dropped`, which is a fault of patzer.
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
