//! Names and moves of a run's files: nothing that exists is destroyed unless asked.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::entry::JournalEntry;
use patzer_io::error::{Error, Result};

/// Inserts a number into the name: `sprt.1.pgn`, `games.1.pgn.zst`.
fn numbered(path: &Path, number: usize) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let whole = name.strip_suffix(".zst").unwrap_or(&name);
    let stem = whole.rfind('.').filter(|&at| at > 0).unwrap_or(whole.len());
    path.with_file_name(format!("{}.{number}{}", &name[..stem], &name[stem..]))
}

/// File of the entries ahead of a journal.
pub(super) fn ahead_path<E: JournalEntry>(games: &Path) -> PathBuf {
    let mut name = E::journal(games).into_os_string();
    name.push(".ahead");
    name.into()
}

/// Names of a run's files: the games, the journal, the entries ahead.
pub(super) fn names<E: JournalEntry>(games: &Path) -> [PathBuf; 3] {
    [games.to_path_buf(), E::journal(games), ahead_path::<E>(games)]
}

/// Returns the first numbered names of which no file exists.
pub(super) fn free_names<E: JournalEntry>(path: &Path) -> [PathBuf; 3] {
    let names = (1..).map(|number| names::<E>(&numbered(path, number)));
    let mut free = names.filter(|names| names.iter().all(|name| fs::symlink_metadata(name).is_err()));
    free.next().unwrap_or_else(|| self::names::<E>(path))
}

/// Renames the files, where they exist, and says so.
pub(super) fn move_aside<E: JournalEntry>(path: &Path) -> Result<String> {
    let (from, to) = (names::<E>(path), free_names::<E>(path));
    let mut moved = Vec::new();
    for (from, to) in from.iter().zip(&to).filter(|(from, _)| fs::symlink_metadata(from).is_ok()) {
        fs::rename(from, to).map_err(|e| Error::io(from, e))?;
        moved.push(format!("{} → {}", from.display(), to.display()));
    }
    patzer_io::sync_folder(path);
    Ok(format!("moved aside: {}", moved.join(", ")))
}

/// Tests whether a path still names the open file.
pub(super) fn is_at(file: &File, path: &Path) -> bool {
    let Ok(there) = fs::metadata(path) else { return false };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        file.metadata().is_ok_and(|open| (open.dev(), open.ino()) == (there.dev(), there.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = (file, there);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_before_the_endings() {
        for (name, with) in [
            ("sprt.pgn", "sprt.3.pgn"),
            ("a/b.c/games.pgn.zst", "a/b.c/games.3.pgn.zst"),
            ("plain", "plain.3"),
            (".hidden", ".hidden.3"),
            ("v1.2.pgn", "v1.2.3.pgn"),
        ] {
            assert_eq!(numbered(Path::new(name), 3), Path::new(with));
        }
    }
}
