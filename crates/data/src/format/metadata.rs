//! Provenance of a dataset, stored as JSON in the file's metadata.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::columns::Layout;
use crate::dedupe::{Dedupe, Keep};
use patzer_io::error::{Error, Result};

/// Provenance of a dataset.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Metadata {
    pub version: String,
    pub sources: Vec<Source>,
    /// Applied filters, one preset or registry row each.
    pub filters: Vec<String>,
    pub seed: u64,
    /// How the leaves were found (`qsearch`, `depth 4`, …); `None` for an unlabelled dataset.
    pub resolved: Option<String>,
    /// The engine that gave the scores, with its limit, if `label --engine` did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub teacher: Option<String>,
    /// The piece of the dataset that `label --shard` wrote: its rows in order, cut into equal pieces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub piece: Option<Shard>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dedupe: Option<Dedupe>,
    /// The shard of the games; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<Account>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<String>,
}

/// The games of an input whose number leaves `index` when divided by `of`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    pub index: u32,
    pub of: u32,
}

impl Shard {
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
    type Err = Error;

    /// Parses `i/n`, counting from 1.
    fn from_str(text: &str) -> Result<Shard> {
        let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match parts {
            Some((index @ 1.., of)) if index <= of => Ok(Shard { index: index - 1, of }),
            _ => Err(Error::usage("write it as i/n with i from 1 to n, for example 2/8")),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Account {
    pub games: u64,
    pub games_bad: u64,
    pub games_skipped: BTreeMap<String, u64>,
    /// Games with conflicting results, by the result that counts.
    #[serde(default)]
    pub results_conflicting: BTreeMap<String, u64>,
    pub positions_read: u64,
    pub dropped: BTreeMap<String, u64>,
}

/// A game file of a dataset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    pub name: String,
    /// Hexadecimal SHA-256 of the bytes on disk.
    pub sha256: String,
    /// Number of games read, broken ones included, if known. A dataset numbers the games through its sources in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub games: Option<u64>,
}

impl Metadata {
    pub fn layout(&self) -> Layout {
        let means = self.dedupe.is_some_and(|dedupe| dedupe.keep == Keep::Mean);
        Layout { resolved: self.resolved.is_some(), means, taught: self.teacher.is_some() }
    }

    /// The teachers of several datasets, each named once; `None` without any.
    pub fn teachers<'a>(all: impl Iterator<Item = &'a Metadata>) -> Option<String> {
        let mut teachers: Vec<&str> = Vec::new();
        for teacher in all.filter_map(|metadata| metadata.teacher.as_deref()) {
            if !teachers.contains(&teacher) {
                teachers.push(teacher);
            }
        }
        (!teachers.is_empty()).then(|| teachers.join("; "))
    }

    /// What is known of a file without metadata.
    pub fn of_file(path: &Path) -> Metadata {
        let name = path.file_name().map_or_else(|| "-".into(), |name| name.to_string_lossy().into_owned());
        Metadata::new(vec![Source { name, sha256: String::new(), games: None }], Vec::new(), 0)
    }

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
