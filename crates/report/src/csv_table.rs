//! CSV tables with named columns, such as `log.csv`; errors name the line.

use std::path::{Path, PathBuf};

use patzer_io::error::{Error, Result};

pub(crate) struct CsvTable {
    path: PathBuf,
    head: csv::StringRecord,
    rows: Vec<csv::StringRecord>,
}

pub(crate) struct CsvRow<'a> {
    path: &'a Path,
    line: usize,
    record: &'a csv::StringRecord,
}

impl CsvTable {
    pub(crate) fn read(path: &Path) -> Result<CsvTable> {
        let text = patzer_io::read_text(path, patzer_io::Limit::RUN)?;
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let fault = |line: usize, e: csv::Error| Error::at(path, format!("line {line}"), e.to_string());
        let head = reader.headers().map_err(|e| fault(1, e))?.clone();
        let rows = reader.records().enumerate().map(|(at, record)| record.map_err(|e| fault(at + 2, e)));
        Ok(CsvTable { path: path.to_path_buf(), head, rows: rows.collect::<Result<_>>()? })
    }

    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.head.iter().position(|head| head == name)
    }

    pub(crate) fn needed(&self, name: &str) -> Result<usize> {
        let none = || Error::at(&self.path, "line 1", format!("has no column `{name}`"));
        self.column(name).ok_or_else(none)
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = CsvRow<'_>> {
        self.rows.iter().enumerate().map(|(at, record)| CsvRow { path: &self.path, line: at + 2, record })
    }
}

impl<'a> CsvRow<'a> {
    pub(crate) fn text(&self, column: usize) -> &'a str {
        self.record.get(column).unwrap_or_default().trim()
    }

    /// The number in a column; `None` if the field is empty.
    pub(crate) fn number(&self, column: usize) -> Result<Option<f64>> {
        match self.text(column) {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| self.fault(format!("`{text}` is not a number"))),
        }
    }

    pub(crate) fn required(&self, column: usize) -> Result<f64> {
        self.number(column)?.ok_or_else(|| self.fault("a number is missing".into()))
    }

    fn fault(&self, reason: String) -> Error {
        Error::at(self.path, format!("line {}", self.line), reason)
    }
}
