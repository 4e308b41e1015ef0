//! The columns of a Parquet file, by name: which are a dataset's, which it lacks, and what it says of itself.

use std::fs::File;
use std::path::Path;

use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};

use super::columns::{Column, Kind, Layout};
use super::metadata::Metadata;
use super::parquet::METADATA_KEY;
use super::positioned::Positioned;
use super::values::Stored;
use crate::dedupe::{Dedupe, Keep};
use crate::notices;
use patzer_io::error::{Error, Result};

/// A column of a dataset in a file.
pub struct FileColumn {
    pub column: &'static Column,
    pub place: usize,
    /// Type and nullability, unless patzer wrote the column as it writes it now.
    pub foreign: Option<(Stored, bool)>,
}

/// Opens a file that is not empty.
pub fn open_file(path: &Path) -> Result<Positioned> {
    let file = File::open(path).map_err(|e| Error::io(path, e))?;
    let about = file.metadata().map_err(|e| Error::io(path, e))?;
    if about.is_dir() {
        return Err(Error::data(path, "is a folder, not a file"));
    }
    if about.len() == 0 {
        return Err(Error::data(path, "is empty"));
    }
    Positioned::new(file).map_err(|e| Error::io(path, e))
}

/// Names and places of the columns that are not nested.
pub fn top_level(metadata: &ParquetMetaData) -> Vec<(&str, usize)> {
    let columns = metadata.file_metadata().schema_descr().columns().iter().enumerate();
    let flat = columns.filter(|(_, column)| column.path().parts().len() == 1 && column.max_rep_level() == 0);
    flat.map(|(place, column)| (column.name(), place)).collect()
}

impl FileColumn {
    pub fn new(
        column: &'static Column,
        place: usize,
        metadata: &ParquetMetaData,
        sealed: bool,
        path: &Path,
    ) -> Result<FileColumn> {
        let stored = metadata.file_metadata().schema_descr().column(place);
        if sealed && column.is_own(&stored) {
            return Ok(FileColumn { column, place, foreign: None });
        }
        let fits = |stored: &Stored| match column.kind {
            Kind::Board => matches!(stored, Stored::Fixed(24) | Stored::Bytes),
            Kind::Bool | Kind::Int(_) => !matches!(stored, Stored::Fixed(_) | Stored::Bytes),
        };
        let Some(kind) = Stored::of(&stored).filter(fits) else {
            let reason = format!("its column `{}` has another type than a dataset's", column.name);
            return Err(Error::data(path, reason));
        };
        Ok(FileColumn { column, place, foreign: Some((kind, stored.max_def_level() == 1)) })
    }
}

/// The metadata that a file has, and why there is none.
pub fn metadata_of(path: &Path, file: &ParquetMetaData, layout: Layout) -> (Metadata, Option<String>) {
    let pairs = file.file_metadata().key_value_metadata();
    let json =
        pairs.into_iter().flatten().find(|pair| pair.key == METADATA_KEY).and_then(|p| p.value.as_ref());
    let (mut metadata, lost) = match json.map(|json| serde_json::from_str::<Metadata>(json)) {
        Some(Ok(metadata)) => (metadata, None),
        Some(Err(e)) => {
            (Metadata::of_file(path), Some(format!("its `patzer` metadata does not parse ({e})")))
        }
        None => (Metadata::of_file(path), Some("it has no `patzer` metadata".to_string())),
    };
    // The columns that are there count, not those that there were.
    match (layout.resolved, &metadata.resolved) {
        (true, None) => metadata.resolved = Some("as the file says".into()),
        (false, _) => metadata.resolved = None,
        (true, Some(_)) => {}
    }
    if layout.means != metadata.layout().means {
        metadata.dedupe = layout.means.then(|| Dedupe { keep: Keep::Mean, ..Dedupe::default() });
    }
    (metadata, lost)
}

/// Says in one notice what another program left out, added or lost.
pub fn say(path: &Path, unknown: &[&str], missing: &[&'static Column], lost: Option<String>) {
    let mut parts = Vec::new();
    if !unknown.is_empty() {
        parts.push(format!(
            "left out are the columns {}, which are nested or no part of a dataset",
            unknown.join(", ")
        ));
    }
    if !missing.is_empty() {
        let names: Vec<&str> = missing.iter().map(|column| column.name).collect();
        parts.push(format!("it lacks the columns {}, which are empty or computed", names.join(", ")));
    }
    parts.extend(lost.map(|lost| format!("{lost}, so its sources and filters are unknown")));
    if !parts.is_empty() {
        notices::add(path, parts.join("; "));
    }
}

/// Checks the numbers of a footer that decide what is read.
pub fn check_chunks(
    metadata: &ParquetMetaData,
    used: &[FileColumn],
    length: u64,
) -> std::result::Result<(), &'static str> {
    let (mut rows, columns) = (0i64, metadata.file_metadata().schema_descr().num_columns());
    for group in metadata.row_groups() {
        rows = rows.checked_add(group.num_rows()).filter(|_| group.num_rows() >= 0).ok_or(ROWS)?;
        if group.num_columns() != columns {
            return Err("its footer is damaged: a row group lacks columns");
        }
        for file in used {
            let chunk = group.column(file.place);
            check_chunk(chunk, group.num_rows(), length)?;
        }
    }
    if rows == metadata.file_metadata().num_rows() { Ok(()) } else { Err(ROWS) }
}

/// Checks that a column chunk lies within the file and has as many values as its row group has rows.
pub fn check_chunk(
    chunk: &ColumnChunkMetaData,
    rows: i64,
    length: u64,
) -> std::result::Result<(), &'static str> {
    check_place(chunk, length)?;
    if chunk.num_values() == rows { Ok(()) } else { Err(ROWS) }
}

/// Checks that a column chunk lies within the file.
pub fn check_place(chunk: &ColumnChunkMetaData, length: u64) -> std::result::Result<(), &'static str> {
    let start = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
    let end = start.checked_add(chunk.compressed_size());
    let inside = start >= 0 && end.is_some_and(|end| end >= start && end as u64 <= length);
    if !inside || chunk.data_page_offset() < start || chunk.file_path().is_some() {
        return Err("its footer is damaged: the pages of a column are not within the file");
    }
    Ok(())
}

const ROWS: &str = "its footer is damaged: its numbers of rows contradict each other";
