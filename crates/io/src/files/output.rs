//! Atomic output.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::{BUFFER, waiting};
use crate::companion_path::companion_path;
use crate::error::{Error, Result};
use crate::{interrupt, trail};

/// Links that a system follows from one name, at most.
const MOST_LINKS: usize = 40;

/// A file that appears under its name only with [`Output::commit`]; before, it is a temporary file in the same folder.
///
/// Standard output, devices and pipes are written directly: a file must not replace `/dev/null`.
pub struct Output {
    path: PathBuf,
    target: Target,
}

enum Target {
    Stream(BufWriter<Box<dyn Write + Send>>),
    /// The temporary file, by itself since tempfile's own writer names its path in errors, and the final path.
    File(BufWriter<File>, tempfile::TempPath, PathBuf),
}

/// Tests for a device or a pipe, which a file must not replace.
pub fn is_stream(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir())
}

/// The file that an output to `path` makes or replaces: links are followed, the last one also where it leads to no
/// file yet.
pub fn destination(path: &Path) -> PathBuf {
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        if let Ok(real) = std::fs::canonicalize(&path) {
            return real;
        }
        let Ok(link) = std::fs::read_link(&path) else { break };
        path = path.parent().map_or_else(|| link.clone(), |folder| folder.join(&link));
    }
    match (path.file_name(), std::fs::canonicalize(folder_of(&path))) {
        (Some(name), Ok(folder)) => folder.join(name),
        _ => path,
    }
}

/// Tests for two spellings of one output file; `-` is no file.
pub fn same_file(one: &Path, other: &Path) -> bool {
    let is_file = |path: &Path| path != Path::new("-");
    one == other || (is_file(one) && is_file(other) && destination(one) == destination(other))
}

/// The paths that lead to the file of an earlier one, under whatever spelling, each with the last such one.
pub fn named_again(paths: &[PathBuf]) -> impl Iterator<Item = (&PathBuf, &PathBuf)> {
    let mut named = BTreeMap::new();
    paths.iter().filter_map(move |path| Some((path, named.insert(destination(path), path)?)))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Creates a locked temporary file, named after the file that it becomes; removes those that killed runs have left.
fn temporary(folder: &Path, becomes: &Path) -> io::Result<tempfile::NamedTempFile> {
    // File names have at most 255 bytes.
    let name = becomes.file_name().unwrap_or_default().to_string_lossy();
    let prefix = format!(".patzer-{}-", name.chars().take(50).collect::<String>());
    sweep(folder, &prefix);
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).rand_bytes(RANDOM);
    // tempfile's default is 0600; the umask applies to 0666.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    loop {
        let file = builder.tempfile_in(folder)?;
        match file.as_file().try_lock() {
            Ok(()) if file.path().exists() => return Ok(file),
            // The file system has no locks.
            Err(TryLockError::Error(_)) => return Ok(file),
            // Another run sweeps it.
            Ok(()) | Err(TryLockError::WouldBlock) => {}
        }
    }
}

/// Letters and digits after the prefix of a temporary file's name.
const RANDOM: usize = 6;

/// Removes temporary files that no process holds. A file system without locks keeps them.
fn sweep(folder: &Path, prefix: &str) {
    let is_ours = |entry: &std::fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        let random = name.strip_prefix(prefix).unwrap_or_default();
        random.len() == RANDOM
            && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
            // Opening a pipe would wait for its other end.
            && entry.file_type().is_ok_and(|kind| kind.is_file())
    };
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if is_ours(&entry)
            && let Ok(file) = File::open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

impl Output {
    /// Creates a temporary file, or opens standard output for `-`.
    pub fn create(path: &Path) -> Result<Output> {
        let stream = |out| Target::Stream(BufWriter::with_capacity(BUFFER, out));
        let target = if path == Path::new("-") {
            stream(waiting::stdout())
        } else if is_stream(path) {
            let file = waiting::open_to_write(path).map_err(|e| Error::io(path, e))?;
            stream(Box::new(waiting::Waiting(file)))
        } else {
            if path.is_dir() {
                return Err(Error::data(path, "is a folder; name a file to write"));
            }
            // Replace the file that a link points to, not the link.
            let file_path = destination(path);
            let file = temporary(folder_of(&file_path), &file_path).map_err(|e| Error::create(path, e))?;
            let (file, temporary) = file.into_parts();
            // The unfinished file is as private as the one that it replaces.
            #[cfg(unix)]
            if let Ok(replaced) = std::fs::metadata(&file_path) {
                file.set_permissions(replaced.permissions()).map_err(|e| Error::io(path, e))?;
            }
            Target::File(BufWriter::with_capacity(BUFFER, file), temporary, file_path)
        };
        Ok(Output { path: path.to_path_buf(), target })
    }

    /// Renames the finished file to its final name. The companion of a file that it replaces goes first, so that none
    /// is left that is wrong.
    pub fn commit(self) -> Result<()> {
        let path = self.path;
        match self.target {
            Target::Stream(mut out) => out.flush().map_err(|e| Error::io(&path, e)),
            Target::File(out, temporary, path_to) => {
                // Open until the end: others sweep temporary files that nobody locks.
                let file = out.into_inner().map_err(|e| Error::io(&path, e.into_error()))?;
                file.sync_data().map_err(|e| Error::io(&path, e))?;
                remove_if_exists(&companion_path(&path))?;
                remove_if_exists(&companion_path(&path_to))?;
                temporary.persist(&path_to).map_err(|e| Error::io(&path, e.error))?;
                sync_folder(&path_to);
                trail::writes(&path);
                Ok(())
            }
        }
    }
}

