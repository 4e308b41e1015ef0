//! Columns of a Parquet dataset that patzer does not know, carried along from file to file.
//!
//! They stay what they are: type and values, optional or not, become an optional column of the same name. Nested columns
//! are left out, except [`visits`], which patzer knows; montyformat has it too.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as PhysicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{AsBytes, DataType};
use parquet::errors::Result as ParquetResult;
use parquet::file::metadata::ParquetMetaData;
use parquet::schema::types::{ColumnDescPtr, ColumnDescriptor, Type, TypePtr};

use super::any::is_dataset;
use super::columns::{COLUMNS, READABLE};
use super::page::varint;
use super::parquet::Dataset;
use super::projection::Projection;
use super::stream::Input;
use super::{monty, visits};
use crate::spill::{Spillable, field};
use crate::{Metadata, notices};
use patzer_io::error::Result;

/// A column that patzer does not know, or [`visits`].
#[derive(Debug, Clone, PartialEq)]
pub struct ExtraColumn {
    pub(super) field: TypePtr,
}

/// The values of a row, as Parquet stores them plainly; without the length of a byte string.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExtraRow(pub(super) Vec<Option<Box<[u8]>>>);

impl ExtraColumn {
    /// The column in a place as it is written; `None` if it is nested.
    fn at(columns: &[ColumnDescPtr], place: usize) -> Option<ExtraColumn> {
        if visits::starts(columns, place) {
            Some(visits::column())
        } else {
            ExtraColumn::of(columns.get(place)?)
        }
    }

    fn of(column: &ColumnDescriptor) -> Option<ExtraColumn> {
        let flat = column.path().parts().len() == 1 && column.max_rep_level() == 0;
        let known = COLUMNS.iter().any(|own| own.name == column.name())
            || READABLE.iter().any(|own| own.name == column.name());
        if !flat || known {
            return None;
        }
        let logical: Option<LogicalType> = column.logical_type_ref().cloned();
        let field = Type::primitive_type_builder(column.name(), column.physical_type())
            .with_repetition(Repetition::OPTIONAL)
            .with_converted_type(column.converted_type())
            .with_logical_type(logical)
            .with_length(column.type_length())
            .with_precision(column.type_precision())
            .with_scale(column.type_scale())
            .build();
        Some(ExtraColumn { field: Arc::new(field.ok()?) })
    }

    pub fn name(&self) -> &str {
        self.field.name()
    }

    /// The columns of a file, by place.
    pub(super) fn all(file: &ParquetMetaData) -> Vec<ExtraColumn> {
        let columns = file.file_metadata().schema_descr().columns();
        (0..columns.len()).filter_map(|place| ExtraColumn::at(columns, place)).collect()
    }

    /// The values of some rows as plain data pages, of each leaf of the column, with the numbers of their levels.
    pub(super) fn pages(&self, nth: usize, rows: &[ExtraRow]) -> Vec<(usize, Vec<u8>)> {
        match visits::is(self) {
            true => visits::pages(rows, nth).into(),
            false => vec![(rows.len(), self.page(nth, rows))],
        }
    }

    /// A plain data page of an optional column.
    fn page(&self, nth: usize, rows: &[ExtraRow]) -> Vec<u8> {
        let mut page = Vec::new();
        let cells: Vec<Option<&[u8]>> = rows.iter().map(|row| row.0.get(nth)?.as_deref()).collect();
        let mut runs = Vec::new();
        varint((rows.len().div_ceil(8) << 1 | 1) as u64, &mut runs);
        runs.extend(packed(cells.iter().map(Option::is_some)));
        page.extend((runs.len() as u32).to_le_bytes());
        page.extend(runs);
        let physical = self.field.get_physical_type();
        if physical == PhysicalType::BOOLEAN {
            page.extend(packed(cells.iter().flatten().map(|value| value[0] == 1)));
            return page;
        }
        for value in cells.into_iter().flatten() {
            if physical == PhysicalType::BYTE_ARRAY {
                page.extend((value.len() as u32).to_le_bytes());
            }
            page.extend(value);
        }
        page
    }
}

/// Packs bits into bytes, the lowest first.
fn packed(bits: impl Iterator<Item = bool>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (index, bit) in bits.enumerate() {
        if index % 8 == 0 {
            bytes.push(0);
        }
        bytes[index / 8] |= u8::from(bit) << (index % 8);
    }
    bytes
}

impl Metadata {
    /// Leaves out the unknown columns, and says so.
    pub fn leave_extra(&mut self, path: &Path, why: &str) {
        self.leave_extra_but(path, why, |_| false);
    }

    /// Leaves out the unknown columns but those that `keeps`, and says so.
    pub(super) fn leave_extra_but(&mut self, path: &Path, why: &str, keeps: fn(&ExtraColumn) -> bool) {
        let (kept, left) = std::mem::take(&mut self.extra).into_iter().partition(keeps);
        self.extra = kept;
        let left: Vec<ExtraColumn> = left;
        let names: Vec<&str> = left.iter().map(ExtraColumn::name).collect();
        if !names.is_empty() {
            notices::add(path, format!("left out are the columns {}, which {why}", names.join(", ")));
        }
    }
}

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
    pub fn of(path: &Path, own: &Metadata, wanted: &[ExtraColumn]) -> Result<Option<ExtraRows>> {
        if own.extra.is_empty() || wanted.is_empty() {
            return Ok(None);
        }
        for other in own.extra.iter().filter(|extra| !wanted.contains(extra)) {
            if wanted.iter().any(|wanted| wanted.name() == other.name()) {
                let what = "has another type than elsewhere, and its values are left out";
                notices::add(path, format!("the column {} {what}", other.name()));
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
        let at = |place: usize, wanted| ExtraColumn::at(columns, place).as_ref() == Some(wanted);
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

impl Spillable for ExtraRow {
    fn encode(rows: &[ExtraRow]) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        for row in rows {
            bytes.extend((row.0.len() as u32).to_le_bytes());
            for cell in &row.0 {
                let length = cell.as_ref().map_or(u32::MAX, |cell| cell.len() as u32);
                bytes.extend(length.to_le_bytes());
                bytes.extend(cell.iter().flatten());
            }
        }
        Ok(bytes)
    }

    fn decode(mut bytes: &[u8], to: &mut Vec<ExtraRow>) -> io::Result<()> {
        let mut take = |count: usize| {
            let (taken, rest) = bytes.split_at_checked(count).ok_or(io::ErrorKind::UnexpectedEof)?;
            bytes = rest;
            Ok::<_, io::Error>((taken, rest.is_empty()))
        };
        let number = |bytes| u32::from_le_bytes(field(bytes, 0));
        let mut last = false;
        while !last {
            let mut row = ExtraRow::default();
            for _ in 0..number(take(4)?.0) {
                let (length, end) = take(4)?;
                last = end;
                row.0.push(match number(length) {
                    u32::MAX => None,
                    length => {
                        let (cell, end) = take(length as usize)?;
                        last = end;
                        Some(cell.into())
                    }
                });
            }
            to.push(row);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spilled_rows_come_back() {
        let cell = |text: &str| Some(text.as_bytes().into());
        let rows = [
            ExtraRow(vec![cell("Sicilian"), None]),
            ExtraRow(vec![None, cell("")]),
            ExtraRow(vec![cell(""), cell("1.5")]),
            ExtraRow(vec![None, None]),
        ];
        for some in rows.chunks(3) {
            let mut back = Vec::new();
            ExtraRow::decode(&ExtraRow::encode(some).unwrap(), &mut back).unwrap();
            assert_eq!(back, some);
        }
    }
}
