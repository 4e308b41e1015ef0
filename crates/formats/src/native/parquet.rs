//! Reader of the native dataset: Parquet with one row per position.

use std::path::Path;

use parquet::column::page::PageReader;
use parquet::errors::ParquetError;
use rayon::prelude::*;

use crate::Record;
use crate::extra_columns;
use crate::legality;
use crate::metadata::Metadata;
use crate::native::columns::{Column, EMPTY, Layout};
use crate::native::encode::ROWS_PER_PAGE;
use crate::native::file_columns::{FileColumn, metadata_of, say};
use crate::native::foreign_column::{BadValue, ForeignColumn};
use crate::native::missing::{self, Missing};
use crate::native::page::Cursor;
use crate::native::parquet_file::ParquetFile;
use crate::native::projection::Projection;
use crate::native::readable::{READABLE, ReadableColumns};
use crate::notices::Notices;
use crate::score_reading::ScoreReading;
use patzer_io::error::{Error, Result};
use patzer_io::few_names;

pub use crate::native::writer::{LEVEL, ROWS_PER_GROUP, Writer};

const UNCHECKED: &str = "pages have no checksums, so positions were only checked to be legal";

/// A dataset opened for reading; can be shared between threads. Columns are found by name: those that a file lacks are
/// filled, those that it has besides are left out.
pub struct Dataset {
    file: ParquetFile,
    metadata: Metadata,
    columns: Vec<FileColumn>,
    missing: Vec<&'static Column>,
    /// True if the file says where it comes from.
    provenance: bool,
    checksums: bool,
    /// True if to check every record, since the file has no checksum of its footer.
    check_records: bool,
    scores: ScoreReading,
    notices: Notices,
}

impl Dataset {
    pub fn open(path: &Path) -> Result<Dataset> {
        Dataset::open_with(path, ScoreReading::default(), Notices::default())
    }

    /// Opens a dataset with options for its scores, whose notices go to a receiver.
    pub fn open_with(path: &Path, scores: ScoreReading, notices: Notices) -> Result<Dataset> {
        Dataset::of(ParquetFile::open(path)?, scores, notices)
    }

    pub(crate) fn of(file: ParquetFile, scores: ScoreReading, notices: Notices) -> Result<Dataset> {
        let names = file.top_level();
        let layout = Layout::of(|name| names.iter().any(|column| column.0 == name));
        let (mut columns, mut missing) = (Vec::new(), Vec::new());
        for column in layout.columns() {
            match names.iter().find(|(name, _)| *name == column.name) {
                Some(&(_, place)) => columns.push(FileColumn::new(column, place, &file)?),
                None => missing.push(column),
            }
        }
        if let Some(column) = missing.iter().find(|column| missing::NEEDED.contains(&column.name)) {
            let reason = format!(
                "is Parquet, but not a patzer dataset: it has no column `{}`, nor FENs in one called `fen`; it has {} \
                 (a conversion with the mapping fen=NAME reads another)",
                column.name,
                few_names(&names.iter().map(|(name, _)| *name).collect::<Vec<_>>())
            );
            return Err(Error::data(file.path(), reason));
        }
        let (mut metadata, lost) = metadata_of(file.path(), file.metadata(), layout);
        metadata.read_scores(None, scores);
        metadata.lacks = metadata.lacks.and(missing::lacks(&missing));
        metadata.extra = extra_columns::all(file.metadata());
        metadata.readable = ReadableColumns::among(|name| names.iter().any(|column| column.0 == name));
        let unknown = file.schema().columns().iter().map(|column| column.path().parts()[0].as_str());
        let unknown = unknown.filter(|name| {
            !layout.columns().any(|column| column.name == *name)
                && !READABLE.iter().any(|c| c.name == *name)
                && !metadata.extra.iter().any(|extra| extra.name() == *name)
        });
        let mut unknown: Vec<&str> = unknown.collect();
        unknown.dedup();
        let provenance = lost.is_none();
        say(file.path(), &notices, &unknown, &missing, lost);
        let sealed = file.is_sealed();
        let checksums = sealed || file.has_page_checksums();
        Ok(Dataset {
            columns,
            missing,
            metadata,
            provenance,
            checksums,
            check_records: !sealed,
            scores,
            file,
            notices,
        })
    }

