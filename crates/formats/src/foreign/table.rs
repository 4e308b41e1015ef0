//! Tables of positions with a column of FENs: what their columns mean, and the record of a row.
//!
//! CSV, JSON lines and Parquet share this. Columns are found by name, the dataset's own first; `--map` names
//! others.

use std::borrow::Cow;
use std::path::Path;
use std::str::FromStr;

use shakmaty::uci::UciMove;
use shakmaty::{Chess, Position};

use crate::capabilities::Capabilities;
use crate::fen::LineError;
use crate::notices::Notices;
use crate::{Leaf, MeanResult, Record};
use crate::{fen, replay};
use patzer_chess::score::MATE;
use patzer_chess::{PackedBoard, PackedMove};
use patzer_io::error::{Error, Result};
use patzer_pgn::parse_move;

/// Role of a table's column: its name in files of patzer, and its name in other files.
pub struct Role {
    pub name: &'static str,
    other: Option<&'static str>,
}

const fn role(name: &'static str, other: Option<&'static str>) -> Role {
    Role { name, other }
}

/// Every role, in the order of a CSV file; `mate` is read only.
pub static ROLES: [Role; 16] = [
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
];
pub const FEN: usize = 0;
const PLY: usize = 1;
const GAME: usize = 2;
pub const RESULT: usize = 3;
pub const SCORE: usize = 4;
const DEPTH: usize = 5;
pub const MOVE: usize = 6;
const FLAGS: usize = 7;
const TO_CAPTURE: usize = 8;
const TO_CHECK: usize = 9;
const TO_END: usize = 10;
pub const LEAF: usize = 11;
pub const MEAN: usize = 13;
pub const MATE_IN: usize = 15;

/// Columns of a table by role, as `--map` gives them, and the side that scores and mates speak for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Columns {
    names: Vec<(usize, String)>,
    /// True if scores speak for White; `None` to decide by the names.
    white: Option<bool>,
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
                ("side", "white") => columns.white = Some(true),
                ("side", "mover") => columns.white = Some(false),
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
    /// Names that a role's column may have, the likeliest first.
    pub fn names(&self, role: usize) -> impl Iterator<Item = &str> {
        let given = self.names.iter().find(|(given, _)| *given == role).map(|(_, name)| name.as_str());
        let usual = [Some(ROLES[role].name), ROLES[role].other].into_iter().flatten();
        given.into_iter().chain(usual.filter(move |_| given.is_none()))
    }

    /// Tests whether scores of a column speak for White: the dataset's `score` speaks for the side to move, `cp` and
    /// `mate` of Lichess for White; of another column `--map` has to say it.
    pub fn white(&self, score: Option<&str>) -> std::result::Result<bool, String> {
        match (self.white, score) {
            (Some(white), _) => Ok(white),
            (None, Some("score")) => Ok(false),
            (None, Some("cp") | None) => Ok(true),
            (None, Some(other)) => Err(format!(
                "whose side do the scores of the column `{other}` take? say it by a mapping, side=white or side=mover"
            )),
        }
    }
}

/// The scale of results, by what was seen: 0 is a loss on the scale from 0 to 1, a draw on that from −1 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scale {
    Signed,
    Unit,
}

/// Makes records of a table's rows.
#[derive(Debug, Default)]
pub struct Table {
    scale: Option<Scale>,
    /// True if results of a win and of a loss were seen as whole numbers, 1 and -1.
    won: bool,
    lost: bool,
    rows: u32,
}

/// Text of the column of a role in a row; `None` if it is empty or missing.
pub trait TableRow<'a>: Fn(usize) -> Option<Cow<'a, str>> {}
impl<'a, T: Fn(usize) -> Option<Cow<'a, str>>> TableRow<'a> for T {}

/// Facts that a table lacks, by the roles of its columns.
pub fn lacks(has: impl Fn(usize) -> bool) -> Capabilities {
    let moves = Capabilities::MOVE.and(Capabilities::DISTANCES);
    let of = [(GAME, Capabilities::GAME), (MOVE, moves)];
    of.into_iter().filter(|(role, _)| !has(*role)).fold(Capabilities::NONE, |all, (_, set)| all.and(set))
}

