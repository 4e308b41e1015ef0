//! Drops positions from which the game went on with a check.
//!
//! In: a record's flags. Out: keep or drop. The narrowest window before a check: that of one ply.

use super::registry::{Make, Row};
use super::{Filter, Record};
use crate::flags;

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "gives_check",
    doc: "the move played gives check",
    parameters: &[],
    make: Make::Position(|_| Box::new(GivesCheck)),
};

/// Positions whose played move gives check.
#[derive(Debug, Clone, Copy)]
struct GivesCheck;

impl Filter for GivesCheck {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        !record.has(flags::GIVES_CHECK)
    }
}
