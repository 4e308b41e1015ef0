//! Drops positions in which the side to move is in check.
//!
//! In: a record's flags. Out: keep or drop. A static evaluation says nothing about a position in check.

use super::registry::{Make, Row};
use super::{Filter, Record};
use crate::flags;

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "in_check",
    doc: "the side to move is in check",
    parameters: &[],
    make: Make::Position(|_| Box::new(InCheck)),
};

/// Positions with the side to move in check.
#[derive(Debug, Clone, Copy)]
struct InCheck;

impl Filter for InCheck {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        !record.has(flags::IN_CHECK)
    }
}
