//! Paths as text in JSON: U+FFFD takes the place of bytes that are not UTF-8, as in messages, where serde refuses the
//! path.

use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

/// Paths that [`path_text`] serialises.
pub trait PathText {
    /// Serialises as text.
    fn serialize_text<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;
}

impl PathText for &Path {
    fn serialize_text<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_string_lossy())
    }
}

impl PathText for PathBuf {
    fn serialize_text<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_path().serialize_text(serializer)
    }
}

impl PathText for Option<PathBuf> {
    fn serialize_text<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_ref().map(|path| path.to_string_lossy()).serialize(serializer)
    }
}

impl PathText for Vec<PathBuf> {
    fn serialize_text<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(|path| path.to_string_lossy()))
    }
}

/// Serialises a path, an optional one or a list: `#[serde(serialize_with = "patzer_io::path_text")]`.
pub fn path_text<T: PathText, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    value.serialize_text(serializer)
}
