//! The columns of `patzer data show`, and boards drawn with letters.

use serde_json::Value;
use shakmaty::{CastlingMode, Chess, Color, Square, san::SanPlus};

use super::{FAR, Record, flags};
use patzer_chess::packed::NO_EP;
use patzer_chess::{PackedBoard, PackedMove};
use patzer_formats::{fen, visits};
use patzer_io::error::{Error, Result};

pub use super::show_rows::{Selection, rows};

#[derive(Debug)]
pub struct Column {
    pub name: &'static str,
    /// Meaning, with the unit.
    pub about: &'static str,
    /// Value; null if there is none.
    pub value: fn(&Shown<'_>) -> Value,
}

/// A record with its place in the file.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    pub row: u64,
    pub record: &'a Record,
    /// The record's position, if legal.
    pub position: Option<&'a Chess>,
    pub visits: &'a [(PackedMove, u32)],
}

const fn column(name: &'static str, about: &'static str, value: fn(&Shown<'_>) -> Value) -> Column {
    Column { name, about, value }
}

pub static COLUMNS: &[Column] = &[
    column("row", "place in the file, from 0", |s| s.row.into()),
    column("game", "number of the game, from 0", |s| s.record.game.into()),
    column("ply", "plies before the position", |s| s.record.ply.into()),
    column("fen", "the position as FEN", |s| text(|line| fen::six(line, s.record))),
    column("move", "the move played, as UCI has it", |s| uci(s).into()),
    column("san", "the move played, as people write it", |s| san(s).into()),
    column("score", "centipawns for the side to move; mates are ±(32000 − plies)", |s| {
        s.record.score.into()
    }),
    column("depth", "depth of the score", |s| s.record.depth.into()),
    column("result", "1, 0 or -1 for White", |s| s.record.result.into()),
    column("flags", "what holds of the position, its move and its game", |s| flag_names(s.record).into()),
    column("to_capture", "plies before the next capture; none within 254: null", |s| {
        distance(s.record.to_capture)
    }),
    column("to_check", "plies before the next move that gives check", |s| distance(s.record.to_check)),
    column("to_end", "plies before the last move of the game", |s| distance(s.record.to_end)),
    column("leaf", "the position that it was resolved to, as EPD", |s| leaf(s.record)),
    column("leaf_score", "static evaluation of that, centipawns for its side to move", |s| {
        s.record.leaf.map(|leaf| leaf.score).into()
    }),
    column("best", "the teacher's best move, as UCI has it", |s| best(s).into()),
    column("wdl", "the teacher's wins, draws and losses in a thousand, for the side to move", |s| {
        s.record.wdl.map(|wdl| format!("{} {} {}", wdl.win, wdl.draw, wdl.loss())).into()
    }),
    column(visits::NAME, "visits of each move by the search by playouts, the most visited first", |s| {
        visits(s).into()
    }),
];

pub fn named(name: &str) -> Result<&'static Column> {
    let names = || COLUMNS.iter().map(|column| column.name).collect::<Vec<_>>().join(", ");
    let unknown = || Error::usage(format!("there is no column `{name}`; there are {}", names()));
    COLUMNS.iter().find(|column| column.name == name).ok_or_else(unknown)
}

pub fn help() -> String {
    let rows = COLUMNS.iter().map(|column| format!("  {:<11} {}\n", column.name, column.about));
    format!("Columns:\n{}", rows.collect::<String>())
}

/// Formats a value for the text table; `-` if there is none.
pub fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".into(),
        Value::String(text) if text.is_empty() => "-".into(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Draws the board as eight lines of letters, White below, and the side to move.
pub fn board(record: &Record) -> String {
    let squares = format!("{:?}", record.board.pieces().collect::<shakmaty::Board>());
    let ranks = squares.lines().zip((1..=8).rev());
    let text: String = ranks.map(|(row, rank)| format!("{rank}  {row}\n")).collect();
    let turn = if record.turn == Color::White { "White" } else { "Black" };
    let ep = Square::try_from(record.ep).ok().filter(|_| record.ep != NO_EP);
    let ep = ep.map_or(String::new(), |square| format!(", en passant {square}"));
    text + &format!("   a b c d e f g h   {turn} to move{ep}\n")
}

fn text(write: impl FnOnce(&mut Vec<u8>)) -> Value {
    let mut line = Vec::new();
    write(&mut line);
    String::from_utf8_lossy(&line).into_owned().into()
}

fn distance(plies: u8) -> Value {
    (plies != FAR).then_some(plies).into()
}

fn uci(shown: &Shown<'_>) -> Option<String> {
    move_text(shown, shown.record.played)
}

fn best(shown: &Shown<'_>) -> Option<String> {
    move_text(shown, shown.record.best)
}

fn visits(shown: &Shown<'_>) -> Option<String> {
    let entry = |(m, count): &(PackedMove, u32)| Some(format!("{}:{count}", move_text(shown, *m)?));
    let entries: Vec<String> = shown.visits.iter().filter_map(entry).collect();
    (!entries.is_empty()).then(|| entries.join(" "))
}

fn move_text(shown: &Shown<'_>, m: PackedMove) -> Option<String> {
    let m = m.unpack(shown.position?)?;
    let mode = CastlingMode::from_chess960(shown.record.has(flags::CHESS960));
    Some(m.to_uci(mode).to_string())
}

fn san(shown: &Shown<'_>) -> Option<String> {
    let position = shown.position?;
    let m = shown.record.played.unpack(position)?;
    let legal = shakmaty::Position::is_legal(position, m);
    legal.then(|| SanPlus::from_move(position.clone(), m).to_string())
}

fn flag_names(record: &Record) -> String {
    let all = [
        (flags::CAPTURE, "capture"),
        (flags::PROMOTION, "promotion"),
        (flags::IN_CHECK, "in_check"),
        (flags::GIVES_CHECK, "gives_check"),
        (flags::MATE_END, "mate_end"),
        (flags::BOOK, "book"),
        (flags::MATE_SCORE, "mate_score"),
        (flags::CHESS960, "chess960"),
        (flags::PLACEHOLDER, "placeholder"),
    ];
    let names: Vec<&str> = all.iter().filter(|(bit, _)| record.has(*bit)).map(|(_, name)| *name).collect();
    names.join(" ")
}

fn leaf(record: &Record) -> Value {
    let four = |board: &PackedBoard, turn| text(|line| fen::four(line, board, turn, NO_EP));
    record.leaf.map_or(Value::Null, |leaf| four(&leaf.board, leaf.turn))
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_formats::EMPTY;

    #[test]
    fn a_board_is_drawn_as_white_sees_it() {
        let position = patzer_chess::fen::position("r3k2r/8/8/8/3Pp3/8/8/4K2R b Kkq d3 0 1", true).unwrap();
        let ep = patzer_chess::packed::ep_code(&position);
        let record = Record { board: PackedBoard::pack(&position), turn: Color::Black, ep, ..EMPTY };
        let expected = "\
            8  r . . . k . . r\n7  . . . . . . . .\n6  . . . . . . . .\n5  . . . . . . . .\n\
            4  . . . P p . . .\n3  . . . . . . . .\n2  . . . . . . . .\n1  . . . . K . . R\n   \
            a b c d e f g h   Black to move, en passant d3\n";
        assert_eq!(board(&record), expected);
    }
}
