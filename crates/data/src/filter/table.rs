//! The table of filters.

use super::registry::{FilterError, FilterRow};
use super::{
    duplicates, games, listed, material, moves, names, piece_target, plies, random, results, scores,
    signature, wdl_skip, windows,
};

/// The rows of each theme; filters of games come first, as in every [`Pipeline`].
static THEMES: &[&[FilterRow]] = &[
    games::ROWS,
    names::ROWS,
    windows::ROWS,
    moves::ROWS,
    scores::ROWS,
    plies::ROWS,
    material::ROWS,
    signature::ROWS,
    results::ROWS,
    listed::ROWS,
    random::ROWS,
    wdl_skip::ROWS,
    piece_target::ROWS,
    duplicates::ROWS,
];

/// Every filter, in the order of help texts.
pub fn rows() -> impl Iterator<Item = &'static FilterRow> {
    THEMES.iter().copied().flatten()
}

/// The filter of this name.
pub fn row(name: &str) -> Result<&'static FilterRow, FilterError> {
    let unknown = || FilterError::UnknownFilter(name.into(), rows().map(|row| row.name).collect());
    rows().find(|row| row.name == name).ok_or_else(unknown)
}
