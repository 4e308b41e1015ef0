//! Notices of readers and writers on their files, each once a file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Notices of readers and writers that were opened with it; clones share them.
#[derive(Debug, Clone, Default)]
pub struct Notices(Arc<Mutex<BTreeSet<(PathBuf, String)>>>);

impl Notices {
    pub fn add(&self, path: &Path, text: impl Into<String>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert((path.to_path_buf(), text.into()));
    }

    /// Returns the notices since the last call, by file.
    pub fn take(&self) -> BTreeSet<(PathBuf, String)> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
