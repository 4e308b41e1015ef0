//! The file of refused games: each as it was read, with the reason in a tag before its own.

use std::io::Write;
use std::path::{Path, PathBuf};

use patzer_io::Output;
use patzer_io::error::{Error, Result};

pub(super) struct Rejects {
    path: PathBuf,
    file: Output,
}

impl Rejects {
    pub(super) fn create(path: &Path) -> Result<Rejects> {
        Ok(Rejects { path: path.to_path_buf(), file: Output::create(path)? })
    }

    pub(super) fn write(&mut self, games: &[u8]) -> Result<()> {
        self.file.write_all(games).map_err(|e| Error::io(&self.path, e))
    }

    pub(super) fn commit(self) -> Result<()> {
        self.file.commit()
    }
}

/// Appends a game with the tag `Rejected`; `tagged`: the game has tags, which may follow at once.
pub(super) fn push(games: &mut Vec<u8>, game: &[u8], reason: &str, tagged: bool) {
    let reason = reason.replace('\\', "\\\\").replace('"', "\\\"");
    let gap = if tagged { "" } else { "\n" };
    games.extend_from_slice(format!("[Rejected \"{reason}\"]\n{gap}").as_bytes());
    let text = game.strip_prefix(b"\xef\xbb\xbf").unwrap_or(game);
    games.extend_from_slice(text.trim_ascii());
    games.extend_from_slice(b"\n\n");
}
