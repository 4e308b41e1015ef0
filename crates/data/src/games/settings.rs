//! Settings of a selection of games.

use std::path::PathBuf;

use patzer_io::Shard;
use patzer_pgn::Rewrite;

/// The reason of a game with too few positions that pass the filters.
pub(super) const POSITIONS: &str = "positions";

#[derive(Debug, Clone)]
pub struct Settings {
    /// The least number of positions of a game that have to pass the filters of positions.
    pub positions: u32,
    /// Keep only the first of the games with the same start and moves.
    pub unique: Option<Unique>,
    /// Keep games without a result (`*`).
    pub unfinished: bool,
    /// Keep the games before a file's damage.
    pub keep_partial: bool,
    pub shard: Option<Shard>,
    /// Layout of the games written; `None` for games as they are read.
    pub rewrite: Option<Rewrite>,
    /// Number of games of each of several numbered files; `None` for one file of all.
    pub per_file: Option<u64>,
    /// File for the games that are dropped, each with its reason in a tag.
    pub rejects: Option<PathBuf>,
    /// Tags whose values are counted over the games that stay.
    pub count: Vec<String>,
}

impl Settings {
    /// Result of a run that ended early, for messages.
    pub(super) fn left(&self) -> &'static str {
        match self.per_file {
            Some(_) => "the files that were full are written",
            None => "nothing was written",
        }
    }
}

/// Number of plies by which games are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unique {
    All,
    First(u32),
}

impl std::str::FromStr for Unique {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Unique, String> {
        match text {
            "all" => Ok(Unique::All),
            _ => text.parse().map(Unique::First).map_err(|_| "write a number of plies, or all".into()),
        }
    }
}
