//! A file of positions part by part, several at a time, with the results in the order of the file.
//!
//! In: a path, of any format. Out: each part given to a function on some thread, and what that made of it given to
//! another function in order. A dataset's parts are its row groups, which are read and decoded side by side; other
//! formats are read from their start on one thread. At most a window of parts is in memory at once.

use std::path::Path;

use rayon::prelude::*;

use super::format::registry::{Format, Read};
use super::{AnyReader, Dataset, Metadata, Record};
use patzer_io::error::{Error, Result};
use patzer_io::interrupt;

/// The most row groups that are in memory at once: each is about a hundred megabytes.
const GROUPS: usize = 8;

/// How many batches of another format are worked on at once, for each thread.
const BATCHES: usize = 4;

/// A file of positions, opened.
pub struct RowGroups {
    file: File,
}

enum File {
    Dataset(Dataset),
    Stream(AnyReader),
}

/// Some neighbouring positions of a file, or why they cannot be read.
pub struct RowGroup<'a> {
    /// The place of the first of them among the file's positions, from 0.
    pub row: u64,
    /// Where the part lies in the file, for messages.
    pub place: &'a str,
    /// The positions.
    pub records: Result<&'a [Record]>,
}

impl RowGroups {
    /// Opens a file; without a format, its content says which it is, or else its name.
    ///
    /// # Errors
    /// If it cannot be opened, or is no file of positions.
    pub fn open(path: &Path, format: Option<&'static Format>) -> Result<RowGroups> {
        let native = format.is_none_or(|format| matches!(format.read, Read::Dataset));
        let reader = AnyReader::open(path, format)?;
        if native && matches!(reader.format().read, Read::Dataset) && path != Path::new("-") {
            return Ok(RowGroups { file: File::Dataset(Dataset::open(path)?) });
        }
        Ok(RowGroups { file: File::Stream(reader) })
    }

    /// What the file says of itself.
    pub fn metadata(&self) -> &Metadata {
        match &self.file {
            File::Dataset(dataset) => dataset.metadata(),
            File::Stream(reader) => reader.metadata(),
        }
    }

    /// How many positions it holds, if that is known before it is read.
    pub fn rows(&self) -> Option<u64> {
        match &self.file {
            File::Dataset(dataset) => Some(dataset.rows()),
            File::Stream(reader) => reader.rows(),
        }
    }

    /// Gives every part from the one that holds position `from` on to `work`, on any thread, and its results to
    /// `take` in order. A part that cannot be read comes with its error; of a stream it is the last.
    ///
    /// # Errors
    /// What `take` says, which ends the reading, or that the user interrupts.
    pub fn scan<T: Send>(
        self,
        from: u64,
        work: impl Fn(RowGroup<'_>) -> T + Sync,
        take: impl FnMut(T) -> Result<()>,
    ) -> Result<()> {
        match self.file {
            File::Dataset(dataset) => groups(&dataset, from, work, take),
            File::Stream(reader) => batches(reader, work, take),
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
        stop_if_asked()?;
        let indices = start..(start + window).min(dataset.groups());
        let one = |index: usize| {
            let records = dataset.read_group(index);
            let place = format!("row group {index} at byte {}", dataset.group_offset(index));
            work(RowGroup { row: starts[index], place: &place, records: records.as_deref().map_err(again) })
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
        stop_if_asked()?;
        let mut window: Vec<(u64, Result<Vec<Record>>)> = Vec::new();
        while more && window.len() < BATCHES * rayon::current_num_threads() {
            let mut records = Vec::new();
            match reader.next_batch(&mut records) {
                Ok(true) => {
                    let start = row;
                    row += records.len() as u64;
                    window.push((start, Ok(records)));
                }
                Ok(false) => more = false,
                Err(error) => {
                    more = false;
                    // What came before the fault counts.
                    if !records.is_empty() {
                        let start = row;
                        row += records.len() as u64;
                        window.push((start, Ok(records)));
                    }
                    window.push((row, Err(error)));
                }
            }
        }
        let one = |(row, records): (u64, Result<Vec<Record>>)| {
            work(RowGroup { row, place: "", records: records.as_deref().map_err(again) })
        };
        let done: Vec<T> = window.into_par_iter().map(one).collect();
        done.into_iter().try_for_each(&mut take)?;
    }
    Ok(())
}

fn stop_if_asked() -> Result<()> {
    if interrupt::requested() { Err(Error::Interrupted("nothing was written")) } else { Ok(()) }
}

/// The same error once more: one of a file's content keeps its place and reason.
fn again(error: &Error) -> Error {
    match error {
        Error::Data { path, place, reason } => {
            Error::Data { path: path.clone(), place: place.clone(), reason: reason.clone() }
        }
        other => Error::usage(other.to_string()),
    }
}