    pub fn path(&self) -> &Path {
        self.file.path()
    }

    pub fn notices(&self) -> &Notices {
        &self.notices
    }

    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    pub(crate) fn file(&self) -> &ParquetFile {
        &self.file
    }

    /// Tests whether the metadata is the file's own, which says where it comes from.
    pub fn has_provenance(&self) -> bool {
        self.provenance
    }

    /// Tests whether pages have checksums, which every read verifies. Without them, every read checks that records are
    /// legal.
    pub fn has_checksums(&self) -> bool {
        self.checksums
    }

    /// Reads illegal records too, for a caller that reports them itself.
    pub fn accept_illegal_records(&mut self) {
        self.check_records = false;
    }

    pub fn rows(&self) -> u64 {
        self.file.rows()
    }

    pub fn groups(&self) -> usize {
        self.file.groups()
    }

    pub fn group_rows(&self, index: usize) -> u64 {
        self.file.group_rows(index) as u64
    }

    /// Index of a row group's first row in the file.
    fn first_row(&self, group: usize) -> u64 {
        (0..group).map(|index| self.group_rows(index)).sum()
    }

    pub fn group_offset(&self, index: usize) -> u64 {
        let columns = self.file.metadata().row_group(index).columns();
        columns.iter().map(|column| column.byte_range().0).min().unwrap_or(0)
    }

    pub fn read_group(&self, index: usize) -> Result<Vec<Record>> {
        self.read_columns(index, Projection::ALL)
    }

    /// Reads the projected columns of one row group; the other fields are 0 or `None`.
    pub fn read_columns(&self, index: usize, projection: Projection) -> Result<Vec<Record>> {
        let mut records = Vec::new();
        self.read_into(index, projection, &mut records)?;
        Ok(records)
    }

    /// Replaces `records` by the projected columns of one row group, on all threads. Reusing the memory saves a fifth
    /// of the time.
    pub fn read_into(&self, index: usize, projection: Projection, records: &mut Vec<Record>) -> Result<()> {
        let rows = self.rows_of(index, projection)?.left;
        records.resize(rows, EMPTY);
        let share = rows.div_ceil(rayon::current_num_threads()).max(1).next_multiple_of(ROWS_PER_PAGE);
        let parts = records.par_chunks_mut(share).enumerate().map(|(nth, records)| {
            let mut rows = self.rows_of(index, projection)?;
            rows.skip(nth * share)?;
            rows.fill(records)
        });
        // Report the first error in file order.
        parts.collect::<Vec<_>>().into_iter().collect()
    }

    pub fn rows_of(&self, index: usize, projection: Projection) -> Result<Rows<'_>> {
        let damaged = |e| self.damaged(index, &e);
        let left = self.file.group_rows(index);
        let columns = self.columns.iter().filter(|file| projection.contains(file.column));
        let cursor = |file: &FileColumn| {
            let column = file.column;
            let pages = self.file.pages(index, file.place)?;
            let pages: Box<dyn PageReader> = match file.foreign {
                None => pages,
                Some((stored, nullable)) => {
                    Box::new(ForeignColumn::new(column, pages, stored, nullable, left))
                }
            };
            Ok((column, Cursor::new(pages, column.optional)))
        };
        let cursors = columns.map(cursor).collect::<std::result::Result<_, _>>().map_err(damaged)?;
        let legality = self.check_records && projection.has(Projection::KEY);
        if legality && !self.checksums {
            self.notices.add(self.path(), UNCHECKED);
        }
        let missing = Missing::new(&self.missing, projection);
        let base = missing.base();
        Ok(Rows {
            dataset: self,
            group: index,
            cursors,
            next: 0,
            left,
            legality,
            missing,
            base,
            first: self.first_row(index),
        })
    }

    pub fn blocks(&self) -> Blocks<'_> {
        Blocks { dataset: self, next: 0, rows: None }
    }

    pub fn for_each(&self, mut each: impl FnMut(Vec<Record>) -> Result<()>) -> Result<()> {
        let mut blocks = self.blocks();
        while let Some(records) = blocks.next_block()? {
            each(records)?;
        }
        Ok(())
    }

    pub(crate) fn damaged(&self, group: usize, error: &ParquetError) -> Error {
        if let ParquetError::External(cause) = error
            && let Some(bad) = cause.downcast_ref::<BadValue>()
        {
            let row = self.first_row(group) + bad.row;
            return Error::at(self.path(), format!("row {row}"), bad.reason.clone());
        }
        self.file.damaged(group, error)
    }

    pub fn read_all(&self) -> Result<Vec<Record>> {
        let groups: Vec<Vec<Record>> =
            (0..self.groups()).into_par_iter().map(|i| self.read_group(i)).collect::<Result<_>>()?;
        Ok(groups.concat())
    }
}

