//! How files of positions are opened.

use crate::notices::Notices;
use crate::registry::Format;
use patzer_pgn::ScoreOptions;

/// The format of files, where it is given, the reading of their scores, and the receiver of notices about them.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// Without a format, the content decides, then the name.
    pub format: Option<&'static Format>,
    /// Sides and factors of scores, where they differ from what format and column say.
    pub scores: ScoreOptions,
    /// True if bad lines and rows of text and tables are left out, counted and named.
    pub skip_bad_rows: bool,
    pub notices: Notices,
}

impl From<Option<&'static Format>> for ReadOptions {
    fn from(format: Option<&'static Format>) -> ReadOptions {
        ReadOptions { format, ..ReadOptions::default() }
    }
}

impl From<&ReadOptions> for ReadOptions {
    fn from(options: &ReadOptions) -> ReadOptions {
        options.clone()
    }
}
