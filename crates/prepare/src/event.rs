//! Events while datasets are read, for messages and progress.

use std::path::Path;

use patzer_data::lines::BadLine;

#[derive(Debug)]
pub enum Event<'a> {
    /// A current labelled cache is read instead of an unresolved dataset.
    CacheFound {
        data: &'a Path,
        cache: &'a Path,
        method: &'a str,
        /// The cache names no digest of the data: time, size and provenance alone say that it is current.
        by_time: bool,
    },
    CacheMissing {
        data: &'a Path,
        cache: &'a Path,
    },
    /// The lines of a text file are resolved while they are read.
    ResolvingLines(&'a Path),
    /// A text file had malformed lines; `first` are some of them.
    BadLines {
        path: &'a Path,
        read: u64,
        bad: u64,
        first: &'a [BadLine],
    },
    /// A text file is read whole before the files after it, where others are interleaved.
    TextInBlock(&'a Path),
    /// Positions are held out one by one, because the file does not say which belong to the same game.
    NoGames(&'a Path),
    /// The file lacks what filters judge by, and which filters.
    Blind(&'a Path, String),
    /// The file's format keeps games by the order of positions, which hardly ever follow from one another.
    BrokenGames {
        path: &'a Path,
        positions: u64,
        games: u64,
    },
    /// A pass begins: its name, and the number of positions, 0 if unknown.
    Started(&'static str, u64),
    Advanced(u64),
    Finished,
}

pub type Report<'a> = dyn Fn(Event<'_>) + Sync + 'a;
