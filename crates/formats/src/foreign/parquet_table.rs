//! Parquet tables of other programs with a column of FENs, such as Lichess's positions on Hugging Face.

use std::borrow::Cow;
use std::collections::VecDeque;

use bytes::Bytes;
use parquet::column::page::PageReader;
use parquet::errors::ParquetError;

use crate::Record;
use crate::bad_rows::BadRows;
use crate::capabilities::Capabilities;
use crate::codec::PositionReader;
use crate::foreign::columns::{Columns, FEN, LEAF, MEAN, ROLES};
use crate::foreign::table::{self, Table};
use crate::native::foreign_column::decode_page;
use crate::native::parquet_file::{ParquetFile, damage};
use crate::native::values::{Stored, Values};
use crate::notices::Notices;
use patzer_io::LONGEST_LINE;
use patzer_io::error::{Error, Result};
use patzer_io::number::grouped;

pub struct Reader {
    file: ParquetFile,
    /// The column of each role, if there is one.
    roles: [Option<usize>; ROLES.len()],
    columns: Vec<(usize, Stored, bool)>,
    white: bool,
    table: Table,
    group: usize,
    open: Vec<ColumnCells>,
    left: u64,
    row: u64,
    lacks: Capabilities,
    bad_rows: BadRows,
    notices: Notices,
}

/// The cells of a column in a row group.
struct ColumnCells {
    pages: Box<dyn PageReader>,
    stored: Stored,
    nullable: bool,
    dictionary: Option<Values>,
    cells: VecDeque<Option<Cell>>,
    left: usize,
}

enum Cell {
    Number(f64, Stored),
    Text(Bytes),
}

/// Tests whether a file is a table: columns are named for it, or it has FENs and no boards.
pub fn is_table(file: &ParquetFile, columns: &Columns) -> bool {
    let has = |wanted| file.top_level().iter().any(|(name, _)| name.eq_ignore_ascii_case(wanted));
    columns.are_named() || (has("fen") && !has("board"))
}

impl Reader {
    pub fn new(file: ParquetFile, columns: &Columns, bad_rows: BadRows, notices: &Notices) -> Result<Reader> {
        let names = file.top_level();
        let flat = |name: &str| names.iter().any(|(other, _)| *other == name);
        let nested = file.schema().columns().iter().map(|column| column.path().parts()[0].as_str());
        let mut nested: Vec<&str> = nested.filter(|name| !flat(name)).collect();
        nested.dedup();
        let all: Vec<&str> = names.iter().map(|(name, _)| *name).chain(nested).collect();
        let found = table::find(file.path(), &all, columns, notices);
        let (mut roles, white) = found.map_err(|reason| Error::data(file.path(), reason))?;
        let mut used = Vec::new();
        for role in roles.iter_mut().flatten() {
            let column = names.get(*role).map(|(_, place)| (*place, file.schema().column(*place)));
            let Some((place, stored, nullable)) = column
                .and_then(|(place, column)| Some((place, Stored::of(&column)?, column.max_def_level() == 1)))
            else {
                let reason = format!("its column `{}` holds neither text nor numbers", all[*role]);
                return Err(Error::data(file.path(), reason));
            };
            *role = used.len();
            used.push((place, stored, nullable));
        }
        let (table, open) = (Table::new(columns, |role| roles[role].is_some()), Vec::new());
        let mut reader = Reader {
            file,
            roles,
            columns: used,
            white,
            table,
            group: 0,
            open,
            left: 0,
            row: 0,
            lacks: Capabilities::NONE,
            bad_rows,
            notices: notices.clone(),
        };
        while reader.left == 0 && reader.next_group()? {}
        let fens = roles[FEN].and_then(|place| reader.open.get_mut(place));
        let first = fens.map_or(Ok(None), |cells| cells.peek().map(|cell| cell.map(Cell::beginning)));
        let first = first.map_err(|e| reader.damaged(&e))?;
        reader.lacks = table::lacks(|role| roles[role].is_some(), first.as_deref());
        Ok(reader)
    }

    /// Number of positions, unless that shows only in the rows.
    pub fn positions(&self) -> Option<u64> {
        (!self.table.merges() && !self.bad_rows.skips()).then(|| self.file.rows())
    }

    fn damaged(&self, error: &ParquetError) -> Error {
        Error::at(self.file.path(), format!("row {}", self.row), damage(error))
    }

