//! What a dataset says of itself.
//!
//! In: the files, filters and seed that it was made with. Out: JSON in the file's own metadata, so that a dataset
//! can be made again and a labelled one recognises where it comes from.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::columns::Layout;
use crate::dedupe::{Dedupe, Keep};

/// What a dataset says of itself, stored in the file's metadata as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Metadata {
    /// The patzer that wrote the file.
    pub version: String,
    /// The game files that the positions come from.
    pub sources: Vec<Source>,
    /// Filters already applied, as one preset or registry row each.
    pub filters: Vec<String>,
    /// Seed of anything that was random.
    pub seed: u64,
    /// How the leaves were found (`qsearch`, `depth 4`, …); `None` if the positions are not resolved.
    pub resolved: Option<String>,
    /// How equal positions were dropped; `None` if they were not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dedupe: Option<Dedupe>,
    /// Which part of the games it holds; `None` if all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// What became of the games and positions that were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<Account>,
    /// What was done to it since it was extracted: shuffled, split.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<String>,
}

/// The games of an input whose number leaves `index` when divided by `of`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Which part, from 0.
    pub index: u32,
    /// Of how many.
    pub of: u32,
}

impl Shard {
    /// Whether the part has the game of this number.
    #[inline]
    pub fn has(self, game: u64) -> bool {
        game % u64::from(self.of) == u64::from(self.index)
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.index + 1, self.of)
    }
}

impl std::str::FromStr for Shard {
    type Err = String;

    /// Reads `i/n`, the first part being 1.
    fn from_str(text: &str) -> Result<Shard, String> {
        let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match parts {
            Some((index @ 1.., of)) if index <= of => Ok(Shard { index: index - 1, of }),
            _ => Err("write it as i/n with i from 1 to n, for example 2/8".into()),
        }
    }
}

/// What became of the games and positions that an extraction read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Account {
    /// Games that were read.
    pub games: u64,
    /// Those with a fault.
    pub games_bad: u64,
    /// Those without a fault that gave nothing, by reason.
    pub games_skipped: BTreeMap<String, u64>,
    /// Games whose results disagreed, by what was believed.
    #[serde(default)]
    pub results_conflicting: BTreeMap<String, u64>,
    /// Positions that were read.
    pub positions_read: u64,
    /// Those that are not in the dataset, by reason.
    pub dropped: BTreeMap<String, u64>,
}

/// One file of games that went into a dataset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Its name as given, without folders.
    pub name: String,
    /// SHA-256 of its bytes as they lie on disk, in hexadecimal.
    pub sha256: String,
    /// How many games were read from it, bad ones included, if that is known. The games of a dataset are numbered
    /// through its sources in their order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub games: Option<u64>,
}

impl Metadata {
    /// Which columns the file has.
    pub fn layout(&self) -> Layout {
        let means = self.dedupe.is_some_and(|dedupe| dedupe.keep == Keep::Mean);
        Layout { resolved: self.resolved.is_some(), means }
    }

    /// Metadata of a dataset that this patzer makes.
    pub fn new(sources: Vec<Source>, filters: Vec<String>, seed: u64) -> Metadata {
        Metadata {
            version: env!("CARGO_PKG_VERSION").to_string(),
            sources,
            filters,
            seed,
            ..Metadata::default()
        }
    }
}

impl Account {
    /// Adds another account.
    pub fn add(&mut self, other: &Account) {
        self.games += other.games;
        self.games_bad += other.games_bad;
        self.positions_read += other.positions_read;
        for (ours, theirs) in [
            (&mut self.games_skipped, &other.games_skipped),
            (&mut self.results_conflicting, &other.results_conflicting),
            (&mut self.dropped, &other.dropped),
        ] {
            theirs.iter().for_each(|(reason, count)| *ours.entry(reason.clone()).or_default() += count);
        }
    }
}
