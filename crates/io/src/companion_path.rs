//! The name of a file's companion.

use std::path::{Path, PathBuf};

/// Path of a file's companion.
pub fn companion_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".sha256");
    PathBuf::from(name)
}
