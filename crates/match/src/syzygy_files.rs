//! Files of Syzygy tables, whose checksums are compared before a table is believed.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use rayon::prelude::*;
use shakmaty::{ByColor, ByRole, Chess, Color, Position, Role};

use crate::syzygy_checksum::is_sound;
use patzer_io::error::{Error, Result};

type Material = ByColor<ByRole<u8>>;

const ENDINGS: [&str; 2] = ["rtbw", "rtbz"];

/// Tables of some folders, with the material whose tables were found to be sound.
#[derive(Debug, Default)]
pub(crate) struct TableFiles {
    folders: Vec<PathBuf>,
    sound: RwLock<HashSet<Material>>,
}

impl TableFiles {
    pub(crate) fn new(folders: &[&Path]) -> TableFiles {
        TableFiles {
            folders: folders.iter().map(|folder| folder.to_path_buf()).collect(),
            ..TableFiles::default()
        }
    }

    /// Compares the checksums of the tables that a probe of a position may read, once for each material.
    ///
    /// # Errors
    /// A table is damaged.
    pub(crate) fn check(&self, position: &Chess) -> Result<()> {
        let material = position.board().material();
        let is_known = |material: &Material| {
            self.sound.read().unwrap_or_else(PoisonError::into_inner).contains(material)
        };
        if is_known(&material) {
            return Ok(());
        }
        let mut open = vec![material];
        while let Some(material) = open.pop() {
            if is_known(&material) {
                continue;
            }
            for path in self.files_of(&material) {
                if !is_sound(&path)? {
                    return Err(Error::data(path, DAMAGED));
                }
            }
            open.extend(after_captures(&material));
            self.sound.write().unwrap_or_else(PoisonError::into_inner).insert(material);
        }
        Ok(())
    }

    fn files_of(&self, material: &Material) -> Vec<PathBuf> {
        let [white, black] = [Color::White, Color::Black].map(|color| side_name(&material[color]));
        let mut names = vec![format!("{white}v{black}"), format!("{black}v{white}")];
        names.dedup();
        let places = self.folders.iter().flat_map(|folder| {
            names.iter().flat_map(move |name| ENDINGS.map(|ending| folder.join(format!("{name}.{ending}"))))
        });
        places.filter(|path| path.is_file()).collect()
    }
}

const DAMAGED: &str = "is damaged: its checksum differs";

/// Letters of a side's pieces in the name of a table.
fn side_name(pieces: &ByRole<u8>) -> String {
    let mut roles = Role::ALL;
    roles.reverse();
    roles.iter().map(|&role| role.upper_char().to_string().repeat(usize::from(pieces[role]))).collect()
}

/// Material after a capture, also by a pawn that promotes.
fn after_captures(material: &Material) -> Vec<Material> {
    let mut found = Vec::new();
    for color in Color::ALL {
        for role in Role::ALL.into_iter().filter(|role| *role != Role::King && material[color][*role] > 0) {
            let mut left = *material;
            left[color][role] -= 1;
            found.push(left);
            if left[!color].pawn > 0 {
                for promotion in [Role::Knight, Role::Bishop, Role::Rook, Role::Queen] {
                    let mut promoted = left;
                    promoted[!color].pawn -= 1;
                    promoted[!color][promotion] += 1;
                    found.push(promoted);
                }
            }
        }
    }
    found
}

/// The tables of a folder whose checksums differ, in order; `done` is called after each table.
pub fn damaged_tables(folder: &Path, done: &(dyn Fn() + Sync)) -> Result<Vec<PathBuf>> {
    let is_table = |path: &PathBuf| {
        ENDINGS.iter().any(|ending| path.extension().is_some_and(|extension| extension == *ending))
    };
    let entries = std::fs::read_dir(folder).map_err(|error| Error::io(folder, error))?;
    let mut paths: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_table).collect();
    paths.sort();
    let checked = paths.into_par_iter().map(|path| {
        let sound = is_sound(&path)?;
        done();
        Ok((!sound).then_some(path))
    });
    Ok(checked.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::fen;

    fn copied(damaged: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/syzygy");
        for entry in std::fs::read_dir(fixtures).unwrap() {
            let path = entry.unwrap().path();
            let mut bytes = std::fs::read(&path).unwrap();
            let name = path.file_name().unwrap().to_str().unwrap();
            if name.starts_with(damaged) {
                bytes[40] ^= 1;
            }
            std::fs::write(folder.path().join(name), bytes).unwrap();
        }
        folder
    }

    #[test]
    fn a_damaged_table_is_named_where_a_probe_may_read_it() {
        let folder = copied("KQvK");
        let tables = TableFiles::new(&[folder.path()]);
        let check = |text: &str| tables.check(&fen::position(text, false).unwrap());
        assert!(check("4k3/8/8/8/8/8/3R4/3K4 w - - 0 1").is_ok());
        assert!(check("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1").is_ok());
        for text in [
            "4k3/8/8/8/8/8/3Q4/3K4 w - - 0 1",
            "4k3/8/8/8/8/3q4/8/7K w - - 0 1",
            "4k3/5r2/8/8/8/8/3Q4/3K4 w - - 0 1",
            "3rk3/4P3/8/8/8/8/8/4K3 w - - 0 1",
        ] {
            let error = check(text).unwrap_err().to_string();
            assert!(error.ends_with("KQvK.rtbw: is damaged: its checksum differs"), "{text}: {error}");
        }
        assert_eq!(damaged_tables(folder.path(), &|| {}).unwrap(), [folder.path().join("KQvK.rtbw")]);
        assert!(damaged_tables(copied("none").path(), &|| {}).unwrap().is_empty());
    }
}
