//! The entries that a journal counts.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

pub trait JournalEntry: Serialize + DeserializeOwned + Clone {
    const OF: &'static str;
    /// One entry and several: "pair", "pairs".
    const UNITS: [&'static str; 2];
    /// The file of games is text.
    const TEXT: bool;

    fn number(&self) -> usize;

    /// Names the games of the entry with this number.
    fn games(number: usize, entry: Option<&Self>) -> String;

    fn journal(file: &Path) -> PathBuf;
}
