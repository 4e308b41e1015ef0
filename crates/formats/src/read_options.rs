//! How files of positions are opened.

use crate::notices::Notices;
use crate::registry::Format;

/// The format of files, where it is given, and the receiver of notices about them.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// Without a format, the content decides, then the name.
    pub format: Option<&'static Format>,
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