/// Makes the name of a new or renamed file survive a power cut, where the system can sync folders.
pub fn sync_folder(file: &Path) {
    let _ = File::open(folder_of(file)).and_then(|folder| folder.sync_all());
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.target {
            Target::Stream(out) => {
                interrupt::note_stream();
                out.write(bytes)
            }
            Target::File(out, ..) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.target {
            Target::Stream(out) => out.flush(),
            Target::File(out, ..) => out.flush(),
        }
    }
}

/// Checks before a long run that a file can be created there.
pub fn check_writable(path: &Path) -> Result<()> {
    // Opening and closing a pipe would signal its reader the end of the data.
    if is_stream(path) { Ok(()) } else { Output::create(path).map(drop) }
}

/// Creates a folder to write to, and those above it.
///
/// # Errors
/// A file has the name of one of them, or there is no permission.
pub fn create_folder(path: &Path) -> Result<()> {
    let there = path.ancestors().find(|path| path.exists());
    match there.filter(|there| !there.is_dir()) {
        Some(file) if file == path => Err(Error::data(path, "is not a folder")),
        Some(file) => Err(Error::data(path, format!("{} is not a folder", file.display()))),
        None => std::fs::create_dir_all(path).map_err(|e| Error::create(path, e)),
    }
}

/// Removes a file; one that does not exist is no error.
pub fn remove_if_exists(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(Error::io(path, e)),
        _ => Ok(()),
    }
}

/// Writes a whole file atomically.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut out = Output::create(path)?;
    out.write_all(bytes).map_err(|e| Error::io(path, e))?;
    out.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_uncommitted_output_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let mut out = Output::create(&path).unwrap();
        out.write_all(b"half").unwrap();
        drop(out);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        write(&path, b"whole").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"whole");
    }

    #[test]
    fn what_killed_runs_left_is_removed_and_what_others_write_stays() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let names = || {
            let entries = std::fs::read_dir(folder.path()).unwrap();
            let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        };
        std::fs::write(at(".patzer-out-dead00"), "left").unwrap();
        std::fs::write(at(".patzer-other-dead00"), "left").unwrap();
        std::fs::write(at(".patzer-out-of-mine"), "mine").unwrap();
        // Opened, a pipe would wait for its other end.
        #[cfg(unix)]
        assert!(
            std::process::Command::new("mkfifo").arg(at(".patzer-out-pipe00")).status().unwrap().success()
        );
        #[cfg(not(unix))]
        std::fs::create_dir(at(".patzer-out-pipe00")).unwrap();
        let first = Output::create(&at("out")).unwrap();
        assert_eq!(names().len(), 4, "{:?}", names());
        let mut second = Output::create(&at("out")).unwrap();
        assert_eq!(names().len(), 5, "{:?}", names());
        second.write_all(b"second").unwrap();
        second.commit().unwrap();
        first.commit().unwrap();
        assert_eq!(names(), [".patzer-other-dead00", ".patzer-out-of-mine", ".patzer-out-pipe00", "out"]);
        let long = "ü".repeat(120);
        write(&at(&long), b"x").unwrap();
        assert!(names().contains(&long));
    }

    #[test]
    #[cfg(unix)]
    fn only_a_file_is_replaced_and_a_link_stays_one() {
        use std::os::unix::fs::{FileTypeExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let [socket, link, file] = ["socket", "link", "file"].map(|name| folder.path().join(name));
        // A socket, like devices and pipes, is no regular file, and needs no special rights.
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        assert!(write(&socket, b"gone").is_err());
        assert!(std::fs::metadata(&socket).unwrap().file_type().is_socket());
        std::fs::write(&file, b"old").unwrap();
        symlink(&file, &link).unwrap();
        let mode = |mode| std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(&file, mode(0o640)).unwrap();
        write(&link, b"new").unwrap();
        assert_eq!(std::fs::metadata(&file).unwrap().permissions(), mode(0o100_640));
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
    }

    #[test]
    #[cfg(unix)]
    fn a_link_to_no_file_stays_one_and_the_companion_of_its_file_goes() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let [link, deeper, file] = ["link", "a/deeper", "a/file"].map(|name| folder.path().join(name));
        std::fs::create_dir(folder.path().join("a")).unwrap();
        symlink("a/deeper", &link).unwrap();
        symlink("file", &deeper).unwrap();
        write(&link, b"new").unwrap();
        assert!([&link, &deeper].iter().all(|path| std::fs::symlink_metadata(path).unwrap().is_symlink()));
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
        crate::write_with_companion(&file, b"own").unwrap();
        write(&link, b"newer").unwrap();
        assert_eq!(crate::companion(&file).unwrap(), None);
    }

    #[test]
    #[cfg(unix)]
    fn two_spellings_are_one_file_before_it_exists() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        symlink("out", at("link")).unwrap();
        symlink(folder.path(), at("here")).unwrap();
        for other in ["out", "./out", "here/out", "link", "here/./link"] {
            assert!(same_file(&at("out"), &at(other)), "{other}");
        }
        assert!(!same_file(&at("out"), &at("other")));
        assert!(same_file(Path::new("-"), Path::new("-")) && !same_file(Path::new("-"), Path::new("./-")));
        symlink("loop", at("loop")).unwrap();
        assert_eq!(destination(&at("loop")).file_name(), at("loop").file_name());
    }
}
