//! Text with commas: every column of the dataset, for spreadsheets and scripts.
//!
//! In and out: a header, then one line a position. Boards are FENs and moves are UCI; the other columns have the names
//! and units of the native format. Reading needs `fen` and `result`; columns that are missing are unknown.

use std::io::Write;

use csv::ByteRecord;
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Position};

use super::any::{BATCH, Batches, Sink};
use super::facts::{self, Facts};
use super::stream::{Input, Packed};
use super::{fen, replay};
use crate::{Leaf, Sample};
use patzer_chess::packed::NO_EP;
use patzer_chess::{PackedBoard, PackedMove};
use patzer_io::error::{Error, Result};

/// The columns, in the order in which they are written; the last two only for resolved positions.
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

/// Whether a file starts with a header of this format.
pub fn recognise(head: &[u8]) -> bool {
    let line = head.split(|b| *b == b'\n').next().unwrap_or_default();
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    line.contains(&b',') && line.split(|b| *b == b',').any(|name| name.trim_ascii() == b"fen")
}

/// Reads lines.
pub struct Reader {
    path: std::path::PathBuf,
    lines: csv::Reader<Input>,
    /// Where each of [`COLUMNS`] stands.
    place: [Option<usize>; COLUMNS.len()],
    record: ByteRecord,
    rows: u32,
}

impl Reader {
    /// Reads the header.
    ///
    /// # Errors
    /// If a column is missing that is needed.
    pub fn new(input: Input) -> Result<Reader> {
        let path = input.path().to_path_buf();
        let mut lines = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(input);
        let header = lines.byte_headers().map_err(|e| broken(&path, &e))?;
        let find = |name: &str| header.iter().position(|column| column == name.as_bytes());
        let place = COLUMNS.map(find);
        if place[0].is_none() || place[3].is_none() {
            return Err(Error::at(&path, "line 1", "the header lacks a column `fen` or `result`"));
        }
        Ok(Reader { path, lines, place, record: ByteRecord::new(), rows: 0 })
    }
}

fn broken(path: &std::path::Path, error: &csv::Error) -> Error {
    match error.position() {
        Some(position) => Error::at(path, format!("line {}", position.line()), error.to_string()),
        None => Error::data(path, error.to_string()),
    }
}

impl Batches for Reader {
    fn next_batch(&mut self, samples: &mut Vec<Sample>) -> Result<bool> {
        let before = samples.len();
        while samples.len() - before < BATCH {
            let more = self.lines.read_byte_record(&mut self.record);
            if !more.map_err(|e| broken(&self.path, &e))? {
                return Ok(samples.len() > before);
            }
            let sample = Row { record: &self.record, place: &self.place }.decode(self.rows);
            samples.push(sample.map_err(|reason| {
                let line = self.record.position().map_or(0, csv::Position::line);
                Error::at(&self.path, format!("line {line}"), reason)
            })?);
            self.rows = self.rows.wrapping_add(1);
        }
        Ok(true)
    }

    fn resolved(&self) -> Option<String> {
        self.place[WITHOUT_LEAF].map(|_| "as the file says".into())
    }
}

struct Row<'a> {
    record: &'a ByteRecord,
    place: &'a [Option<usize>; COLUMNS.len()],
}

