//! Entries of the book.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use patzer_io::error::{Error, Result};

/// A run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Eight hexadecimal digits.
    pub id: String,
    /// Begin, in UTC: `2026-11-24T22:15:31 +0000`.
    pub time: String,
    /// Name of the command, such as `tune`.
    pub kind: String,
    /// Words of the command line, without the program.
    pub command: Vec<String>,
    /// Working folder, from the book's.
    pub folder: PathBuf,
    /// Duration.
    pub seconds: f64,
    /// Version of the program.
    pub version: String,
    /// Machine of the run.
    pub machine: Machine,
    /// Exit code.
    pub exit: u8,
    /// Files that it read.
    pub read: Vec<FileRecord>,
    /// Files that it wrote.
    pub written: Vec<FileRecord>,
    /// Players of a match, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub players: Vec<PlayerRecord>,
    /// Results that the command printed, one as a rule.
    pub results: Vec<Value>,
}

/// A machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Name of the machine.
    pub host: String,
    /// Model of the processor, or its architecture.
    pub processor: String,
    /// Threads that it has.
    pub threads: usize,
}

/// A file as it was when the run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileRecord {
    /// From the book's folder.
    pub path: PathBuf,
    /// Length.
    pub bytes: u64,
    /// SHA-256 of the content; of a large file, of its length and 64 of its blocks, after `sampled:`.
    pub digest: String,
}

/// A player of a match.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlayerRecord {
    /// Name in the match.
    pub name: String,
    /// SHA-256 of its file, or the name of a built-in evaluation.
    pub digest: String,
}

/// A remark about a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// Identity of the run.
    pub of: String,
    /// Time of the remark, in UTC.
    pub time: String,
    /// The remark.
    pub note: String,
}

/// Largest file whose whole content is digested.
const WHOLE: u64 = 256 << 20;

impl FileRecord {
    /// Digests a file, with its path from `folder`.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn of(path: &Path, folder: &Path) -> Result<FileRecord> {
        let fault = |e| Error::io(path, e);
        let bytes = std::fs::metadata(path).map_err(fault)?.len();
        let digest = match bytes <= WHOLE {
            true => patzer_io::sha256(&std::fs::read(path).map_err(fault)?),
            false => {
                format!("sampled:{}", patzer_io::sampled_digest(path).map_err(fault)?.unwrap_or_default())
            }
        };
        Ok(FileRecord { path: relative(path, folder), bytes, digest })
    }

    /// Name of the file without its folders.
    pub fn name(&self) -> String {
        self.path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }
}

/// A path from a folder where it lies below it, else the whole path.
fn relative(path: &Path, folder: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    whole.strip_prefix(folder).map_or(whole.clone(), Path::to_path_buf)
}
