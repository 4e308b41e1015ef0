//! Drops positions whose score contradicts the result of the game.
//!
//! In: a record's score and result. Out: keep or drop. In a drawn game the score may favour neither side by more than
//! `max`; in a decided one it may be against the winner by that much. Source: viriformat's
//! `max_eval_incorrectness`.

use super::registry::{Kind, Make, Parameter, Row};
use super::{Filter, Record};

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "score_conflict",
    doc: "a drawn game's score is further than max centipawns from 0, or a decided one's that far against the winner",
    parameters: &[Parameter {
        name: "max",
        doc: "the most that the score may be off, in centipawns",
        kind: Kind::Whole(0, 32000),
        default: &[1000.0],
    }],
    make: Make::Position(|v| Box::new(ScoreConflict { max: v[0] as i32 })),
};

/// Positions whose score and result disagree by too much.
#[derive(Debug, Clone, Copy)]
struct ScoreConflict {
    max: i32,
}

impl Filter for ScoreConflict {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        let Some(score) = record.score else { return true };
        let against = match record.turn.fold_wb(record.result, -record.result) {
            0 => i32::from(score).abs(),
            result => -i32::from(result) * i32::from(score),
        };
        against <= self.max
    }
}
