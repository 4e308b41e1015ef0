//! The columns of a Parquet file, by name: which are a dataset's, which it lacks, and what it says of itself.

use std::path::Path;

use parquet::file::metadata::ParquetMetaData;

use crate::dedupe_rule::{Dedupe, Keep};
use crate::metadata::{METADATA_KEY, Metadata};
use crate::native::columns::{Column, Layout};
use crate::native::kind::ColumnType;
use crate::native::parquet_file::ParquetFile;
use crate::native::values::Stored;
use crate::notices::Notices;
use patzer_io::error::{Error, Result};
use patzer_io::few_names;

/// A column of a dataset in a file.
pub struct FileColumn {
    pub column: &'static Column,
    pub place: usize,
    /// Type and nullability, unless patzer wrote the column as it writes it now.
    pub foreign: Option<(Stored, bool)>,
}

impl FileColumn {
    pub fn new(column: &'static Column, place: usize, file: &ParquetFile) -> Result<FileColumn> {
        let stored = file.schema().column(place);
        if file.is_sealed() && column.is_own(&stored) {
            return Ok(FileColumn { column, place, foreign: None });
        }
        let fits = |stored: &Stored| match column.kind {
            ColumnType::Board => matches!(stored, Stored::Fixed(24) | Stored::Bytes),
            ColumnType::Bool | ColumnType::Int(_) => !matches!(stored, Stored::Fixed(_) | Stored::Bytes),
        };
        let Some(kind) = Stored::of(&stored).filter(fits) else {
            let reason = format!("its column `{}` has another type than a dataset's", column.name);
            return Err(Error::data(file.path(), reason));
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
    // A teacher's name stays without its columns: it says where the scores come from.
    if layout.taught {
        metadata.teacher.get_or_insert_with(|| "as the file says".into());
    }
    if layout.means != metadata.layout().means {
        metadata.dedupe = layout.means.then(|| Dedupe { keep: Keep::Mean, ..Dedupe::default() });
    }
    (metadata, lost)
}

/// Notice of columns that another program left out, added or lost.
pub fn say(
    path: &Path,
    notices: &Notices,
    unknown: &[&str],
    missing: &[&'static Column],
    lost: Option<String>,
) {
    let mut parts = Vec::new();
    if !unknown.is_empty() {
        parts.push(format!(
            "left out are the columns {}, which are nested or no part of a dataset",
            few_names(unknown)
        ));
    }
    if !missing.is_empty() {
        let names: Vec<&str> = missing.iter().map(|column| column.name).collect();
        parts.push(format!("it lacks the columns {}, which are empty or computed", names.join(", ")));
    }
    parts.extend(lost.map(|lost| format!("{lost}, so its sources and filters are unknown")));
    if !parts.is_empty() {
        notices.add(path, parts.join("; "));
    }
}
