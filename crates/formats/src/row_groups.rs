//! Parallel reading of a file of positions, with results in the order of the file.
//!
//! A dataset is read by row group, several at a time; another format is read in batches on one thread and worked on by
//! all. At most a window of them is in memory.

use std::path::Path;

use rayon::prelude::*;

use crate::extra::ExtraColumn;
use crate::extra_rows::ExtraRows;
use crate::foreign::columns::Columns;
use crate::native::parquet::Blocks;
use crate::notices::Notices;
use crate::read_options::ReadOptions;
use crate::registry::{self, Format, Read};
use crate::{AnyReader, Dataset, Metadata, Record};
use patzer_io::error::{Error, Result};
use patzer_io::interrupt;

/// The most row groups in memory at once, each about 100 MB.
const GROUPS: usize = 8;

/// Batches of another format in memory at once, for each thread.
const BATCHES: usize = 4;

/// An open file of positions.
pub enum RowGroups {
    Dataset(Dataset),
    Stream(AnyReader),
}

/// Neighbouring positions of a file: a row group of a dataset, or a batch of another format.
pub struct RowGroup<'a> {
    /// Index of the first position in the file, from 0.
    pub row: u64,
    pub place: &'a str,
    pub records: Result<&'a [Record]>,
}

impl RowGroups {
    pub fn open(path: &Path, options: impl Into<ReadOptions>) -> Result<RowGroups> {
        let options = options.into();
        RowGroups::of(path, options.format, AnyReader::open(path, options)?)
    }

    /// Opens a file to make another of it; see [`AnyReader::open_source`].
    pub fn open_source(path: &Path, options: impl Into<ReadOptions>) -> Result<RowGroups> {
        let options = options.into();
        RowGroups::of(path, options.format, AnyReader::open_source(path, options, &Columns::default())?)
    }

    fn of(path: &Path, format: Option<&'static Format>, reader: AnyReader) -> Result<RowGroups> {
        let native = format.is_none_or(|format| matches!(format.read, Read::Dataset));
        if native && matches!(reader.format().read, Read::Dataset) {
            let (scores, notices) = (reader.scores(), reader.notices().clone());
            return Ok(RowGroups::Dataset(Dataset::open_with(path, scores, notices)?));
        }
        Ok(RowGroups::Stream(reader))
    }

    pub fn metadata(&self) -> &Metadata {
        match self {
            RowGroups::Dataset(dataset) => dataset.metadata(),
            RowGroups::Stream(reader) => reader.metadata(),
        }
    }

    pub fn notices(&self) -> &Notices {
        match self {
            RowGroups::Dataset(dataset) => dataset.notices(),
            RowGroups::Stream(reader) => reader.notices(),
        }
    }

    /// Opens the reader of the file's columns beside its records, of those that are wanted; see [`ExtraRows::of`].
    pub fn extra_rows(&self, wanted: &[ExtraColumn]) -> Result<Option<ExtraRows>> {
        ExtraRows::of(self.path(), self.metadata(), wanted, self.notices())
    }

    pub fn has_checksums(&self) -> bool {
        matches!(self, RowGroups::Dataset(dataset) if dataset.has_checksums())
    }

    /// Reads illegal records too, for a caller that reports them itself.
    pub fn accept_illegal_records(&mut self) {
        if let RowGroups::Dataset(dataset) = self {
            dataset.accept_illegal_records();
        }
    }

    pub fn rows(&self) -> Option<u64> {
        match self {
            RowGroups::Dataset(dataset) => Some(dataset.rows()),
            RowGroups::Stream(reader) => reader.rows(),
        }
    }

    pub fn path(&self) -> &Path {
        match self {
            RowGroups::Dataset(dataset) => dataset.path(),
            RowGroups::Stream(reader) => reader.path(),
        }
    }

