//! What a dataset says of itself.
//!
//! In: the files, filters and seed that it was made with. Out: JSON in the file's own metadata, so that a dataset
//! can be made again and a labelled one recognises where it comes from.

use serde::{Deserialize, Serialize};

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
    /// Metadata of a dataset that this patzer makes.
    pub fn new(sources: Vec<Source>, filters: Vec<String>, seed: u64) -> Metadata {
        Metadata { version: env!("CARGO_PKG_VERSION").to_string(), sources, filters, seed, resolved: None }
    }
}