/// Iterator over a dataset's records in blocks; see [`Dataset::blocks`].
pub struct Blocks<'a> {
    dataset: &'a Dataset,
    next: usize,
    rows: Option<Rows<'a>>,
}

impl Blocks<'_> {
    /// Reads the next block; `None` at the end.
    pub fn next_block(&mut self) -> Result<Option<Vec<Record>>> {
        loop {
            match &mut self.rows {
                Some(rows) if rows.left > 0 => return rows.next_rows().map(Some),
                _ if self.next == self.dataset.groups() => return Ok(None),
                _ => {
                    self.rows = Some(self.dataset.rows_of(self.next, Projection::ALL)?);
                    self.next += 1;
                }
            }
        }
    }
}

pub struct Rows<'a> {
    dataset: &'a Dataset,
    group: usize,
    cursors: Vec<(&'static Column, Cursor)>,
    next: usize,
    left: usize,
    legality: bool,
    missing: Missing,
    base: Record,
    /// Index of the row group's first row in the file.
    first: u64,
}

impl Rows<'_> {
    pub fn next_rows(&mut self) -> Result<Vec<Record>> {
        let mut records = vec![EMPTY; self.left.min(ROWS_PER_PAGE)];
        self.fill(&mut records)?;
        Ok(records)
    }

    /// Skips rows, at most as many as are left.
    fn skip(&mut self, rows: usize) -> Result<()> {
        let damaged = |e| self.dataset.damaged(self.group, &e);
        self.cursors.iter_mut().try_for_each(|(_, cursor)| cursor.skip(rows)).map_err(damaged)?;
        self.next += rows;
        self.left -= rows;
        Ok(())
    }

    /// Reads one row per record, at most as many as are left.
    fn fill(&mut self, records: &mut [Record]) -> Result<()> {
        // Few rows at a time, so that they stay in the cache for every column.
        for few in records.chunks_mut(1 << 10) {
            few.fill(self.base);
            let mut columns = self.cursors.iter_mut();
            let read = columns.try_for_each(|(column, cursor)| (column.read)(cursor, few));
            read.map_err(|e| self.dataset.damaged(self.group, &e))?;
            self.missing.complete(few, self.first + self.next as u64);
            if self.legality {
                self.check(few)?;
            }
            self.dataset.scores.apply(few, false);
            self.next += few.len();
        }
        self.left -= records.len();
        Ok(())
    }

    fn check(&self, few: &[Record]) -> Result<()> {
        let faults =
            few.iter().zip(self.next..).filter_map(|(record, row)| Some((row, legality::fault(record)?)));
        faults.take(1).try_for_each(|(row, fault)| {
            let place = format!("row group {}, row {row}", self.group);
            Err(Error::at(self.dataset.path(), place, format!("is damaged: {fault}")))
        })
    }
}

#[cfg(test)]
pub(crate) mod tests;
