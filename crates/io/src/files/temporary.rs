//! Temporary files without a name, gone with the process however that ends.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::is_stream;
use crate::error::{Error, Result};

/// The folder for temporary files: the output's own, or the system's for standard output.
pub fn temporary_folder(output: Option<&Path>) -> PathBuf {
    match output.filter(|path| *path != Path::new("-") && !is_stream(path)) {
        Some(path) => match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
            _ => PathBuf::from("."),
        },
        None => std::env::temp_dir(),
    }
}

/// Creates a temporary file.
pub fn nameless_file(folder: &Path) -> Result<File> {
    tempfile::tempfile_in(folder).map_err(|e| Error::create(folder.join("a temporary file"), e))
}
