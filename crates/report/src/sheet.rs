//! A table that a run left behind as CSV.
//!
//! In: a file such as `log.csv`. Out: its rows, whose numbers are found by the names of their columns; what cannot be
//! read is named with its line.

use std::path::{Path, PathBuf};

use patzer_io::error::{Error, Result};

/// A table whose first line names the columns.
pub struct Sheet {
    path: PathBuf,
    head: csv::StringRecord,
    rows: Vec<csv::StringRecord>,
}

/// One row.
pub struct Row<'a> {
    path: &'a Path,
    line: usize,
    record: &'a csv::StringRecord,
}

impl Sheet {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, or its rows have not all the same number of fields.
    pub fn read(path: &Path) -> Result<Sheet> {
        let text = patzer_io::read_text(path)?;
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let fault = |line: usize, e: csv::Error| Error::at(path, format!("line {line}"), e.to_string());
        let head = reader.headers().map_err(|e| fault(1, e))?.clone();
        let rows = reader.records().enumerate().map(|(at, record)| record.map_err(|e| fault(at + 2, e)));
        Ok(Sheet { path: path.to_path_buf(), head, rows: rows.collect::<Result<_>>()? })
    }

    /// The place of a column, if there is one of this name.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.head.iter().position(|head| head == name)
    }

    /// The place of a column that has to be there.
    ///
    /// # Errors
    /// If it is not.
    pub fn needed(&self, name: &str) -> Result<usize> {
        let none = || Error::at(&self.path, "line 1", format!("has no column `{name}`"));
        self.column(name).ok_or_else(none)
    }

    /// The rows below the head.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().enumerate().map(|(at, record)| Row { path: &self.path, line: at + 2, record })
    }
}

impl<'a> Row<'a> {
    /// What stands in a column.
    pub fn text(&self, column: usize) -> &'a str {
        self.record.get(column).unwrap_or_default().trim()
    }

    /// The number in a column; `None` if nothing stands there.
    ///
    /// # Errors
    /// If something else stands there.
    pub fn number(&self, column: usize) -> Result<Option<f64>> {
        match self.text(column) {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| self.fault(format!("`{text}` is not a number"))),
        }
    }

    /// The number that has to stand in a column.
    ///
    /// # Errors
    /// If there is none.
    pub fn must(&self, column: usize) -> Result<f64> {
        self.number(column)?.ok_or_else(|| self.fault("a number is missing".into()))
    }

    fn fault(&self, reason: String) -> Error {
        Error::at(self.path, format!("line {}", self.line), reason)
    }
}
