//! Parquet tables of other programs with a column of FENs, such as Lichess's positions on Hugging Face.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use parquet::column::page::PageReader;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, Length, SerializedFileReader};
use parquet::file::serialized_reader::SerializedPageReader;

use super::any::PositionReader;
use super::file_columns::{check_chunk, open_file, top_level};
use super::footer;
use super::foreign::decode_page;
use super::page_header::Pages;

use super::positioned::Positioned;
use super::table::{self, Columns, ROLES, Table};
use super::values::{Stored, Values};
use crate::Record;
use patzer_io::error::{Error, Result};

pub struct Reader {
    path: PathBuf,
    file: SerializedFileReader<Positioned>,
    pages: Arc<Pages>,
    /// The column of each role, if there is one.
    roles: [Option<usize>; ROLES.len()],
    columns: Vec<(usize, Stored, bool)>,
    white: bool,
    table: Table,
    group: usize,
    open: Vec<ColumnCells>,
    left: u64,
    row: u64,
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

/// Opens a table; `None` for a dataset, and for a file that is no table.
pub fn open(path: &Path, columns: &Columns) -> Result<Option<Reader>> {
    let Ok(input) = open_file(path) else { return Ok(None) };
    // The caller opens it as a dataset then, which says what is wrong.
    if footer::check(&input).is_err() {
        return Ok(None);
    }
    let Ok(file) = SerializedFileReader::new(input.clone()) else { return Ok(None) };
    let names = top_level(file.metadata());
    if names.iter().any(|(name, _)| *name == "board") && *columns == Columns::default() {
        return Ok(None);
    }
    if *columns == Columns::default() && !names.iter().any(|(name, _)| *name == "fen") {
        return Ok(None);
    }
    let damaged = |reason: &'static str| Error::data(path, reason);
    let only: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
    let (mut roles, white) = table::find(path, &only, columns).map_err(|reason| Error::data(path, reason))?;
    let mut used = Vec::new();
    for role in roles.iter_mut().flatten() {
        let place = names[*role].1;
        let column = file.metadata().file_metadata().schema_descr().column(place);
        let Some(stored) = Stored::of(&column) else {
            return Err(Error::data(
                path,
                format!("its column `{}` holds neither text nor numbers", column.name()),
            ));
        };
        for group in file.metadata().row_groups() {
            if group.num_columns() <= place || group.num_rows() < 0 {
                return Err(damaged("its footer is damaged: a row group lacks columns"));
            }
            check_chunk(group.column(place), group.num_rows(), input.len()).map_err(damaged)?;
        }
        *role = used.len();
        used.push((place, stored, column.max_def_level() == 1));
    }
    Ok(Some(Reader {
        path: path.to_path_buf(),
        file,
        pages: Arc::new(Pages(input)),
        roles,
        columns: used,
        white,
        table: Table::default(),
        group: 0,
        open: Vec::new(),
        left: 0,
        row: 0,
    }))
}

impl Reader {
    pub fn rows(&self) -> u64 {
        self.file.metadata().file_metadata().num_rows().max(0) as u64
    }

    fn damaged(&self, error: &ParquetError) -> Error {
        Error::at(&self.path, format!("row {}", self.row), format!("is damaged: {error}"))
    }

    /// Opens the next row group; false after the last.
    fn next_group(&mut self) -> Result<bool> {
        let metadata = self.file.metadata();
        if self.group == metadata.num_row_groups() {
            return Ok(false);
        }
        let group = metadata.row_group(self.group);
        let rows = group.num_rows().max(0) as usize;
        let column = |&(place, stored, nullable): &(usize, Stored, bool)| {
            let pages = SerializedPageReader::new(Arc::clone(&self.pages), group.column(place), rows, None)?;
            let (dictionary, cells) = (None, VecDeque::new());
            Ok(ColumnCells { pages: Box::new(pages), stored, nullable, dictionary, cells, left: rows })
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
                return Ok(false);
            }
        }
        let cells = self.open.iter_mut().map(ColumnCells::next).collect::<std::result::Result<Vec<_>, _>>();
        let cells = cells.map_err(|e| self.damaged(&e))?;
        let roles = &self.roles;
        let row = |role: usize| roles[role].and_then(|place| cells[place].as_ref())?.text();
        let record = self.table.record(row, self.white);
        let place = format!("row {}", self.row);
        records.push(record.map_err(|reason| Error::at(&self.path, place, reason.to_string()))?);
        self.row += 1;
        self.left -= 1;
        Ok(true)
    }

    fn resolved(&self) -> Option<String> {
        self.roles[table::LEAF].map(|_| "as the file says".into())
    }
}