/// Finds the place of each role among the names of a table's columns, and whether scores speak for White.
pub fn find<S: AsRef<str>>(
    path: &Path,
    names: &[S],
    columns: &Columns,
    notices: &Notices,
) -> std::result::Result<([Option<usize>; ROLES.len()], bool), String> {
    let all = || names.iter().map(S::as_ref).collect::<Vec<_>>().join(", ");
    let mut places = [None; ROLES.len()];
    for (role, place) in places.iter_mut().enumerate() {
        let known = |name: &str| place_of(names, name);
        *place = columns.names(role).find_map(known);
        let asked = columns.names.iter().find(|(given, _)| *given == role);
        if let (None, Some((_, name))) = (*place, asked) {
            return Err(format!("has no column `{name}`; it has {}", all()));
        }
    }
    if places[FEN].is_none() {
        return Err(format!(
            "has no column `fen`; a mapping such as fen=NAME names another; it has {}",
            all()
        ));
    }
    let scored = places[SCORE].or(places[MATE_IN]).is_some();
    let white = scored && columns.white(places[SCORE].map(|place| names[place].as_ref()))?;
    let unread = names.iter().enumerate().filter(|(place, _)| !places.contains(&Some(*place)));
    announce(path, notices, white, places[RESULT].is_some(), unread.map(|(_, name)| name.as_ref()));
    Ok((places, white))
}

/// The place of a column, whose name may be in other letters, large or small, if that is the only one.
fn place_of<S: AsRef<str>>(names: &[S], name: &str) -> Option<usize> {
    let exact = names.iter().position(|column| column.as_ref() == name);
    let alike = |column: &(usize, &S)| column.1.as_ref().eq_ignore_ascii_case(name);
    exact.or_else(|| {
        let mut places = names.iter().enumerate().filter(alike).map(|(place, _)| place);
        places.next().filter(|_| places.next().is_none())
    })
}

/// Notice on choices that a table leaves open, and on its columns that are not read.
pub fn announce<'a>(
    path: &Path,
    notices: &Notices,
    white: bool,
    results: bool,
    unread: impl Iterator<Item = &'a str>,
) {
    let unread: Vec<&str> = unread.collect();
    if !unread.is_empty() {
        let names = unread.join(", ");
        notices.add(path, format!("columns not read: {names} (a mapping such as score=NAME reads others)"));
    }
    if white {
        notices.add(path, "scores are read as White's");
    }
    if !results {
        notices.add(path, "it has no results, so every game counts as drawn: train on scores alone");
    }
}

impl Table {
    /// Makes the record of the next row. `white`: whether scores speak for White.
    pub fn record<'a>(
        &mut self,
        row: impl TableRow<'a>,
        white: bool,
    ) -> std::result::Result<Record, LineError> {
        let position = fen::parse(&row(FEN).ok_or(LineError::Structure("no fen"))?)?;
        let mut record = replay::still(&position);
        let played = row(MOVE).map(|text| played(&position, &text)).transpose()?;
        let m = played.and_then(|packed| packed.unpack(&position));
        replay::annotate(&mut record, &position, m, score(&row, &position, white)?);
        record.ply = whole(&row, PLY)?.unwrap_or(record.ply);
        record.game = whole(&row, GAME)?.unwrap_or(self.rows);
        record.depth = whole(&row, DEPTH)?;
        record.flags = whole(&row, FLAGS)?.unwrap_or(record.flags);
        record.to_capture = whole(&row, TO_CAPTURE)?.unwrap_or(record.to_capture);
        record.to_check = whole(&row, TO_CHECK)?.unwrap_or(record.to_check);
        record.to_end = whole(&row, TO_END)?.unwrap_or(record.to_end);
        record.leaf = match (row(LEAF), whole(&row, LEAF + 1)?) {
            (Some(text), Some(score)) => {
                let leaf = fen::parse(&text)?;
                Some(Leaf { board: PackedBoard::pack(&leaf), turn: leaf.turn(), score })
            }
            _ => None,
        };
        record.mean = match (whole(&row, MEAN)?, whole(&row, MEAN + 1)?) {
            (Some(count), Some(sum)) => Some(MeanResult { count, sum }),
            _ => None,
        };
        if let Some(text) = row(RESULT) {
            record.result = self.result(&text)?;
        }
        self.rows = self.rows.wrapping_add(1);
        Ok(record)
    }

    /// Notice after the last row that zeros among its results count as draws, where ones and zeros alone leave it
    /// open.
    pub fn end(&self, path: &Path, notices: &Notices) {
        if self.scale == Some(Scale::Signed) && self.won && !self.lost {
            let text = "results are 1 and 0, none is -1: 0 is read as a draw; write losses as -1, or results as 1.0, 0.5, 0.0";
            notices.add(path, text);
        }
    }

    fn result(&mut self, text: &str) -> std::result::Result<i8, LineError> {
        let (result, scale) = match text {
            "1-0" => (1, None),
            "0-1" => (-1, None),
            "1/2-1/2" | "1/2" => (0, None),
            "1" | "1.0" => (1, None),
            "0.5" => (0, Some(Scale::Unit)),
            "0.0" => (-1, Some(Scale::Unit)),
            "0" => (0, Some(Scale::Signed)),
            "-1" => (-1, Some(Scale::Signed)),
            _ => {
                return Err(LineError::Column(
                    "result",
                    "is none of 1, 0, -1 (or 1.0, 0.5, 0.0; or 1-0, 1/2-1/2, 0-1)",
                ));
            }
        };
        match (self.scale, scale) {
            (Some(before), Some(now)) if before != now => Err(LineError::Column(
                "result",
                "is on another scale than those before: write 1, 0, -1 or 1.0, 0.5, 0.0",
            )),
            _ => {
                self.scale = self.scale.or(scale);
                self.won |= text == "1";
                self.lost |= text == "-1";
                Ok(result)
            }
        }
    }
}

