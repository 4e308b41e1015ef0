//! Expands folders on the command line to their PGN files.

use std::io::Read;
use std::path::{Path, PathBuf};

use patzer_io::error::{Error, Result};

/// Endings of files of games.
pub const ENDINGS: [&str; 4] = [".pgn", ".pgn.gz", ".pgn.bz2", ".pgn.zst"];

/// Endings of texts, which count if they begin like games.
const TEXT_ENDINGS: [&str; 4] = [".txt", ".txt.gz", ".txt.bz2", ".txt.zst"];

/// Endings of compressed files, which count if they begin like games.
const COMPRESSED_ENDINGS: [&str; 3] = [".gz", ".bz2", ".zst"];

/// Length in bytes of the beginning of a text that must have a tag.
const HEAD: u64 = 1 << 14;

/// Files of games found in folders, and files left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expanded {
    /// Files to read, in order.
    pub files: Vec<PathBuf>,
    /// Archives in the folders, by their endings.
    pub archives: Vec<PathBuf>,
    /// Files without any content yet.
    pub empty: Vec<PathBuf>,
}

/// Replaces each folder by the PGN files in it and its subfolders, sorted by path, without following links to folders.
/// A text (`.txt`) or compressed file counts if a line near its beginning is a tag. Hidden files and folders, whose
/// names begin with a dot, are left out. Other paths stay as they are. A folder without PGN files is an error, and so
/// is a path that does not exist or is an empty file, which a reader would find only after the files before it.
pub fn expand_folders(paths: &[PathBuf]) -> Result<Expanded> {
    let mut all = Expanded::default();
    for path in paths {
        if path != Path::new("-") {
            let about = std::fs::metadata(path).map_err(|e| Error::io(path, e))?;
            if about.is_file() && about.len() == 0 {
                return Err(Error::data(path, "is empty"));
            }
        }
        if !path.is_dir() {
            all.files.push(path.clone());
            continue;
        }
        let mut found = Expanded::default();
        collect(path, &mut found)?;
        if found.files.is_empty() {
            let endings = [&ENDINGS[..], &TEXT_ENDINGS, &COMPRESSED_ENDINGS].concat().join(", ");
            let archives = if found.archives.is_empty() { "" } else { "; unpack its archives first" };
            let empty = if found.empty.is_empty() { "" } else { " that are not empty" };
            let reason = format!("is a folder without files of games ({endings}){empty}{archives}");
            return Err(Error::data(path, reason));
        }
        found.files.sort_unstable();
        found.archives.sort_unstable();
        found.empty.sort_unstable();
        all.files.append(&mut found.files);
        all.archives.append(&mut found.archives);
        all.empty.append(&mut found.empty);
    }
    Ok(all)
}

fn collect(folder: &Path, found: &mut Expanded) -> Result<()> {
    for entry in std::fs::read_dir(folder).map_err(|e| Error::io(folder, e))? {
        let entry = entry.map_err(|e| Error::io(folder, e))?;
        let path = entry.path();
        let kind = entry.file_type().map_err(|e| Error::io(&path, e))?;
        let name = entry.file_name().to_string_lossy().to_ascii_lowercase();
        if name.starts_with('.') {
            continue;
        }
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        if kind.is_dir() {
            collect(&path, found)?;
        } else if !path.is_dir() && (ends(&ENDINGS) || (ends(&TEXT_ENDINGS) && begins_like_games(&path)?)) {
            let is_empty = entry.metadata().map_err(|e| Error::io(&path, e))?.len() == 0;
            if is_empty { found.empty.push(path) } else { found.files.push(path) }
        } else if patzer_io::has_archive_ending(&name) {
            found.archives.push(path);
        } else if ends(&COMPRESSED_ENDINGS) && begins_like_games(&path).unwrap_or(false) {
            found.files.push(path);
        }
    }
    Ok(())
}

/// Tests whether a text has a tag such as `[Event "…` near its beginning.
fn begins_like_games(path: &Path) -> Result<bool> {
    let mut head = Vec::new();
    let read = patzer_io::open(path)?.take(HEAD).read_to_end(&mut head);
    read.map_err(|e| Error::io(path, e))?;
    let is_tag = |line: &[u8]| {
        let name = line.trim_ascii_start().strip_prefix(b"[").unwrap_or_default();
        let letters = name.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        letters > 0 && name[letters..].starts_with(b" \"")
    };
    let text = patzer_io::without_byte_order_mark(&head);
    Ok(text.split(|b| matches!(b, b'\n' | b'\r')).any(is_tag))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Zstandard frame with its length and one raw block, the last.
    fn zstd(text: &str) -> Vec<u8> {
        let length = u8::try_from(text.len()).unwrap();
        let head = [0x28, 0xb5, 0x2f, 0xfd, 0x20, length];
        let block = (u32::from(length) << 3 | 1).to_le_bytes();
        [&head, &block[..3], text.as_bytes()].concat()
    }

    #[test]
    fn a_folder_expands_to_its_pgn_files_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("b/deep")).unwrap();
        std::fs::create_dir(at("none")).unwrap();
        for name in
            ["z.PGN", "a.pgn.zst", "b/deep/c.pgn.bz2", "b/d.pgn.gz", "notes.txt", "b/x.pgn.xz", "a.ZIP"]
        {
            std::fs::write(at(name), "x").unwrap();
        }
        std::fs::write(at("b/new.pgn"), "").unwrap();
        let game = "\n[Event \"x\"]\n\n1. e4 1-0\n";
        std::fs::create_dir(at(".hid")).unwrap();
        for name in ["b/e.txt", ".hid/s.pgn", "b/.h.pgn"] {
            std::fs::write(at(name), game).unwrap();
        }
        std::fs::write(at("b/f.zst"), zstd(game)).unwrap();
        std::fs::write(at("b/g.zst"), &zstd(game)[..8]).unwrap();
        std::fs::write(at("b/h.epd.zst"), zstd("8/8/8/8/8/8/8/8 w - -\n")).unwrap();
        let paths = [at("notes.txt"), folder.path().to_path_buf(), PathBuf::from("-")];
        let found =
            ["notes.txt", "a.pgn.zst", "b/d.pgn.gz", "b/deep/c.pgn.bz2", "b/e.txt", "b/f.zst", "z.PGN"]
                .map(at);
        let expanded = expand_folders(&paths).unwrap();
        assert_eq!(expanded.files, [&found[..], &[PathBuf::from("-")]].concat());
        assert_eq!(expanded.archives, ["a.ZIP", "b/x.pgn.xz"].map(at));
        assert_eq!(expanded.empty, [at("b/new.pgn")]);
        let refused = |path: &str| expand_folders(&[at("a.pgn.zst"), at(path)]).unwrap_err().to_string();
        assert!(refused("b/new.pgn").ends_with("is empty"));
        assert!(refused("missing.pgn").contains("no such file"));
        assert_eq!(expand_folders(&[at(".hid")]).unwrap().files, [at(".hid/s.pgn")]);
        assert!(expand_folders(&[at("none")]).unwrap_err().to_string().contains("is a folder without"));
    }
}
