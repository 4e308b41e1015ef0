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
use crate::foreign::columns::{FEN, LEAF, MATE_IN, MEAN, ROLES};
use crate::foreign::table::{self, Table};
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
    lines: csv::Reader<Limited>,
    place: [Option<usize>; ROLES.len()],
    white: bool,
    table: Table,
    line: ByteRecord,
    /// True if `line` holds the first row, which is still to be read.
    waits: bool,
    lacks: Capabilities,
    notices: Notices,
}

/// Input with a limit on what is read for one row: quotes that are not closed would take the whole file.
struct Limited {
    input: Input,
    left: u64,
}

impl std::io::Read for Limited {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.left == 0 {
            let reason = "a row of more than 65,536 bytes begins here: a quote that is not closed?";
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, reason));
        }
        let read = std::io::Read::take(&mut self.input, self.left).read(buffer)?;
        self.left -= read as u64;
        Ok(read)
    }
}

impl Reader {
    pub fn new(input: Input) -> Result<Reader> {
        let (path, columns, notices) =
            (input.path().to_path_buf(), input.columns.clone(), input.notices.clone());
        let input = Limited { input, left: io::LONGEST_LINE };
        let mut lines = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(input);
        let header = lines.headers().map_err(|e| read_error(&path, 1, &e))?;
        let names: Vec<&str> = header.iter().map(|name| name.trim_start_matches('\u{feff}')).collect();
        let found = table::find(&path, &names, &columns, &notices);
        let (place, white) = found.map_err(|reason| Error::at(&path, "line 1", reason))?;
        let has = |role: usize| place[role].is_some();
        let (table, line, lacks) = (Table::new(&columns, has), ByteRecord::new(), Capabilities::NONE);
        let mut reader = Reader { path, lines, place, white, table, line, waits: false, lacks, notices };
        reader.waits = reader.next_row()?;
        let fen = place[FEN].and_then(|place| std::str::from_utf8(reader.line.get(place)?).ok());
        reader.lacks = table::lacks(has, fen);
        Ok(reader)
    }

    /// Reads the next row with as many cells as there are columns; false after the last.
    fn next_row(&mut self) -> Result<bool> {
        loop {
            self.lines.get_mut().left = io::LONGEST_LINE;
            let line = self.lines.position().line();
            let row = self.lines.read_byte_record(&mut self.line);
            let fatal = row.as_ref().is_err_and(csv::Error::is_io_error);
            match row.map_err(|e| read_error(&self.path, line, &e)) {
                Err(error) if !fatal => {
                    self.lines.get_ref().input.bad_rows.pass(Err(error), &self.notices)?
                }
                row => return row,
            }
        }
    }
}

/// The error of a row that begins at a line, unless it knows its own.
fn read_error(path: &std::path::Path, line: u64, error: &csv::Error) -> Error {
    let line = error.position().map_or(line, csv::Position::line);
    let reason = match error.kind() {
        csv::ErrorKind::Io(error) => error.to_string(),
        _ => error.to_string(),
    };
    Error::at(path, format!("line {line}"), reason)
}

impl PositionReader for Reader {
    fn read(&mut self, records: &mut Vec<Record>) -> Result<bool> {
        if !std::mem::take(&mut self.waits) && !self.next_row()? {
            self.table.end(&self.path, &self.notices, records);
            return Ok(false);
        }
        let (place, line) = (&self.place, &self.line);
        let text = |role: usize| {
            let bytes = line.get(place[role]?).filter(|bytes| !bytes.is_empty())?;
            // A field that is no UTF-8 is neither a FEN nor a number.
            Some(std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed))
        };
        let taken = self.table.take(text, self.white, records).map_err(|reason| {
            let line = self.line.position().map_or(0, csv::Position::line);
            Error::at(&self.path, format!("line {line}"), reason.to_string())
        });
        self.lines.get_ref().input.bad_rows.pass(taken, &self.notices)?;
        Ok(true)
    }

    fn resolved(&self) -> Option<String> {
        self.place[LEAF].map(|_| "as the file says".into())
    }

    fn lacks(&self) -> Capabilities {
        self.lacks
    }

    fn reads_scores(&self) -> bool {
        true
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
