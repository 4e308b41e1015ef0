//! CSV with every column of the dataset: boards as FEN, moves as UCI, other columns as in the native format.
//!
//! Reading needs `fen`; [`table`] says what other names mean.

use std::borrow::Cow;
use std::io::Write;

use csv::ByteRecord;

use crate::Record;
use crate::capabilities::Capabilities;
use crate::codec::PositionReader;
use crate::fen;
use crate::foreign::table::{self, LEAF, MATE_IN, MEAN, ROLES, Table};
use crate::native::columns::Layout;
use crate::notices::Notices;
use crate::stream::Input;
use patzer_chess::packed::NO_EP;
use patzer_io as io;
use patzer_io::error::{Error, Result};

pub fn recognise(head: &[u8]) -> bool {
    let line = head.split(|b| *b == b'\n').next().unwrap_or_default();
    let line = io::without_byte_order_mark(line);
    line.split(|b| *b == b',').any(|name| name.trim_ascii() == b"fen")
}

pub struct Reader {
    path: std::path::PathBuf,
    lines: csv::Reader<Input>,
    place: [Option<usize>; ROLES.len()],
    white: bool,
    table: Table,
    line: ByteRecord,
    notices: Notices,
}

impl Reader {
    pub fn new(input: Input) -> Result<Reader> {
        let (path, columns, notices) =
            (input.path().to_path_buf(), input.columns.clone(), input.notices.clone());
        let mut lines = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(input);
        let header = lines.headers().map_err(|e| read_error(&path, &e))?;
        let names: Vec<&str> = header.iter().map(|name| name.trim_start_matches('\u{feff}')).collect();
        let found = table::find(&path, &names, &columns, &notices);
        let (place, white) = found.map_err(|reason| Error::at(&path, "line 1", reason))?;
        Ok(Reader { path, lines, place, white, table: Table::default(), line: ByteRecord::new(), notices })
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
            self.table.end(&self.path, &self.notices);
            return Ok(false);
        }
        let (place, line) = (&self.place, &self.line);
        let text = |role: usize| {
            let bytes = line.get(place[role]?).filter(|bytes| !bytes.is_empty())?;
            // A field that is no UTF-8 is neither a FEN nor a number.
            Some(std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed))
        };
        let record = self.table.record(text, self.white);
        records.push(record.map_err(|reason| {
            let line = self.line.position().map_or(0, csv::Position::line);
            Error::at(&self.path, format!("line {line}"), reason.to_string())
        })?);
        Ok(true)
    }

    fn resolved(&self) -> Option<String> {
        self.place[LEAF].map(|_| "as the file says".into())
    }

    fn lacks(&self) -> Capabilities {
        table::lacks(|role| self.place[role].is_some())
    }

    fn means(&self) -> bool {
        self.place[MEAN].is_some()
    }
}

/// The columns of a file in order, without the parts that it lacks.
fn columns(layout: Layout) -> impl Iterator<Item = &'static str> {
    let optional = [(LEAF..MEAN, layout.resolved), (MEAN..MATE_IN, layout.means)];
    let absent = move |role: usize| optional.iter().any(|(roles, there)| roles.contains(&role) && !there);
    ROLES[..MATE_IN].iter().enumerate().filter(move |(role, _)| !absent(*role)).map(|(_, role)| role.name)
}

pub fn header(layout: Layout) -> Vec<u8> {
    format!("{}\n", columns(layout).collect::<Vec<_>>().join(",")).into_bytes()
}

pub fn encode(text: &mut Vec<u8>, record: &Record, layout: Layout) {
    fen::six(text, record);
    // Writing to a vector cannot fail.
    let _ = write!(text, ",{},{},{},", record.ply, record.game, record.result);
    let mut optional = |number: Option<i32>| {
        let _ = number.map(|number| write!(text, "{number}"));
        text.push(b',');
    };
    optional(record.score.map(i32::from));
    optional(record.depth.map(i32::from));
    fen::uci(text, record);
    let _ = write!(text, ",{},{},{},{}", record.flags, record.to_capture, record.to_check, record.to_end);
    if layout.resolved {
        text.push(b',');
        if let Some(leaf) = &record.leaf {
            fen::four(text, &leaf.board, leaf.turn, NO_EP);
            let _ = write!(text, ",{}", leaf.score);
        } else {
            text.push(b',');
        }
    }
    if layout.means {
        let _ = match record.mean {
            Some(mean) => write!(text, ",{},{}", mean.count, mean.sum),
            None => write!(text, ",,"),
        };
    }
    text.push(b'\n');
}
