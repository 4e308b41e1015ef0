//! Drops positions without a score.
//!
//! In: a record's score. Out: keep or drop. Trainers that learn scores need one at every position.

use super::registry::{Make, Row};
use super::{Filter, Record};

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "no_score",
    doc: "it has no score",
    parameters: &[],
    make: Make::Position(|_| Box::new(NoScore)),
};

/// Positions for which the game records no score.
#[derive(Debug, Clone, Copy)]
struct NoScore;

impl Filter for NoScore {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        record.score.is_some()
    }
}
