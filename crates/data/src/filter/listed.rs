//! Filter by membership in a file of positions: test suites and held-out data that training must not see, or openings
//! that games pass through.

use std::path::PathBuf;

use serde::Deserialize;

use super::registry::{self, Build, Filter, FilterRow, ParamValues, choice, params};
use crate::key_set::KeySet;
use patzer_io::error::{Error, Result};

pub(super) const ROWS: &[FilterRow] = &[FilterRow::new(
    "listed",
    "the position is in a file, or with keep=listed is not (board, side to move, castling, en passant)",
    &[
        registry::file(
            "file",
            "a dataset in any format, or lines that begin with a FEN, as test suites and books are",
        ),
        choice("keep", "which positions stay", &["others", "listed"]),
    ],
    Build::Listed(listed),
)];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    file: String,
    keep: Keep,
}

/// Rule of the positions that stay.
#[derive(PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Keep {
    Others,
    Listed,
}

/// The file of positions.
pub(super) fn file(values: &ParamValues) -> Result<PathBuf> {
    let Listed { file, .. } = params(values.clone())?;
    if file.is_empty() {
        return Err(Error::usage("filter `listed` needs a file of positions: listed.file=NAME"));
    }
    Ok(file.into())
}

fn listed(values: ParamValues, keys: KeySet) -> Result<Filter> {
    let Listed { keep, .. } = params(values)?;
    Ok(Box::new(move |record| keys.contains(record.key()) == (keep == Keep::Listed)))
}
