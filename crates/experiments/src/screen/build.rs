//! Builds of an engine, each with changes compiled in, read from lines of text.

use std::path::Path;

use super::factor::names_of_pair;
use super::{Factor, Factors, Levels};
use crate::lines;
use patzer_io::error::{Error, Result};

/// A player, as a file or as words of `--engine`, and its levels.
#[derive(Debug, Clone, PartialEq)]
pub struct Build {
    pub player: String,
    pub levels: Levels,
}

/// Reads a file of builds, `PLAYER: CHANGE, CHANGE, ...` each, with the changes as factors in the order of their names'
/// first lines; `A*B` asks for an interaction.
pub fn read_builds(path: &Path) -> Result<(Vec<Build>, Factors)> {
    let mut factors = Factors::default();
    let (mut builds, mut pairs) = (Vec::new(), Vec::new());
    for (at, line) in lines::read(path)? {
        // A Windows path has a colon, too.
        match (line.rsplit_once(':'), names_of_pair(&line)) {
            (Some((player, changes)), _) => {
                let changes: Vec<String> = changes
                    .split(',')
                    .map(|name| name.trim().to_string())
                    .filter(|name| !name.is_empty())
                    .collect();
                changes.iter().for_each(|name| factors.note(name));
                builds.push((player.trim().to_string(), changes));
            }
            (None, Some(names)) => pairs.push((at, names)),
            (None, None) => {
                return Err(Error::at(path, at, format!("`{line}` is not PLAYER: CHANGE, CHANGE")));
            }
        }
    }
    factors.add_interactions(path, pairs)?;
    if builds.len() < 2 || factors.factors.is_empty() {
        return Err(Error::data(path, "a screen of builds has two builds or more, and a change"));
    }
    let levels = |changes: &[String]| {
        factors.factors.iter().map(|factor| u8::from(changes.contains(&factor.name))).collect()
    };
    let builds =
        builds.iter().map(|(player, changes)| Build { player: player.clone(), levels: levels(changes) });
    Ok((builds.collect(), factors.clone()))
}

impl Factors {
    fn note(&mut self, name: &str) {
        if self.factors.iter().all(|factor| factor.name != name) {
            self.factors.push(Factor { name: name.to_string(), settings: Vec::new() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_are_read_with_their_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("builds.txt");
        std::fs::write(&path, "./base:\n./one: lmr\ncmd=C:/two args=x: lmr, null move\nlmr*null move\n")
            .unwrap();
        let (builds, factors) = read_builds(&path).unwrap();
        let read: Vec<_> =
            builds.iter().map(|build| (build.player.as_str(), build.levels.as_slice())).collect();
        assert_eq!(read, [("./base", &[0, 0][..]), ("./one", &[1, 0]), ("cmd=C:/two args=x", &[1, 1])]);
        assert_eq!(factors.interactions, [[0, 1]]);
        for (text, says) in
            [("./base\n", "line 1: `./base` is not PLAYER"), ("./base:\n", "two builds or more")]
        {
            std::fs::write(&path, text).unwrap();
            let error = read_builds(&path).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
