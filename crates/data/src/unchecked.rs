//! Datasets whose records were read without checksums: commands say so once a file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

static FILES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

pub(crate) fn add(path: &Path) {
    FILES.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_path_buf());
}

/// Returns the files read without checksums since the last call.
pub fn take() -> BTreeSet<PathBuf> {
    std::mem::take(&mut FILES.lock().unwrap_or_else(PoisonError::into_inner))
}
