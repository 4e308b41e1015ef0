//! CSV with every column of the dataset: boards as FEN, moves as UCI, other columns as in the native format.
//!
//! Reading needs `fen` and `result`.

use std::io::Write;

use csv::ByteRecord;
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Position};

use super::any::PositionReader;
use super::capabilities::{self, Capabilities};
use super::fen::LineError;
use super::stream::Input;
use super::{fen, replay};
use crate::{Leaf, Record};
use patzer_chess::packed::NO_EP;
use patzer_chess::{PackedBoard, PackedMove};
use patzer_io::error::{Error, Result};

/// Columns in file order; the last two only for resolved positions.
const COLUMNS: [&str; 13] = [
    "fen",
    "ply",
    "game",
    "result",
    "score",
    "depth",
    "move",
    "flags",
    "to_capture",
    "to_check",
    "to_end",
    "leaf",
    "leaf_score",
];
const WITHOUT_LEAF: usize = 11;

pub fn recognise(head: &[u8]) -> bool {
    let line = head.split(|b| *b == b'\n').next().unwrap_or_default();
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    line.contains(&b',') && line.split(|b| *b == b',').any(|name| name.trim_ascii() == b"fen")
}

pub struct Reader {
    path: std::path::PathBuf,
    lines: csv::Reader<Input>,
    /// Index of each of [`COLUMNS`] in the file.
    place: [Option<usize>; COLUMNS.len()],
    line: ByteRecord,
    rows: u32,
}

impl Reader {
    pub fn new(input: Input) -> Result<Reader> {
        let path = input.path().to_path_buf();
        let mut lines = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(input);
        let header = lines.byte_headers().map_err(|e| read_error(&path, &e))?;
        let find = |name: &str| header.iter().position(|column| column == name.as_bytes());
        let place = COLUMNS.map(find);
        if place[0].is_none() || place[3].is_none() {
            return Err(Error::at(&path, "line 1", "the header lacks a column `fen` or `result`"));
        }
        Ok(Reader { path, lines, place, line: ByteRecord::new(), rows: 0 })
    }
}

fn read_error(path: &std::path::Path, error: &csv::Error) -> Error {
    match error.position() {
        Some(position) => Error::at(path, format!("line {}", position.line()), error.to_string()),
        None => Error::data(path, error.to_string()),
    }
}

impl PositionReader for Reader {
    fn read(&mut self, records: &mut Vec<Record>) -> Result<bool> {
        if !self.lines.read_byte_record(&mut self.line).map_err(|e| read_error(&self.path, &e))? {
            return Ok(false);
        }
        let record = self.decode();
        records.push(record.map_err(|reason| {
            let line = self.line.position().map_or(0, csv::Position::line);
            Error::at(&self.path, format!("line {line}"), reason.to_string())
        })?);
        self.rows = self.rows.wrapping_add(1);
        Ok(true)
    }

    fn resolved(&self) -> Option<String> {
        self.place[WITHOUT_LEAF].map(|_| "as the file says".into())
    }
}

impl Reader {
    /// The text of a column; `None` if it is empty or missing.
    fn text(&self, column: usize) -> std::result::Result<Option<&str>, LineError> {
        let Some(bytes) = self.place[column].and_then(|place| self.line.get(place)) else {
            return Ok(None);
        };
        let text =
            std::str::from_utf8(bytes).map_err(|_| LineError::Column(COLUMNS[column], "is not text"))?;
        Ok(Some(text).filter(|text| !text.is_empty()))
    }

    fn number<T: std::str::FromStr>(&self, column: usize) -> std::result::Result<Option<T>, LineError> {
        let error = |_| LineError::Column(COLUMNS[column], "is not a number in range");
        self.text(column)?.map(|text| text.parse().map_err(error)).transpose()
    }

    fn decode(&self) -> std::result::Result<Record, LineError> {
        let position = fen::parse(self.text(0)?.ok_or(LineError::Structure("no fen"))?)?;
        let mut record = replay::still(&position);
        let score = self.number(4)?;
        let played = self.text(6)?.map(|text| played(&position, text)).transpose()?;
        let m = played.and_then(|packed| packed.unpack(&position));
        replay::annotate(&mut record, &position, m, score);
        record.ply = self.number(1)?.unwrap_or(record.ply);
        record.game = self.number(2)?.unwrap_or(self.rows);
        record.result = self
            .number(3)?
            .filter(|result| (-1..=1).contains(result))
            .ok_or(LineError::Column("result", "is none of 1, 0, -1"))?;
        record.depth = self.number(5)?;
        record.flags = self.number(7)?.unwrap_or(record.flags);
        record.to_capture = self.number(8)?.unwrap_or(record.to_capture);
        record.to_check = self.number(9)?.unwrap_or(record.to_check);
        record.to_end = self.number(10)?.unwrap_or(record.to_end);
        record.leaf = match (self.text(11)?, self.number(12)?) {
            (Some(text), Some(score)) => {
                let leaf = fen::parse(text)?;
                Some(Leaf { board: PackedBoard::pack(&leaf), turn: leaf.turn(), score })
            }
            _ => None,
        };
        Ok(record)
    }
}

fn played(position: &Chess, text: &str) -> std::result::Result<PackedMove, LineError> {
    let m = text.parse::<UciMove>().ok().and_then(|m| m.to_move(position).ok());
    m.map(PackedMove::pack).ok_or_else(|| LineError::text(text, "not a legal move"))
}

pub fn header(resolved: bool) -> Vec<u8> {
    let columns = if resolved { &COLUMNS[..] } else { &COLUMNS[..WITHOUT_LEAF] };
    format!("{}\n", columns.join(",")).into_bytes()
}

pub fn encode(text: &mut Vec<u8>, record: &Record, resolved: bool) {
    fen::six(text, record);
    // Writing to a vector cannot fail.
    let _ = write!(text, ",{},{},{},", record.ply, record.game, record.result);
    let mut optional = |number: Option<i32>| {
        let _ = number.map(|number| write!(text, "{number}"));
        text.push(b',');
    };
    optional(record.score.map(i32::from));
    optional(record.depth.map(i32::from));
    uci(text, record);
    let _ = write!(text, ",{},{},{},{}", record.flags, record.to_capture, record.to_check, record.to_end);
    if resolved {
        text.push(b',');
        if let Some(leaf) = &record.leaf {
            fen::four(text, &leaf.board, leaf.turn, NO_EP);
            let _ = write!(text, ",{}", leaf.score);
        } else {
            text.push(b',');
        }
    }
    text.push(b'\n');
}

/// Appends a move in UCI notation, with standard castling as the king's move.
pub fn uci(text: &mut Vec<u8>, record: &Record) {
    let m = record.played;
    if m == PackedMove::NONE {
        return;
    }
    let castles = m.0 >> 15 == 1 && capabilities::castling(&record.board) != Capabilities::CHESS960;
    let (from, to) = (m.from(), m.to());
    let to = match castles {
        true if to > from => shakmaty::Square::from_coords(shakmaty::File::G, to.rank()),
        true => shakmaty::Square::from_coords(shakmaty::File::C, to.rank()),
        false => to,
    };
    let promotion = m.promotion().map(|role| role.char());
    let _ = write!(text, "{from}{to}");
    text.extend(promotion.map(|letter| letter as u8));
}
