//! Reading of the scores of one file, with a user's options.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use patzer_io::Named;
use patzer_io::error::{Error, Result};
use serde::{Deserialize, Serialize};
use shakmaty::Color;

use crate::dialect::{Conventions, Side, Unit};
use crate::pattern::Pattern;
use crate::tags::{Tags, plain};

patzer_io::named! {
    /// Point of view of the scores in comments.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum EvalSide {
        #[default]
        Auto: "auto", "As the dialect says, or as the data show where it leaves the side open";
        White: "white", "White, in every dialect";
        Mover: "mover", "The player of the commented move, in every dialect";
    }
}

impl EvalSide {
    pub fn side(self) -> Option<Side> {
        match self {
            EvalSide::Auto => None,
            EvalSide::White => Some(Side::White),
            EvalSide::Mover => Some(Side::Mover),
        }
    }
}

/// A value for one source, or for all sources without an own one: `cp`, `games.pgn=cp`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PerSource<T> {
    pub source: Option<String>,
    pub value: T,
}

impl<T> PerSource<T> {
    /// Parses `VALUE` or `SOURCE=VALUE` with `value` for the value.
    fn split(text: &str, value: impl Fn(&str) -> Result<T>) -> Result<PerSource<T>> {
        let (source, word) = match text.rsplit_once('=') {
            Some((source, word)) => (Some(source.to_string()), word),
            None => (None, text),
        };
        Ok(PerSource { source, value: value(word)? })
    }

    /// The value for a file: the last one given for it, else the last one for all.
    pub fn value_for<'a>(all: &'a [PerSource<T>], path: &Path) -> Option<&'a T> {
        let own = all.iter().rev().find(|one| one.source.as_deref().is_some_and(|name| names(name, path)));
        own.or_else(|| all.iter().rev().find(|one| one.source.is_none())).map(|one| &one.value)
    }
}

/// Tests whether a user's SOURCE names a file: its path or its last component.
fn names(source: &str, path: &Path) -> bool {
    Path::new(source) == path || path.file_name().is_some_and(|name| name.to_str() == Some(source))
}

impl<T: Named> FromStr for PerSource<T> {
    type Err = Error;

    fn from_str(text: &str) -> Result<PerSource<T>> {
        PerSource::split(text, |word| {
            T::named(&word.to_lowercase())
                .map_err(|error| Error::usage(format!("{error}; write VALUE or SOURCE=VALUE")))
        })
    }
}

/// A factor for scores, above 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Factor(pub f64);

impl FromStr for PerSource<Factor> {
    type Err = Error;

    fn from_str(text: &str) -> Result<PerSource<Factor>> {
        PerSource::split(text, str::parse)
    }
}

impl FromStr for Factor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Factor> {
        match text.parse::<f64>() {
            Ok(factor) if factor.is_finite() && factor > 0.0 => Ok(Factor(factor)),
            _ => Err(Error::usage(format!("`{text}` is not a number above 0"))),
        }
    }
}

/// A user's options for the scores in comments.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ScoreOptions {
    pub side: Vec<PerSource<EvalSide>>,
    pub unit: Vec<PerSource<Unit>>,
    pub scale: Vec<PerSource<Factor>>,
    /// Players whose scores are kept; all if empty.
    pub of: Vec<Pattern>,
}

impl ScoreOptions {
    /// An error for a SOURCE that names no file.
    pub fn check(&self, files: &[PathBuf]) -> Result<()> {
        let side = self.side.iter().filter_map(|one| one.source.as_ref());
        let unit = self.unit.iter().filter_map(|one| one.source.as_ref());
        let scale = self.scale.iter().filter_map(|one| one.source.as_ref());
        match side.chain(unit).chain(scale).find(|source| !files.iter().any(|path| names(source, path))) {
            Some(source) => Err(Error::usage(format!("`{source}` is none of the files of games"))),
            None => Ok(()),
        }
    }

    pub(crate) fn side_of(&self, path: &Path) -> Option<Side> {
        PerSource::value_for(&self.side, path).and_then(|side| side.side())
    }

    pub(crate) fn unit_of(&self, path: &Path) -> Option<Unit> {
        PerSource::value_for(&self.unit, path).copied()
    }

    pub(crate) fn scale_of(&self, path: &Path) -> f64 {
        PerSource::value_for(&self.scale, path).map_or(1.0, |factor| factor.0)
    }
}

/// Reading of the scores of one file.
#[derive(Debug, Clone)]
pub struct Scoring {
    pub conventions: Conventions,
    /// Factor of all scores but mates.
    pub scale: f64,
    pub of: Vec<Pattern>,
}

impl Default for Scoring {
    fn default() -> Scoring {
        Scoring { conventions: Conventions::default(), scale: 1.0, of: Vec::new() }
    }
}

impl Scoring {
    /// Sides whose moves' scores are kept, by `Color as usize`.
    pub(crate) fn keeps(&self, tags: Tags<'_>) -> [bool; 2] {
        let mut keeps = [self.of.is_empty(); 2];
        if keeps == [true; 2] {
            return keeps;
        }
        for (name, value) in tags.iter() {
            let color = match name {
                b"White" => Color::White,
                b"Black" => Color::Black,
                _ => continue,
            };
            let value = plain(value);
            keeps[color as usize] = self.of.iter().any(|pattern| pattern.matches(&value));
        }
        keeps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_for_a_source_goes_before_the_one_for_all() {
        let all: Vec<PerSource<Unit>> =
            ["cp", "a.pgn=pawn", "x/b.pgn=pawn"].iter().map(|text| text.parse().unwrap()).collect();
        for (path, unit) in [
            ("a.pgn", Unit::Pawn),
            ("games/a.pgn", Unit::Pawn),
            ("x/b.pgn", Unit::Pawn),
            ("y/b.pgn", Unit::Cp),
        ] {
            assert_eq!(PerSource::value_for(&all, Path::new(path)), Some(&unit), "{path}");
        }
        let options = ScoreOptions { unit: all, ..ScoreOptions::default() };
        assert!(options.check(&["a.pgn".into(), "x/b.pgn".into()]).is_ok());
        assert!(options.check(&["a.pgn".into()]).unwrap_err().to_string().contains("`x/b.pgn`"));
        assert!("a.pgn=inch".parse::<PerSource<Unit>>().unwrap_err().to_string().contains("`inch`"));
        assert!("0".parse::<PerSource<Factor>>().is_err());
    }
}
