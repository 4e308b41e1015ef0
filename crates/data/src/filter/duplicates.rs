//! Drops positions that have come before.
//!
//! What are equal positions, and which of them stays, is decided where the positions pass in their order
//! ([`Pipeline::keep`](super::Pipeline::keep)); here is the row alone.

use super::registry::{Make, Row};

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "duplicates",
    doc: "the position has come before (board, side to move, castling, en passant)",
    parameters: &[],
    make: Make::Duplicates,
};
