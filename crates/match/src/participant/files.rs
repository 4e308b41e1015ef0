//! Files of players: where they lie, and which are programs.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::Spec;
use patzer_eval::{Evaluation, begins_network};
use patzer_io as io;
use patzer_io::error::{Error, Result};
use patzer_io::{Digest, Limit};

/// The file of a player. A bare name is looked for on the PATH first, as shells do, so that a file that happens to lie
/// in the folder is not run in its place.
pub(super) fn find(cmd: &str, dir: Option<&Path>) -> Result<PathBuf> {
    if cmd.is_empty() {
        return Err(Error::usage("a player without cmd=; name a .nnue or .hce.toml file or a UCI engine"));
    }
    let plain = Path::new(cmd);
    let is_bare = plain.components().count() == 1;
    let path = std::env::var_os("PATH").filter(|_| is_bare).unwrap_or_default();
    let mut places: Vec<PathBuf> = std::env::split_paths(&path).map(|folder| folder.join(plain)).collect();
    places.push(plain.to_path_buf());
    places.extend(dir.map(|dir| dir.join(plain)));
    let found = places.into_iter().find(|place| place.is_file());
    Ok(found.unwrap_or_else(|| plain.to_path_buf()))
}

/// Returns the file of a player that is a program, without starting it or reading more than its head.
pub fn program_path(spec: &Spec) -> Result<Option<PathBuf>> {
    if Evaluation::EMBEDDED.contains(&spec.cmd.as_str()) {
        return Ok(None);
    }
    let path = find(&spec.cmd, spec.dir.as_deref())?;
    if path.exists() && !path.is_file() {
        return Err(Error::data(path, "is not a regular file"));
    }
    let mut head = Vec::new();
    io::open(&path)?.take(4).read_to_end(&mut head).map_err(|e| Error::io(&path, e))?;
    Ok(is_program(&path, &head).then_some(path))
}

/// The digest of a program, and of the files that its arguments name; alone if they name none.
pub(super) fn with_argument_files(digest: String, spec: &Spec) -> Result<String> {
    let folder = spec.dir.as_deref().unwrap_or(Path::new(""));
    let mut all = digest;
    for argument in spec.args.iter().flatten() {
        let path = folder.join(argument);
        if path.is_file() {
            all = io::sha256(format!("{all} {}", sha256_of(&path)?).as_bytes());
        }
    }
    Ok(all)
}

fn sha256_of(path: &Path) -> Result<String> {
    let fault = |e| Error::io(path, e);
    let (file, digest) = (File::open(path).map_err(fault)?, Digest::new(Arc::default(), true));
    std::io::copy(&mut digest.reader(Box::new(file)), &mut std::io::sink()).map_err(fault)?;
    Ok(digest.so_far().0)
}

/// Magic numbers of programs: ELF, scripts, Windows, macOS.
const PROGRAMS: [&[u8]; 5] = [b"\x7fELF", b"#!", b"MZ", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"];

pub(super) fn limit_of(head: &[u8]) -> Option<Limit> {
    if begins_network(head) {
        Some(Limit::NETWORK)
    } else if PROGRAMS.iter().any(|magic| head.starts_with(magic)) {
        Some(Limit::PROGRAM)
    } else {
        // Weights are text.
        (!head.contains(&0)).then_some(Limit::WEIGHTS)
    }
}

pub(super) fn is_program(path: &Path, bytes: &[u8]) -> bool {
    let known = path.extension().is_some_and(|e| e == "nnue" || e == "toml");
    !known && PROGRAMS.iter().any(|magic| bytes.starts_with(magic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_arguments_name_are_part_of_a_programs_digest() {
        let folder = tempfile::tempdir().unwrap();
        let digest = |text: &str, script: &str| {
            std::fs::write(folder.path().join("eng.py"), script).unwrap();
            let spec = Spec { dir: Some(folder.path().into()), ..text.parse().unwrap() };
            with_argument_files("python".into(), &spec).unwrap()
        };
        let first = digest("cmd=python3 args='-u eng.py'", "one");
        assert_eq!(first, digest("cmd=python3 args='-u eng.py'", "one"));
        assert_ne!(first, digest("cmd=python3 args='-u eng.py'", "two"));
        assert_eq!(digest("cmd=python3 args='-u other.py'", "two"), "python");
        assert_eq!(digest("cmd=python3", "two"), "python");
    }

    #[test]
    #[cfg(unix)]
    fn a_bare_name_is_that_of_the_path() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("sh"), "").unwrap();
        std::fs::write(folder.path().join("an-engine-of-mine"), "").unwrap();
        let found = |cmd: &str| find(cmd, Some(folder.path())).unwrap();
        assert!(!found("sh").starts_with(folder.path()));
        assert_eq!(found("an-engine-of-mine"), folder.path().join("an-engine-of-mine"));
    }
}
