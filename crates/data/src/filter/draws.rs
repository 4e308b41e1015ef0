//! Drops positions of drawn games.
//!
//! In: a record's result. Out: keep or drop. Source: zurichess, "Choosing positions for Texel's Tuning Method"
//! (2016).

use super::registry::{Make, Row};
use super::{Filter, Record};

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "draws",
    doc: "the game was drawn",
    parameters: &[],
    make: Make::Position(|_| Box::new(Draws)),
};

/// Positions of games that nobody won.
#[derive(Debug, Clone, Copy)]
struct Draws;

impl Filter for Draws {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        record.result != 0
    }
}
