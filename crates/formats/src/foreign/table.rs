//! Tables of positions with a column of FENs: their columns, found by name, and the record of a row. CSV, JSON lines and
//! Parquet share this.

use std::borrow::Cow;
use std::path::Path;
use std::str::FromStr;

use shakmaty::uci::UciMove;
use shakmaty::{Chess, Position};

use crate::capabilities::Capabilities;
use crate::fen::LineError;
use crate::foreign::columns::{
    Columns, DEPTH, FEN, FLAGS, GAME, KNODES, LEAF, MATE_IN, MEAN, MOVE, PLY, RESULT, ROLES, SCORE,
    TO_CAPTURE, TO_CHECK, TO_END,
};
use crate::foreign::evaluations::Evaluations;
use crate::notices::Notices;
use crate::score_reading::ScoreReading;
use crate::{Leaf, MeanResult, Record};
use crate::{fen, replay};
use patzer_chess::score::MATE;
use patzer_chess::{PackedBoard, PackedMove};
use patzer_io::few_names;
use patzer_pgn::parse_move;

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
    scores: ScoreReading,
    /// Present if rows are lines of Lichess's evaluations.
    evaluations: Option<Evaluations>,
}

/// Text of the column of a role in a row; `None` if it is empty or missing.
pub trait TableRow<'a>: Fn(usize) -> Option<Cow<'a, str>> {}
impl<'a, T: Fn(usize) -> Option<Cow<'a, str>>> TableRow<'a> for T {}

/// Facts that a table lacks, by the roles of its columns and the first FEN.
pub fn lacks(has: impl Fn(usize) -> bool, fen: Option<&str>) -> Capabilities {
    let fields = fen.map_or(6, |fen| fen.split_ascii_whitespace().count());
    let lacking = [
        (!has(GAME), Capabilities::GAME),
        (!has(MOVE), Capabilities::MOVE.and(Capabilities::DISTANCES)),
        (!has(PLY), Capabilities::PLY),
        (fields < 5, Capabilities::HALFMOVE),
        (fields < 6, Capabilities::FULLMOVE),
    ];
    lacking.into_iter().filter(|(lacks, _)| *lacks).fold(Capabilities::NONE, |all, (_, set)| all.and(set))
}

/// Finds the place of each role among the names of a table's columns, and whether scores speak for White.
pub fn find<S: AsRef<str>>(
    path: &Path,
    names: &[S],
    columns: &Columns,
    notices: &Notices,
) -> std::result::Result<([Option<usize>; ROLES.len()], bool), String> {
    let all = || few_names(names);
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
    let unread: Vec<&str> = unread.map(|(_, name)| name.as_ref()).collect();
    announce(path, notices, white, [scored, places[RESULT].is_some()], &unread);
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

/// Notice on choices that a table leaves open, and on its columns that are not read. `has`: scores, results.
pub fn announce(path: &Path, notices: &Notices, white: bool, has: [bool; 2], unread: &[&str]) {
    if !unread.is_empty() {
        let names = few_names(unread);
        notices.add(path, format!("columns not read: {names} (a mapping such as score=NAME reads others)"));
    }
    if white {
        notices.add(path, "scores are read as White's");
    }
    match has {
        [_, true] => {}
        [true, false] => {
            notices.add(path, "it has no results, so every game counts as drawn: train on scores alone")
        }
        [false, false] => {
            notices.add(path, "it has neither scores nor results that are read; every game counts as drawn")
        }
    }
}

impl Table {
    /// A table with columns of these roles.
    pub fn new(columns: &Columns, has: impl Fn(usize) -> bool) -> Table {
        let evaluations = Evaluations::are(has).then(Evaluations::default);
        Table { scores: columns.scores, evaluations, ..Table::default() }
    }

    /// Tests whether several rows may be one position.
    pub fn merges(&self) -> bool {
        self.evaluations.is_some()
    }

    /// Appends the position of the next row; of evaluations, the one before if the row begins another.
    pub fn take<'a>(
        &mut self,
        row: impl TableRow<'a>,
        white: bool,
        records: &mut Vec<Record>,
    ) -> std::result::Result<(), LineError> {
        let Some(evaluations) = &mut self.evaluations else {
            records.push(self.record(row, white)?);
            return Ok(());
        };
        let fen = row(FEN).unwrap_or_default();
        let effort = (whole(&row, DEPTH)?.unwrap_or(0), whole(&row, KNODES)?.unwrap_or(0));
        if let Some(game) = evaluations.count(&fen, effort) {
            let record = Record { game, ..self.record(&row, white)? };
            records.extend(self.evaluations.as_mut().and_then(|all| all.put(&fen, effort, record)));
        }
        Ok(())
    }

    /// Makes the record of the next row. `white`: whether scores speak for White.
    fn record<'a>(&mut self, row: impl TableRow<'a>, white: bool) -> std::result::Result<Record, LineError> {
        let position = fen::parse(&row(FEN).ok_or(LineError::Structure("no fen"))?)?;
        let mut record = replay::still(&position);
        let played = row(MOVE).map(|text| played(&position, &text)).transpose()?;
        let m = played.and_then(|packed| packed.unpack(&position));
        replay::annotate(&mut record, &position, m, score(&row, &position, white, self.scores)?);
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

    /// Ends the table: appends the last position of evaluations, and notes that zeros among the results count as draws,
    /// where ones and zeros alone leave it open.
    pub fn end(&mut self, path: &Path, notices: &Notices, records: &mut Vec<Record>) {
        records.extend(self.evaluations.as_mut().and_then(|all| all.end(path, notices)));
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
    scores: ScoreReading,
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
    let Some(text) = row(SCORE) else { return Ok(None) };
    let whole = text.parse().ok().filter(|_| scores.scale.is_none());
    let number = || text.parse().ok().and_then(|number| scores.centipawns(number));
    let score = whole.or_else(number).ok_or(LineError::Column(
        "score",
        "is not a whole number of centipawns in range; scores in pawns need the factor 100",
    ))?;
    Ok(Some(if turned { score.saturating_neg() } else { score }))
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
            assert_eq!(
                error.to_string(),
                "score is not a whole number of centipawns in range; scores in pawns need the factor 100",
                "{bad}"
            );
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
            table.end(Path::new(name), &notices, &mut Vec::new());
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
