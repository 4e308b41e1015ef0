//! Columns of tables of positions: their roles, and what they are called in files of patzer and of others.

use std::str::FromStr;

use crate::score_reading::ScoreReading;
use patzer_io::error::{Error, Result};

/// Role of a table's column: its name in files of patzer, and its name in other files.
pub struct Role {
    pub name: &'static str,
    other: Option<&'static str>,
}

const fn role(name: &'static str, other: Option<&'static str>) -> Role {
    Role { name, other }
}

/// Every role, in the order of a CSV file; `mate` and `knodes` are read only.
pub static ROLES: [Role; 17] = [
    role("fen", None),
    role("ply", None),
    role("game", None),
    role("result", None),
    role("score", Some("cp")),
    role("depth", None),
    role("move", Some("line")),
    role("flags", None),
    role("to_capture", None),
    role("to_check", None),
    role("to_end", None),
    role("leaf", None),
    role("leaf_score", None),
    role("mean_count", None),
    role("mean_sum", None),
    role("mate", None),
    role("knodes", None),
];
pub const FEN: usize = 0;
pub const PLY: usize = 1;
pub const GAME: usize = 2;
pub const RESULT: usize = 3;
pub const SCORE: usize = 4;
pub const DEPTH: usize = 5;
pub const MOVE: usize = 6;
pub const FLAGS: usize = 7;
pub const TO_CAPTURE: usize = 8;
pub const TO_CHECK: usize = 9;
pub const TO_END: usize = 10;
pub const LEAF: usize = 11;
pub const MEAN: usize = 13;
pub const MATE_IN: usize = 15;
pub const KNODES: usize = 16;

/// Columns of a table by role, as `--map` gives them, and how scores and mates are read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Columns {
    pub names: Vec<(usize, String)>,
    pub scores: ScoreReading,
}

impl FromStr for Columns {
    type Err = Error;

    fn from_str(text: &str) -> Result<Columns> {
        let mut columns = Columns::default();
        for part in text.split(',') {
            let invalid = || Error::usage(format!("{part}: write it as fen=NAME,score=NAME,side=white"));
            let (key, name) =
                part.split_once('=').filter(|(_, name)| !name.is_empty()).ok_or_else(invalid)?;
            match (key, name) {
                ("side", "white") => columns.scores.white = Some(true),
                ("side", "mover") => columns.scores.white = Some(false),
                ("side", _) => {
                    return Err(Error::usage(format!("side={name}: scores speak for white or mover")));
                }
                _ => {
                    let known = || ROLES.iter().map(|role| role.name).collect::<Vec<_>>().join(", ");
                    let role = ROLES.iter().position(|role| role.name == key);
                    let role =
                        role.ok_or_else(|| Error::usage(format!("{key}: known are {}, side", known())))?;
                    columns.names.push((role, name.to_string()));
                }
            }
        }
        Ok(columns)
    }
}

impl Columns {
    /// Tests whether a column is named.
    pub fn are_named(&self) -> bool {
        !self.names.is_empty()
    }

    /// Names that a role's column may have, the likeliest first.
    pub fn names(&self, role: usize) -> impl Iterator<Item = &str> {
        let given = self.names.iter().find(|(given, _)| *given == role).map(|(_, name)| name.as_str());
        let usual = [Some(ROLES[role].name), ROLES[role].other].into_iter().flatten();
        given.into_iter().chain(usual.filter(move |_| given.is_none()))
    }

    /// Tests whether scores of a column speak for White: the dataset's `score` speaks for the side to move, `cp` and
    /// `mate` of Lichess for White; of another column `--map` has to say it.
    pub fn white(&self, score: Option<&str>) -> std::result::Result<bool, String> {
        match (self.scores.white, score) {
            (Some(white), _) => Ok(white),
            (None, Some("score")) => Ok(false),
            (None, Some("cp") | None) => Ok(true),
            (None, Some(other)) => Err(format!(
                "whose side do the scores of the column `{other:.60}` take? say it by a mapping, side=white or side=mover"
            )),
        }
    }
}
