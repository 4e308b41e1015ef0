//! Notices of readers on their files, shown once a file after a command.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

static NOTICES: Mutex<BTreeSet<(PathBuf, String)>> = Mutex::new(BTreeSet::new());

pub(crate) fn add(path: &Path, text: String) {
    NOTICES.lock().unwrap_or_else(PoisonError::into_inner).insert((path.to_path_buf(), text));
}

/// Returns the notices since the last call, by file.
pub fn take() -> BTreeSet<(PathBuf, String)> {
    std::mem::take(&mut NOTICES.lock().unwrap_or_else(PoisonError::into_inner))
}
