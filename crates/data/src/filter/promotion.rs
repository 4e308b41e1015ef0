//! Drops positions from which the game went on with a promotion.
//!
//! In: a record's flags. Out: keep or drop.

use super::registry::{Make, Row};
use super::{Filter, Record};
use crate::flags;

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "promotion",
    doc: "the move played promotes",
    parameters: &[],
    make: Make::Position(|_| Box::new(Promotion)),
};

/// Positions whose played move promotes.
#[derive(Debug, Clone, Copy)]
struct Promotion;

impl Filter for Promotion {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        !record.has(flags::PROMOTION)
    }
}
