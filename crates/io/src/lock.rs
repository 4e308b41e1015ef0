//! Advisory locks: two runs must not write one journal or run folder.

use std::fs::{File, TryLockError};
use std::path::Path;

use crate::error::{Error, Result};

/// An exclusive lock on a file or folder; the system releases it when the process ends, however it ends.
#[derive(Debug)]
pub struct Lock(File);

impl Lock {
    /// Locks an existing file or folder. File systems without locks (some network mounts) and systems that cannot open
    /// a folder give `None`.
    ///
    /// # Errors
    /// Another process holds the lock; the message names it where the system tells.
    pub fn take(path: &Path) -> Result<Option<Lock>> {
        let Ok(file) = File::open(path) else { return Ok(None) };
        Ok(try_lock(&file, path)?.then_some(Lock(file)))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Unlock before closing: a process being spawned may still hold a copy of the descriptor.
        let _ = self.0.unlock();
    }
}

/// Locks an open file; false where the file system has no locks.
///
/// # Errors
/// Another process holds the lock; the message names it where the system tells.
pub fn try_lock(file: &File, path: &Path) -> Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => {
            let holder = holder(file).unwrap_or_else(|| "another process".to_string());
            Err(Error::data(path, format!("in use by {holder}")))
        }
        Err(TryLockError::Error(_)) => Ok(false),
    }
}

/// Names the process that holds the lock on a file, where the system tells; takes no lock.
pub fn locked_by(path: &Path) -> Option<String> {
    holder(&File::open(path).ok()?)
}

/// Names the process that holds the lock on a file, from Linux's table of locks. A lock that is taken or released while
/// the table is read can hide another's line, so it is read again where it does not name the file.
#[cfg(target_os = "linux")]
fn holder(file: &File) -> Option<String> {
    (0..10).find_map(|_| listed(file))
}

#[cfg(target_os = "linux")]
fn listed(file: &File) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let inode = format!(":{}", file.metadata().ok()?.ino());
    let table = std::fs::read_to_string("/proc/locks").ok()?;
    // Lines such as `1: FLOCK  ADVISORY  WRITE 4711 fe:00:131077 0 EOF`.
    let mut fields = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let fields = fields.find(|fields| {
        fields.get(1) == Some(&"FLOCK") && fields.get(5).is_some_and(|id| id.ends_with(&inode))
    })?;
    let process = fields[4];
    let command = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let words = command.split(|&byte| byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
    let command = words.collect::<Vec<_>>().join(" ");
    Some(match command.trim() {
        "" => format!("process {process}"),
        command => format!("process {process} ({})", crate::printable(command)),
    })
}

#[cfg(not(target_os = "linux"))]
fn holder(_: &File) -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn the_second_lock_names_the_holder_of_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run.journal");
        std::fs::write(&file, "").unwrap();
        for path in [folder.path(), &file] {
            let first = Lock::take(path).unwrap();
            assert!(first.is_some());
            let error = Lock::take(path).unwrap_err().to_string();
            assert!(error.contains("in use by"), "{error}");
            if cfg!(target_os = "linux") {
                let own = format!("process {}", std::process::id());
                assert!(error.contains(&own), "{error}");
                assert!(locked_by(path).unwrap().starts_with(&own));
            }
            drop(first);
            assert_eq!(locked_by(path), None);
            assert!(Lock::take(path).unwrap().is_some());
        }
    }
}