/// A number, also as a floating-point number without a fraction.
#[inline]
fn whole<'a, T: FromStr>(row: &impl TableRow<'a>, role: usize) -> std::result::Result<Option<T>, LineError> {
    let Some(text) = row(role) else { return Ok(None) };
    let number = text.parse().ok().or_else(|| of_float(&text));
    number.map(Some).ok_or(LineError::Column(ROLES[role].name, "is not a number in range"))
}

#[cold]
fn of_float<T: FromStr>(text: &str) -> Option<T> {
    let number = text.parse::<f64>().ok().filter(|number| number.fract() == 0.0 && number.abs() < 1e15)?;
    (number as i64).to_string().parse().ok()
}

/// The score from the side to move. A mate, also `#3` among the scores, counts in moves: the side that mates makes an
/// odd number of plies.
fn score<'a>(
    row: &impl TableRow<'a>,
    position: &Chess,
    white: bool,
) -> std::result::Result<Option<i16>, LineError> {
    let turned = white && position.turn().is_black();
    let mate = row(SCORE).and_then(|text| text.strip_prefix('#').map(str::parse));
    let mate = mate.transpose().map_err(|_| LineError::Column("score", "is not a number in range"))?;
    if let Some(moves) = mate.or(whole::<i16>(row, MATE_IN)?) {
        let moves = i32::from(moves) * if turned { -1 } else { 1 };
        let plies = if moves > 0 { 2 * moves - 1 } else { 2 * -moves };
        if plies >= 1000 {
            return Err(LineError::Column("mate", "is not a number in range"));
        }
        return Ok(Some((if moves > 0 { MATE - plies } else { plies - MATE }) as i16));
    }
    let no_score = |_| LineError::Column("score", "is not a whole number of centipawns in range");
    let score = whole::<i16>(row, SCORE).map_err(no_score)?;
    Ok(score.map(|score| if turned { score.saturating_neg() } else { score }))
}

