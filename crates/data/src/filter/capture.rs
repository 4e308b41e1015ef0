//! Drops positions from which the game went on with a capture.
//!
//! In: a record's flags. Out: keep or drop. The narrowest window before a capture: that of one ply.

use super::registry::{Make, Row};
use super::{Filter, Record};
use crate::flags;

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "capture",
    doc: "the move played captures",
    parameters: &[],
    make: Make::Position(|_| Box::new(Capture)),
};

/// Positions whose played move captures.
#[derive(Debug, Clone, Copy)]
struct Capture;

impl Filter for Capture {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        !record.has(flags::CAPTURE)
    }
}