    pub fn format(&self) -> &'static Format {
        match self {
            RowGroups::Dataset(_) => registry::native(),
            RowGroups::Stream(reader) => reader.format(),
        }
    }

    /// Reads positions in order, about a page at a time.
    pub fn blocks(&mut self) -> PositionBlocks<'_> {
        match self {
            RowGroups::Dataset(dataset) => PositionBlocks::Dataset(Box::new(dataset.blocks())),
            RowGroups::Stream(reader) => PositionBlocks::Stream(reader),
        }
    }

    pub fn for_each(&mut self, mut each: impl FnMut(Vec<Record>) -> Result<()>) -> Result<()> {
        let mut blocks = self.blocks();
        while let Some(records) = blocks.next_block()? {
            each(records)?;
        }
        Ok(())
    }

    /// Passes every group from the one with position `from` on to `work`, on any thread, and the results to `take` in
    /// order. A group that cannot be read has the error in its place; in a stream it is the last.
    pub fn scan<T: Send>(
        self,
        from: u64,
        work: impl Fn(RowGroup<'_>) -> T + Sync,
        take: impl FnMut(T) -> Result<()>,
    ) -> Result<()> {
        match self {
            RowGroups::Dataset(dataset) => groups(&dataset, from, work, take),
            RowGroups::Stream(reader) => batches(reader, work, take),
        }
    }
}

/// Positions of a file of any format in order, on one thread and in little memory.
pub enum PositionBlocks<'a> {
    Dataset(Box<Blocks<'a>>),
    Stream(&'a mut AnyReader),
}

impl PositionBlocks<'_> {
    /// Reads the next block; `None` at the end.
    pub fn next_block(&mut self) -> Result<Option<Vec<Record>>> {
        match self {
            PositionBlocks::Dataset(blocks) => blocks.next_block(),
            PositionBlocks::Stream(reader) => {
                let mut records = Vec::new();
                Ok(reader.next_batch(&mut records)?.then_some(records))
            }
        }
    }
}

fn groups<T: Send>(
    dataset: &Dataset,
    from: u64,
    work: impl Fn(RowGroup<'_>) -> T + Sync,
    mut take: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    let mut rows = 0;
    let starts: Vec<u64> = (0..dataset.groups())
        .map(|index| {
            let start = rows;
            rows += dataset.group_rows(index);
            start
        })
        .collect();
    let first = starts.partition_point(|start| *start <= from).saturating_sub(1);
    let window = rayon::current_num_threads().min(GROUPS);
    for start in (first..dataset.groups()).step_by(window) {
        interrupt::check()?;
        let indices = start..(start + window).min(dataset.groups());
        let one = |index: usize| {
            let records = dataset.read_group(index);
            let place = format!("row group {index} at byte {}", dataset.group_offset(index));
            work(RowGroup { row: starts[index], place: &place, records: records.as_deref().map_err(copy) })
        };
        let done: Vec<T> = indices.into_par_iter().map(one).collect();
        done.into_iter().try_for_each(&mut take)?;
    }
    Ok(())
}

fn batches<T: Send>(
    mut reader: AnyReader,
    work: impl Fn(RowGroup<'_>) -> T + Sync,
    mut take: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    let mut row = 0;
    let mut more = true;
    while more {
        interrupt::check()?;
        let mut window: Vec<(u64, Result<Vec<Record>>)> = Vec::new();
        while more && window.len() < BATCHES * rayon::current_num_threads() {
            let mut records = Vec::new();
            let read = reader.next_batch(&mut records);
            more = matches!(read, Ok(true));
            // Positions before a fault count.
            if more || !records.is_empty() {
                let start = row;
                row += records.len() as u64;
                window.push((start, Ok(records)));
            }
            window.extend(read.err().map(|error| (row, Err(error))));
        }
        let one = |(row, records): (u64, Result<Vec<Record>>)| {
            work(RowGroup { row, place: "", records: records.as_deref().map_err(copy) })
        };
        let done: Vec<T> = window.into_par_iter().map(one).collect();
        done.into_iter().try_for_each(&mut take)?;
    }
    Ok(())
}

/// Copies an error; an error in a file's content keeps its place and reason.
fn copy(error: &Error) -> Error {
    match error {
        Error::Data { path, place, reason } => {
            Error::Data { path: path.clone(), place: place.clone(), reason: reason.clone() }
        }
        Error::Hinted(error, hint) => copy(error).hint(hint.clone()),
        other => Error::input(other.to_string()),
    }
}
