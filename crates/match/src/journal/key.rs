//! Key of the user that signs journals: `--resume` starts the programs of a journal only if its user started it.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use patzer_io::error::{Error, Result};

const LENGTH: usize = 32;

/// Random bytes in the user's state folder.
pub struct Key([u8; LENGTH]);

impl Key {
    /// Reads the user's key; the first run makes it.
    ///
    /// # Errors
    /// The user has no state folder, or the key cannot be read or written there.
    pub fn of_user() -> Result<Key> {
        let folder = state_folder().ok_or_else(|| {
            Error::input("neither XDG_STATE_HOME nor HOME names a folder for the user's key")
        })?;
        Key::of_folder(&folder.join("patzer"))
    }

    fn of_folder(folder: &Path) -> Result<Key> {
        let path = folder.join("key");
        match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                create(folder, &path)?;
                read(&path, fs::read(&path))
            }
            bytes => read(&path, bytes),
        }
    }

    #[cfg(test)]
    pub(super) fn of_bytes(bytes: [u8; LENGTH]) -> Key {
        Key(bytes)
    }

    pub fn sign(&self, text: &[u8]) -> String {
        let mac = hmac_sha256::HMAC::mac(text, self.0);
        mac.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Compares a signature in constant time.
    pub fn verifies(&self, text: &[u8], signature: &str) -> bool {
        let right = self.sign(text);
        let differences = right.bytes().zip(signature.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
        right.len() == signature.len() && differences == 0
    }
}

fn read(path: &Path, bytes: std::io::Result<Vec<u8>>) -> Result<Key> {
    let bytes = bytes.map_err(|e| Error::io(path, e))?;
    let key =
        bytes.try_into().map_err(|_| Error::data(path, "is not a key of patzer: it has not 32 bytes"))?;
    Ok(Key(key))
}

fn create(folder: &Path, path: &Path) -> Result<()> {
    let mut key = [0; LENGTH];
    getrandom::fill(&mut key).map_err(|e| Error::data(path, format!("no random numbers for it: {e}")))?;
    fs::create_dir_all(folder).map_err(|e| Error::io(folder, e))?;
    // A temporary file is the user's alone (mode 0600). The name of the first of two runs at once counts.
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(|e| Error::io(path, e))?;
    file.write_all(&key).and_then(|()| file.as_file().sync_all()).map_err(|e| Error::io(path, e))?;
    match file.persist_noclobber(path) {
        Err(error) if error.error.kind() != ErrorKind::AlreadyExists => Err(Error::io(path, error.error)),
        _ => Ok(()),
    }
}

fn state_folder() -> Option<PathBuf> {
    let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if cfg!(windows) {
        return folder("LOCALAPPDATA");
    }
    folder("XDG_STATE_HOME").or_else(|| folder("HOME").map(|home| home.join(".local/state")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_signs_alike_and_another_key_does_not_verify() {
        let [one, two] = [0; 2].map(|_| tempfile::tempdir().unwrap());
        let key = Key::of_folder(&one.path().join("patzer")).unwrap();
        let signature = key.sign(b"text");
        let again = Key::of_folder(&one.path().join("patzer")).unwrap();
        assert!(again.verifies(b"text", &signature));
        assert!(!again.verifies(b"texT", &signature) && !again.verifies(b"text", &signature[1..]));
        assert!(!Key::of_folder(two.path()).unwrap().verifies(b"text", &signature));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(one.path().join("patzer/key")).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        fs::write(one.path().join("patzer/key"), "short").unwrap();
        assert!(Key::of_folder(&one.path().join("patzer")).is_err());
    }
}
