//! Which files of games a user means.
//!
//! In: files and folders. Out: files, those of a folder in sorted order. In a folder names decide, since it may hold
//! anything; what a file really holds is seen when it is opened.

use std::path::{Path, PathBuf};

use patzer_io::error::{Error, Result};

/// How names of files of games end.
const ENDINGS: [&str; 4] = [".pgn", ".pgn.gz", ".pgn.bz2", ".pgn.zst"];

/// Puts in the place of each folder the files of games in it and in its folders, sorted by path. Everything else stays
/// as it is. Links to folders are not followed.
///
/// # Errors
/// If a folder cannot be read, or holds no files of games.
pub fn expand(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::with_capacity(paths.len());
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let before = files.len();
        collect(path, &mut files)?;
        if files.len() == before {
            let endings = ENDINGS.join(", ");
            return Err(Error::data(path, format!("is a folder without files of games ({endings})")));
        }
        files[before..].sort_unstable();
    }
    Ok(files)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder).map_err(|e| Error::io(folder, e))? {
        let entry = entry.map_err(|e| Error::io(folder, e))?;
        let path = entry.path();
        let kind = entry.file_type().map_err(|e| Error::io(&path, e))?;
        let name = entry.file_name().to_string_lossy().to_ascii_lowercase();
        if kind.is_dir() {
            collect(&path, files)?;
        } else if ENDINGS.iter().any(|ending| name.ends_with(ending)) && !path.is_dir() {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_stands_for_its_files_of_games_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("b/deep")).unwrap();
        std::fs::create_dir(at("none")).unwrap();
        for name in ["z.PGN", "a.pgn.zst", "b/deep/c.pgn.bz2", "b/d.pgn.gz", "notes.txt", "x.parquet"] {
            std::fs::write(at(name), "").unwrap();
        }
        let given = [at("notes.txt"), folder.path().to_path_buf(), PathBuf::from("-")];
        let found = ["notes.txt", "a.pgn.zst", "b/d.pgn.gz", "b/deep/c.pgn.bz2", "z.PGN"].map(at);
        assert_eq!(expand(&given).unwrap(), [&found[..], &[PathBuf::from("-")]].concat());
        assert!(expand(&[at("none")]).unwrap_err().to_string().contains("is a folder without"));
    }
}
