//! Drops positions of decided games whose score sees neither side ahead.
//!
//! In: a record's score, result and distance to the end. Out: keep or drop. A score near 0 shortly before a decisive
//! end is most often no evaluation but a placeholder, a loss on time or a crash.

use super::registry::{Kind, Make, Parameter, Row};
use super::{Filter, Record};

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "equal_decisive",
    doc: "its score is within cp of 0 fewer than plies plies before the end of a decided game",
    parameters: &[
        Parameter {
            name: "cp",
            doc: "how near to 0 counts as equal, in centipawns",
            kind: Kind::Whole(0, 32000),
            default: &[20.0],
        },
        Parameter {
            name: "plies",
            doc: "how near to the end, in plies; 255 is all but the furthest",
            kind: Kind::Whole(1, 255),
            default: &[20.0],
        },
    ],
    make: Make::Position(|v| Box::new(EqualDecisive { cp: v[0] as u16, plies: v[1] as u8 })),
};

/// Positions that are equal by their score although the game was won, near its end.
#[derive(Debug, Clone, Copy)]
struct EqualDecisive {
    cp: u16,
    plies: u8,
}

impl Filter for EqualDecisive {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        let equal = record.score.is_some_and(|score| score.unsigned_abs() <= self.cp);
        let near = record.to_end < self.plies;
        record.result == 0 || !equal || !near
    }
}
