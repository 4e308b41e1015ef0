//! Keeps positions whose score lies in a range, whichever side it favours.
//!
//! In: a record's score, mates included as ±(32000 − plies). Out: keep or drop. A position without a score stays:
//! `no_score` drops those.

use super::registry::{Kind, Make, Parameter, Row};
use super::{Filter, Record};

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "score_limit",
    doc: "its score is below min or above max centipawns for either side (none: it stays)",
    parameters: &[
        Parameter {
            name: "min",
            doc: "the least that one side is ahead, in centipawns",
            kind: Kind::Whole(0, 32000),
            default: &[0.0],
        },
        Parameter {
            name: "max",
            doc: "the most that one side is ahead, in centipawns",
            kind: Kind::Whole(0, 32000),
            default: &[10000.0],
        },
    ],
    make: Make::Position(|v| Box::new(ScoreLimit { min: v[0] as u16, max: v[1] as u16 })),
};

/// Positions with a score too near to or too far from 0.
#[derive(Debug, Clone, Copy)]
struct ScoreLimit {
    min: u16,
    max: u16,
}

impl Filter for ScoreLimit {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        record.score.is_none_or(|score| (self.min..=self.max).contains(&score.unsigned_abs()))
    }
}