/// The first move of a text, in UCI notation or else in SAN.
fn played(position: &Chess, text: &str) -> std::result::Result<PackedMove, LineError> {
    let first = text.split_once(' ').map_or(text, |(first, _)| first);
    let m = first.parse::<UciMove>().ok().and_then(|m| m.to_move(position).ok());
    let m = m.or_else(|| parse_move(position, first));
    m.map(PackedMove::pack).ok_or_else(|| LineError::text(text, "not a legal move"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row<'a>(cells: &'a [(usize, &'a str)]) -> impl TableRow<'a> {
        move |role| cells.iter().find(|cell| cell.0 == role).map(|cell| Cow::Borrowed(cell.1))
    }

    const BLACK: &str = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";

    #[test]
    fn scores_and_mates_are_turned_to_the_side_to_move() {
        for (role, text, white, score) in [
            (SCORE, "30", true, -30),
            (SCORE, "30", false, 30),
            (SCORE, "-30.0", true, 30),
            (SCORE, "#3", true, -31_994),
            (SCORE, "#-3", true, 31_995),
            (SCORE, "#+1", false, 31_999),
            (MATE_IN, "3", true, -31_994),
            (MATE_IN, "-3", true, 31_995),
            (MATE_IN, "1", false, 31_999),
            (MATE_IN, "0", false, -32_000),
        ] {
            let record = Table::default().record(row(&[(FEN, BLACK), (role, text)]), white).unwrap();
            assert_eq!(record.score, Some(score), "{text} {white}");
        }
        for cell in [(SCORE, "#-32768"), (MATE_IN, "-32768"), (MATE_IN, "501")] {
            let error = Table::default().record(row(&[(FEN, BLACK), cell]), true).unwrap_err();
            assert_eq!(error.to_string(), "mate is not a number in range");
        }
        for bad in ["#", "#x", "#99999"] {
            let error = Table::default().record(row(&[(FEN, BLACK), (SCORE, bad)]), false).unwrap_err();
            assert_eq!(error.to_string(), "score is not a number in range", "{bad}");
        }
        for bad in ["30.5", "0.35", "40000"] {
            let error = Table::default().record(row(&[(FEN, BLACK), (SCORE, bad)]), false).unwrap_err();
            assert_eq!(error.to_string(), "score is not a whole number of centipawns in range", "{bad}");
        }
    }

    #[test]
    fn results_of_both_scales_are_read_but_not_mixed() {
        let read = |texts: &[&str]| {
            let mut table = Table::default();
            texts.iter().map(|text| table.result(text)).collect::<std::result::Result<Vec<_>, _>>()
        };
        assert_eq!(read(&["1", "0", "-1"]).unwrap(), [1, 0, -1]);
        assert_eq!(read(&["1.0", "0.5", "0.0"]).unwrap(), [1, 0, -1]);
        assert_eq!(read(&["1-0", "1/2-1/2", "0-1"]).unwrap(), [1, 0, -1]);
        assert!(read(&["1", "0.5", "0"]).is_err());
        assert!(read(&["2"]).is_err());
    }

    #[test]
    fn zeros_that_may_be_losses_are_said_to_be_draws() {
        let said = |name: &str, texts: &[&str]| {
            let (mut table, notices) = (Table::default(), Notices::default());
            texts.iter().for_each(|text| assert!(table.result(text).is_ok(), "{text}"));
            table.end(Path::new(name), &notices);
            let said = notices.take();
            said.iter().any(|(path, text)| path == Path::new(name) && text.contains("read as a draw"))
        };
        assert!(said("ones and zeros", &["1", "0", "1"]));
        for (name, texts) in [
            ("signed", &["1", "0", "-1"][..]),
            ("unit", &["1", "0.5", "0.0"]),
            ("decimal", &["1.0", "0.0"]),
            ("wins", &["1", "1"]),
            ("draws", &["0", "0"]),
        ] {
            assert!(!said(name, texts), "{name}");
        }
    }

    #[test]
    fn the_side_of_scores_is_known_or_asked_for() {
        let find =
            |names: &[&str], columns: &Columns| find(Path::new("x"), names, columns, &Notices::default());
        let usual = Columns::default();
        assert!(find(&["fen", "cp", "mate"], &usual).unwrap().1);
        assert!(!find(&["fen", "score"], &usual).unwrap().1);
        let (places, white) = find(&["FEN", "Eval", "Result"], &usual).unwrap();
        assert_eq!((places[FEN], places[RESULT], white), (Some(0), Some(2), false));
        assert_eq!(find(&["FEN", "fen"], &usual).unwrap().0[FEN], Some(1));
        assert!(find(&["FEN", "Fen"], &usual).is_err());
        assert!(find(&["FEN", "Score"], &usual).unwrap_err().contains("side=white"));
        let named: Columns = "fen=board,score=eval".parse().unwrap();
        assert!(find(&["board", "eval"], &named).unwrap_err().contains("side=white"));
        let named: Columns = "fen=board,score=eval,side=white".parse().unwrap();
        let (places, white) = find(&["eval", "board", "result"], &named).unwrap();
        assert_eq!((places[FEN], places[SCORE], places[RESULT], white), (Some(1), Some(0), Some(2), true));
        assert!(find(&["eval"], &named).unwrap_err().contains("no column `board`; it has eval"));
        assert!("fen".parse::<Columns>().is_err() && "nonsense=x".parse::<Columns>().is_err());
    }

    #[test]
    fn moves_are_read_in_uci_notation_and_in_san() {
        let position = Chess::default();
        for text in ["g1f3", "Nf3", "g1f3 d7d5", "Nf3 d5", "Ng1-f3"] {
            let m = played(&position, text).unwrap().unpack(&position).unwrap();
            assert_eq!(m.to_string(), "Ng1-f3", "{text}");
        }
        for text in ["e7e5", "Nd4", "x", ""] {
            assert!(played(&position, text).is_err(), "{text}");
        }
    }
}
