//! Parquet tables of other programs with a column of FENs, such as Lichess's positions on Hugging Face.

use std::borrow::Cow;
use std::collections::VecDeque;

use bytes::Bytes;
use parquet::column::page::PageReader;
use parquet::errors::ParquetError;

use crate::Record;
use crate::capabilities::Capabilities;
use crate::codec::PositionReader;
use crate::foreign::table::{self, Columns, ROLES, Table};
use crate::native::foreign_column::decode_page;
use crate::native::parquet_file::ParquetFile;
use crate::native::values::{Stored, Values};
use crate::notices::Notices;
use patzer_io::error::{Error, Result};

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
    *columns != Columns::default() || (has("fen") && !has("board"))
}

impl Reader {
    pub fn new(file: ParquetFile, columns: &Columns, notices: &Notices) -> Result<Reader> {
        let names = file.top_level();
        let only: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        let found = table::find(file.path(), &only, columns, notices);
        let (mut roles, white) = found.map_err(|reason| Error::data(file.path(), reason))?;
        let mut used = Vec::new();
        for role in roles.iter_mut().flatten() {
            let place = names[*role].1;
            let column = file.schema().column(place);
            let Some(stored) = Stored::of(&column) else {
                let reason = format!("its column `{}` holds neither text nor numbers", column.name());
                return Err(Error::data(file.path(), reason));
            };
            *role = used.len();
            used.push((place, stored, column.max_def_level() == 1));
        }
        let (table, open) = (Table::default(), Vec::new());
        Ok(Reader {
            file,
            roles,
            columns: used,
            white,
            table,
            group: 0,
            open,
            left: 0,
            row: 0,
            notices: notices.clone(),
        })
    }

    pub fn rows(&self) -> u64 {
        self.file.rows()
    }

    fn damaged(&self, error: &ParquetError) -> Error {
        Error::at(self.file.path(), format!("row {}", self.row), format!("is damaged: {error}"))
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
        Ok(self.cells.pop_front().flatten())
    }
}

impl Cell {
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
                self.table.end(self.file.path(), &self.notices);
                return Ok(false);
            }
        }
        let cells = self.open.iter_mut().map(ColumnCells::next).collect::<std::result::Result<Vec<_>, _>>();
        let cells = cells.map_err(|e| self.damaged(&e))?;
        let roles = &self.roles;
        let row = |role: usize| roles[role].and_then(|place| cells[place].as_ref())?.text();
        let record = self.table.record(row, self.white);
        let place = format!("row {}", self.row);
        records.push(record.map_err(|reason| Error::at(self.file.path(), place, reason.to_string()))?);
        self.row += 1;
        self.left -= 1;
        Ok(true)
    }

    fn resolved(&self) -> Option<String> {
        self.roles[table::LEAF].map(|_| "as the file says".into())
    }

    fn lacks(&self) -> Capabilities {
        table::lacks(|role| self.roles[role].is_some())
    }

    fn means(&self) -> bool {
        self.roles[table::MEAN].is_some()
    }
}
