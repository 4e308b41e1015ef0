//! Filter of positions that have come before.

use super::registry::{Build, FilterRow};
use patzer_formats::dedupe_rule::DUPLICATES;

pub(super) const ROWS: &[FilterRow] = &[FilterRow::new(
    DUPLICATES,
    "the position has come before (board, side to move, castling, en passant)",
    &[],
    Build::Duplicates,
)];
