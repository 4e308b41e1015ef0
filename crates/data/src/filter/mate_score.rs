//! Drops positions whose score is a forced mate.
//!
//! In: a record's score. Out: keep or drop. Source: Österlund, "Texel's Tuning Method" (2014), which leaves out
//! positions where the engine found a mate.

use super::registry::{Make, Row};
use super::{Filter, Record};
use patzer_chess::score::is_mate;

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "mate_score",
    doc: "its score is a forced mate for either side",
    parameters: &[],
    make: Make::Position(|_| Box::new(MateScore)),
};

/// Positions with a mate as score.
#[derive(Debug, Clone, Copy)]
struct MateScore;

impl Filter for MateScore {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        record.score.is_none_or(|score| !is_mate(score.into()))
    }
}
