//! The columns of a Parquet file that patzer carries along: flat ones that it does not know, and [`visits`].

use parquet::file::metadata::ParquetMetaData;
use parquet::schema::types::ColumnDescPtr;

use crate::extra::{ExtraColumn, ExtraRow};
use crate::visits;

/// The column in a place as it is written; `None` if it is nested.
pub fn at(columns: &[ColumnDescPtr], place: usize) -> Option<ExtraColumn> {
    if visits::starts(columns, place) { Some(visits::column()) } else { ExtraColumn::of(columns.get(place)?) }
}

/// The columns of a file, by place.
pub fn all(file: &ParquetMetaData) -> Vec<ExtraColumn> {
    let columns = file.file_metadata().schema_descr().columns();
    (0..columns.len()).filter_map(|place| at(columns, place)).collect()
}

/// The values of some rows as plain data pages, of each leaf of the column, with the numbers of their levels.
pub fn pages(column: &ExtraColumn, nth: usize, rows: &[ExtraRow]) -> Vec<(usize, Vec<u8>)> {
    match visits::is(column) {
        true => visits::pages(rows, nth).into(),
        false => vec![(rows.len(), column.page(nth, rows))],
    }
}
