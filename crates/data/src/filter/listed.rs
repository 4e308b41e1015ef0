//! Filter by membership in a file of positions: test suites and held-out data that training must not see, or openings that
//! games pass through.

use std::path::Path;

use serde::Deserialize;

use super::Record;
use super::registry::{Filter, ParamValues, Row, choice, file, params};
use crate::format::any::{AnyReader, format_of};
use crate::format::epd;
use crate::key_set::KeySet;
use crate::lines;
use patzer_io::error::{Error, Result};

pub(super) const ROWS: &[Row] = &[Row::position(
    "listed",
    "the position is in a file, or with keep=listed is not (board, side to move, castling, en passant)",
    &[
        file("file", "a dataset in any format, or lines that begin with a FEN, as test suites and books are"),
        choice("keep", "which positions stay", &["others", "listed"]),
    ],
    listed,
)];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    file: String,
    keep: Keep,
}

/// Which positions stay.
#[derive(PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Keep {
    Others,
    Listed,
}

fn listed(values: ParamValues) -> Result<Filter> {
    let Listed { file, keep } = params(values)?;
    if file.is_empty() {
        return Err(Error::usage("filter `listed` needs a file of positions: --filter-set listed.file=NAME"));
    }
    let keys = keys(Path::new(&file))?;
    Ok(Box::new(move |record| keys.contains(record.key()) == (keep == Keep::Listed)))
}

/// The keys of a file's positions.
fn keys(path: &Path) -> Result<KeySet> {
    let mut keys = KeySet::new();
    match format_of(path)? {
        Some(format) if format.name != epd::NAME => {
            let (mut reader, mut records) = (AnyReader::open(path, Some(format))?, Vec::new());
            while reader.next_batch(&mut records)? {
                records.drain(..).for_each(|record: Record| {
                    keys.insert(record.key());
                });
            }
        }
        // Suites and books have no results, which a dataset in EPD needs.
        _ => {
            let parse = |line: &[u8]| match std::str::from_utf8(line) {
                Ok(text) => epd::position(text).map_err(|e| e.to_string()),
                Err(_) => Err("is not text".to_string()),
            };
            lines::each(path, true, parse, |record| {
                keys.insert(record.key());
                Ok(())
            })?;
        }
    }
    if keys.is_empty() {
        return Err(Error::data(path, "holds no position"));
    }
    Ok(keys)
}
