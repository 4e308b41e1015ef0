//! Keeps positions whose score for one side lies in a range.
//!
//! In: a record's score. Out: keep or drop. A position without a score stays: `no_score` drops those.

use super::registry::{Kind, Make, Parameter, Row};
use super::{Filter, Record};

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "score_range",
    doc: "its score is below min or above max centipawns for a side (none: it stays)",
    parameters: &[
        Parameter {
            name: "min",
            doc: "the lowest score kept, in centipawns",
            kind: Kind::Whole(-32000, 32000),
            default: &[-32000.0],
        },
        Parameter {
            name: "max",
            doc: "the highest score kept, in centipawns",
            kind: Kind::Whole(-32000, 32000),
            default: &[32000.0],
        },
        Parameter {
            name: "side",
            doc: "for whom the score speaks",
            kind: Kind::Choice(&["mover", "white"]),
            default: &[0.0],
        },
    ],
    make: Make::Position(|v| Box::new(ScoreRange { min: v[0] as i32, max: v[1] as i32, white: v[2] == 1.0 })),
};

/// Positions whose score for the side to move, or for White, lies outside a range.
#[derive(Debug, Clone, Copy)]
struct ScoreRange {
    min: i32,
    max: i32,
    white: bool,
}

impl Filter for ScoreRange {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        let sign = if self.white && record.turn.is_black() { -1 } else { 1 };
        record.score.is_none_or(|score| (self.min..=self.max).contains(&(sign * i32::from(score))))
    }
}