    /// Takes a row by its cells in the order of the columns.
    fn take(&mut self, cells: &[Option<Cell>], records: &mut Vec<Record>) -> std::result::Result<(), String> {
        let length = |cell: &Cell| if let Cell::Text(text) = cell { text.len() as u64 } else { 0 };
        let longest = cells.iter().flatten().map(length).max();
        if let Some(length) = longest.filter(|length| *length > LONGEST_LINE) {
            return Err(format!("a cell has {} bytes; the most is 65,536", grouped(length)));
        }
        let roles = &self.roles;
        let row = |role: usize| roles[role].and_then(|place| cells[place].as_ref())?.text();
        self.table.take(row, self.white, records).map_err(|reason| reason.to_string())
    }

    /// Opens the next row group; false after the last.
    fn next_group(&mut self) -> Result<bool> {
        if self.group == self.file.groups() {
            return Ok(false);
        }
        let rows = self.file.group_rows(self.group);
        if rows == 0 {
            self.group += 1;
            return Ok(true);
        }
        let column = |&(place, stored, nullable): &(usize, Stored, bool)| {
            let pages = self.file.pages(self.group, place)?;
            Ok(ColumnCells { pages, stored, nullable, dictionary: None, cells: VecDeque::new(), left: rows })
        };
        let open = self.columns.iter().map(column).collect::<std::result::Result<_, ParquetError>>();
        self.open = open.map_err(|e| self.damaged(&e))?;
        self.left = rows as u64;
        self.group += 1;
        Ok(true)
    }
}

impl ColumnCells {
    fn next(&mut self) -> std::result::Result<Option<Cell>, ParquetError> {
        self.peek()?;
        Ok(self.cells.pop_front().flatten())
    }

    fn peek(&mut self) -> std::result::Result<Option<&Cell>, ParquetError> {
        while self.cells.is_empty() {
            let page =
                decode_page(&mut *self.pages, self.stored, self.nullable, &mut self.dictionary, self.left)?;
            let page = page.ok_or_else(|| ParquetError::EOF("a column ends early".into()))?;
            self.left -= page.present.len();
            let stored = self.stored;
            let mut values: Box<dyn Iterator<Item = Cell>> = match page.values {
                Values::Numbers(numbers) => {
                    Box::new(numbers.into_iter().map(move |number| Cell::Number(number, stored)))
                }
                Values::Bytes(texts) => Box::new(texts.into_iter().map(Cell::Text)),
            };
            let cells = page.present.iter().map(|there| if *there == 1 { values.next() } else { None });
            self.cells.extend(cells);
        }
        Ok(self.cells.front().and_then(Option::as_ref))
    }
}

impl Cell {
    /// Enough of a text to hold a FEN.
    fn beginning(&self) -> String {
        match self {
            Cell::Text(bytes) => String::from_utf8_lossy(&bytes[..bytes.len().min(256)]).into_owned(),
            Cell::Number(..) => String::new(),
        }
    }

    fn text(&self) -> Option<Cow<'_, str>> {
        match self {
            Cell::Number(number, _) if number.is_nan() => None,
            Cell::Number(number, Stored::Float | Stored::Double) => Some(Cow::Owned(format!("{number:?}"))),
            Cell::Number(number, _) => Some(Cow::Owned(format!("{number}"))),
            Cell::Text(bytes) => Some(String::from_utf8_lossy(bytes)).filter(|text| !text.is_empty()),
        }
    }
}

impl PositionReader for Reader {
    fn read(&mut self, records: &mut Vec<Record>) -> Result<bool> {
        while self.left == 0 {
            if !self.next_group()? {
                self.table.end(self.file.path(), &self.notices, records);
                return Ok(false);
            }
        }
        let cells = self.open.iter_mut().map(ColumnCells::next).collect::<std::result::Result<Vec<_>, _>>();
        let cells = cells.map_err(|e| self.damaged(&e))?;
        let row = self.row;
        self.row += 1;
        self.left -= 1;
        let taken = self.take(&cells, records);
        let taken = taken.map_err(|reason| Error::at(self.file.path(), format!("row {row}"), reason));
        self.bad_rows.pass(taken, &self.notices)?;
        Ok(true)
    }

    fn resolved(&self) -> Option<String> {
        self.roles[LEAF].map(|_| "as the file says".into())
    }

    fn lacks(&self) -> Capabilities {
        self.lacks
    }

    fn reads_scores(&self) -> bool {
        true
    }

    fn means(&self) -> bool {
        self.roles[MEAN].is_some()
    }
}
