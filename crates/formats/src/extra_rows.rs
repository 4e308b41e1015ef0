//! Reader of the columns of a file that patzer does not know, and of the visits of montyformat.

use std::collections::VecDeque;
use std::path::Path;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{AsBytes, DataType};
use parquet::errors::Result as ParquetResult;

use crate::extra::{ExtraColumn, ExtraRow};
use crate::extra_columns;
use crate::foreign::monty;
use crate::metadata::Metadata;
use crate::native::parquet::Dataset;
use crate::native::projection::Projection;
use crate::notices::Notices;
use crate::recognise::is_dataset;
use crate::stream::Input;
use crate::visits;
use patzer_io::error::Result;

/// Reads the unknown columns of a file from start to end, a row group or a game at a time.
pub struct ExtraRows {
    source: Source,
    rows: VecDeque<ExtraRow>,
}

enum Source {
    Dataset(Box<Groups>),
    /// A file of montyformat, and the place of its visits among the wanted columns.
    Monty(Box<monty::Reader>, usize),
}

struct Groups {
    dataset: Dataset,
    /// Places of the wanted columns in the file; `None` for those that it lacks.
    places: Vec<Option<usize>>,
    next: usize,
}

impl ExtraRows {
    /// The columns of a file in the order of `wanted`; `None` if nothing is wanted of it.
    pub fn of(
        path: &Path,
        own: &Metadata,
        wanted: &[ExtraColumn],
        notices: &Notices,
    ) -> Result<Option<ExtraRows>> {
        if own.extra.is_empty() || wanted.is_empty() {
            return Ok(None);
        }
        for other in own.extra.iter().filter(|extra| !wanted.contains(extra)) {
            if wanted.iter().any(|wanted| wanted.name() == other.name()) {
                let what = "has another type than elsewhere, and its values are left out";
                notices.add(path, format!("the column {} {what}", other.name()));
            }
        }
        let source = if is_dataset(path, None)? {
            Source::Dataset(Box::new(Groups::open(path, wanted)?))
        } else {
            let Some(place) = wanted.iter().position(visits::is) else { return Ok(None) };
            Source::Monty(Box::new(monty::Reader::with_visits(Input::open(path)?)?), place)
        };
        Ok(Some(ExtraRows { source, rows: VecDeque::new() }))
    }

    /// Reads the next rows of a file; empty ones of a file without unknown columns.
    pub fn take_of(extra: &mut Option<ExtraRows>, count: usize) -> Result<Vec<ExtraRow>> {
        extra.as_mut().map_or_else(|| Ok(vec![ExtraRow::default(); count]), |extra| extra.take(count))
    }

    /// Reads the next rows; fewer at the end of the file.
    pub fn take(&mut self, count: usize) -> Result<Vec<ExtraRow>> {
        while self.rows.len() < count {
            let more = match &mut self.source {
                Source::Dataset(groups) => groups.next_group()?,
                Source::Monty(reader, place) => reader.next_visits()?.map(|cells| {
                    let row = |cell| ExtraRow((0..*place).map(|_| None).chain([cell]).collect());
                    cells.into_iter().map(row).collect()
                }),
            };
            match more {
                Some(rows) => self.rows.extend(rows),
                None => break,
            }
        }
        Ok(self.rows.drain(..count.min(self.rows.len())).collect())
    }
}

impl Groups {
    fn open(path: &Path, wanted: &[ExtraColumn]) -> Result<Groups> {
        let dataset = Dataset::open(path)?;
        let columns = dataset.file().schema().columns();
        let at = |place: usize, wanted| extra_columns::at(columns, place).as_ref() == Some(wanted);
        let places =
            wanted.iter().map(|wanted| (0..columns.len()).find(|place| at(*place, wanted))).collect();
        Ok(Groups { dataset, places, next: 0 })
    }

    /// The rows of the next row group; `None` after the last.
    fn next_group(&mut self) -> Result<Option<Vec<ExtraRow>>> {
        if self.next == self.dataset.groups() {
            return Ok(None);
        }
        let rows = self.read_group()?;
        self.next += 1;
        Ok(Some(rows))
    }

    fn read_group(&self) -> Result<Vec<ExtraRow>> {
        let mut rows = vec![ExtraRow::default(); self.dataset.group_rows(self.next) as usize];
        for place in &self.places {
            let Some(place) = place else {
                rows.iter_mut().for_each(|row| row.0.push(None));
                continue;
            };
            let columns = self.dataset.file().schema().columns();
            let read = match visits::starts(columns, *place) {
                true => self.read_visits(*place, &mut rows)?,
                false => self.read_flat(*place, &mut rows),
            };
            read.map_err(|e| self.dataset.damaged(self.next, &e))?;
        }
        Ok(rows)
    }

    fn read_visits(&self, place: usize, rows: &mut [ExtraRow]) -> Result<ParquetResult<()>> {
        let records = self.dataset.read_columns(self.next, Projection::KEY)?;
        let leaf = |place: usize| {
            let column = self.dataset.file().schema().column(place);
            Ok((self.dataset.file().column(self.next, place)?, column))
        };
        let leaves = leaf(place).and_then(|moves| Ok([moves, leaf(place + 1)?]));
        Ok(leaves.and_then(|leaves| visits::read(leaves, &records)).map(|cells| {
            rows.iter_mut().zip(cells).for_each(|(row, cell)| row.0.push(cell));
        }))
    }

    fn read_flat(&self, place: usize, rows: &mut [ExtraRow]) -> ParquetResult<()> {
        match self.dataset.file().column(self.next, place)? {
            ColumnReader::BoolColumnReader(reader) => read(reader, rows),
            ColumnReader::Int32ColumnReader(reader) => read(reader, rows),
            ColumnReader::Int64ColumnReader(reader) => read(reader, rows),
            ColumnReader::Int96ColumnReader(reader) => read(reader, rows),
            ColumnReader::FloatColumnReader(reader) => read(reader, rows),
            ColumnReader::DoubleColumnReader(reader) => read(reader, rows),
            ColumnReader::ByteArrayColumnReader(reader) => read(reader, rows),
            ColumnReader::FixedLenByteArrayColumnReader(reader) => read(reader, rows),
        }
    }
}

/// Appends a cell of the column to each row.
fn read<T: DataType>(mut reader: ColumnReaderImpl<T>, rows: &mut [ExtraRow]) -> ParquetResult<()> {
    const AT_ONCE: usize = 1 << 12;
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    for some in rows.chunks_mut(AT_ONCE) {
        let mut done = 0;
        while done < some.len() {
            values.clear();
            levels.clear();
            let (records, ..) =
                reader.read_records(some.len() - done, Some(&mut levels), None, &mut values)?;
            if records == 0 {
                return Err(parquet::errors::ParquetError::EOF("a column ends early".into()));
            }
            let mut next = values.iter();
            for (nth, row) in some[done..done + records].iter_mut().enumerate() {
                // A required column has no levels.
                let there = levels.get(nth).is_none_or(|level| *level > 0);
                let value = if there { next.next() } else { None };
                row.0.push(value.map(|value| value.as_bytes().into()));
            }
            done += records;
        }
    }
    Ok(())
}
