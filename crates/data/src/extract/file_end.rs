//! End of a file of games: whole, damaged with its readable part kept, or with an error.

use std::path::PathBuf;

use super::summary::Notice;
use patzer_io::error::{Error, Hint, Result};
use patzer_pgn::Event;

pub(crate) struct FileEnd {
    pub(crate) file: usize,
    pub(crate) sha256: String,
    pub(crate) bytes: u64,
    /// Description of a file's damage.
    pub(crate) damage: Option<String>,
}

impl FileEnd {
    /// The end of a file. With `keep_partial` a damaged file's readable games are kept; otherwise damage is an error,
    /// with a clause on what the run has `left`.
    pub(crate) fn of(
        event: Event,
        files: &[PathBuf],
        keep_partial: bool,
        left: &str,
        notice: &mut (dyn FnMut(Notice) + Send),
    ) -> Result<FileEnd> {
        match event {
            Event::End { file, sha256, bytes, grew } => {
                if grew {
                    let path = files[file].display();
                    notice(Notice::Grew(format!(
                        "{path}: grew while it was read; is it still being written?"
                    )));
                }
                Ok(FileEnd { file, sha256, bytes, damage: None })
            }
            Event::Broken { file, error, sha256, bytes } if keep_partial => {
                let text = format!("{error}; what could be read is kept");
                notice(Notice::Damage(text.clone()));
                Ok(FileEnd { file, sha256, bytes, damage: Some(text) })
            }
            Event::Broken { error, .. } => {
                Err(Error::input(format!("{error}; {left}")).hint(Hint::KeepPartial))
            }
            Event::Failed(error) => Err(error),
            Event::Chunk(_) => Err(Error::internal("a chunk was not parsed")),
        }
    }
}