impl Row<'_> {
    /// The text of a column, `None` where it is empty or not there.
    fn text(&self, column: usize) -> std::result::Result<Option<&str>, String> {
        let Some(bytes) = self.place[column].and_then(|place| self.record.get(place)) else {
            return Ok(None);
        };
        let text = std::str::from_utf8(bytes).map_err(|_| format!("{} is not text", COLUMNS[column]))?;
        Ok(Some(text).filter(|text| !text.is_empty()))
    }

    fn number<T: std::str::FromStr>(&self, column: usize) -> std::result::Result<Option<T>, String> {
        let parse = |text: &str| {
            text.parse().map_err(|_| format!("{} is `{text}`, not a number in range", COLUMNS[column]))
        };
        self.text(column)?.map(parse).transpose()
    }

    fn decode(&self, row: u32) -> std::result::Result<Sample, String> {
        let position = fen::parse(self.text(0)?.ok_or("no fen")?)?;
        let mut sample = replay::still(&position);
        let score = self.number(4)?;
        let played = self.text(6)?.map(|text| played(&position, text)).transpose()?;
        let m = played.and_then(|packed| packed.unpack(&position));
        replay::annotate(&mut sample, &position, m, score);
        sample.ply = self.number(1)?.unwrap_or(sample.ply);
        sample.game = self.number(2)?.unwrap_or(row);
        sample.result =
            self.number(3)?.filter(|result| (-1..=1).contains(result)).ok_or("result is none of 1, 0, -1")?;
        sample.depth = self.number(5)?;
        sample.flags = self.number(7)?.unwrap_or(sample.flags);
        sample.to_capture = self.number(8)?.unwrap_or(sample.to_capture);
        sample.to_check = self.number(9)?.unwrap_or(sample.to_check);
        sample.to_end = self.number(10)?.unwrap_or(sample.to_end);
        sample.leaf = match (self.text(11)?, self.number(12)?) {
            (Some(text), Some(score)) => {
                let leaf = fen::parse(text)?;
                Some(Leaf { board: PackedBoard::pack(&leaf), turn: leaf.turn(), score })
            }
            _ => None,
        };
        Ok(sample)
    }
}

fn played(position: &Chess, text: &str) -> std::result::Result<PackedMove, String> {
    let m = text.parse::<UciMove>().ok().and_then(|m| m.to_move(position).ok());
    m.map(PackedMove::pack).ok_or_else(|| format!("move `{text}` is not legal"))
}

/// Writes lines.
pub struct Writer {
    out: Packed,
    text: Vec<u8>,
    resolved: bool,
}

impl Writer {
    /// Writes the header into a new file.
    pub fn new(out: Packed, resolved: bool) -> Writer {
        let columns = if resolved { &COLUMNS[..] } else { &COLUMNS[..WITHOUT_LEAF] };
        Writer { out, text: format!("{}\n", columns.join(",")).into_bytes(), resolved }
    }

    fn line(&mut self, sample: &Sample) {
        let text = &mut self.text;
        fen::six(text, sample);
        // A vector takes all bytes.
        let _ = write!(text, ",{},{},{},", sample.ply, sample.game, sample.result);
        let mut optional = |number: Option<i32>| {
            let _ = number.map(|number| write!(text, "{number}"));
            text.push(b',');
        };
        optional(sample.score.map(i32::from));
        optional(sample.depth.map(i32::from));
        uci(text, sample);
        let _ = write!(text, ",{},{},{},{}", sample.flags, sample.to_capture, sample.to_check, sample.to_end);
        if self.resolved {
            text.push(b',');
            if let Some(leaf) = &sample.leaf {
                fen::four(text, &leaf.board, leaf.turn, NO_EP);
                let _ = write!(text, ",{}", leaf.score);
            } else {
                text.push(b',');
            }
        }
        text.push(b'\n');
    }
}

/// Appends a move as UCI writes it: castling is the king's two squares in standard chess.
fn uci(text: &mut Vec<u8>, sample: &Sample) {
    let m = sample.played;
    if m == PackedMove::NONE {
        return;
    }
    let castles = m.0 >> 15 == 1 && facts::castling(&sample.board) != Facts::CHESS960;
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

impl Sink for Writer {
    fn write(&mut self, samples: &[Sample]) -> Result<u64> {
        for sample in samples {
            self.line(sample);
            if self.text.len() > 1 << 20 {
                self.out.put(&self.text)?;
                self.text.clear();
            }
        }
        Ok(0)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.out.put(&self.text)?;
        self.text.clear();
        self.out.commit()
    }
}
