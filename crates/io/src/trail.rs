//! Files that this process reads and writes, for those who keep a book of runs. Nothing is noted before [`begin`].

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Files in the order of their first use, without repetitions.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Trail {
    /// Files that were opened to be read.
    pub read: Vec<PathBuf>,
    /// Files that were finished, or that a run writes as it goes.
    pub written: Vec<PathBuf>,
}

static TRAIL: Mutex<Option<Trail>> = Mutex::new(None);

fn trail() -> MutexGuard<'static, Option<Trail>> {
    TRAIL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes files from now on.
pub fn begin() {
    *trail() = Some(Trail::default());
}

/// Ends the notes and returns them.
pub fn take() -> Trail {
    let mut trail = trail().take().unwrap_or_default();
    for paths in [&mut trail.read, &mut trail.written] {
        let mut seen = HashSet::new();
        paths.retain(|path| seen.insert(path.clone()));
    }
    trail
}

fn note(of: impl Fn(&mut Trail) -> &mut Vec<PathBuf>, path: &Path) {
    if let Some(trail) = trail().as_mut() {
        of(trail).push(path.to_path_buf());
    }
}

/// Notes a file that is read.
pub fn reads(path: &Path) {
    note(|trail| &mut trail.read, path);
}

/// Notes a file that is written.
pub fn writes(path: &Path) {
    note(|trail| &mut trail.written, path);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_noted_once_and_in_order_between_begin_and_take() {
        let folder = tempfile::tempdir().unwrap();
        let [a, b, c] = ["a", "b", "c"].map(|name| folder.path().join(name));
        crate::write(&a, b"1").unwrap();
        begin();
        crate::read_text(&a, crate::Limit::WEIGHTS).unwrap();
        crate::write(&b, b"2").unwrap();
        crate::read_text(&b, crate::Limit::WEIGHTS).unwrap();
        crate::read_text(&a, crate::Limit::WEIGHTS).unwrap();
        let trail = take();
        // Other tests of this process may read files meanwhile.
        let own = |paths: &[PathBuf]| -> Vec<PathBuf> {
            paths.iter().filter(|path| path.starts_with(folder.path())).cloned().collect()
        };
        assert_eq!((own(&trail.read), own(&trail.written)), (vec![a, b.clone()], vec![b]));
        crate::write(&c, b"3").unwrap();
        assert_eq!(take(), Trail::default());
    }
}
