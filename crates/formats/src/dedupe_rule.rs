//! The rule by which equal positions are removed, as metadata keeps it.

use serde::{Deserialize, Serialize};

use crate::Record;

pub const DUPLICATES: &str = "duplicates";

patzer_io::named! {
    /// The one of equal positions that stays.
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
