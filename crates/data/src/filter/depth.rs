//! Keeps positions whose score was searched to a depth in a range.
//!
//! In: a record's depth, which not every comment names. Out: keep or drop.

use super::registry::{Kind, Make, Parameter, Row};
use super::{Filter, Record};

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "depth",
    doc: "its score was searched to a depth below min or above max",
    parameters: &[
        Parameter {
            name: "min",
            doc: "the least depth kept, in plies",
            kind: Kind::Whole(0, 255),
            default: &[0.0],
        },
        Parameter {
            name: "max",
            doc: "the greatest depth kept; 255 is any",
            kind: Kind::Whole(0, 255),
            default: &[255.0],
        },
        Parameter {
            name: "unknown",
            doc: "what becomes of positions without a depth",
            kind: Kind::Choice(&["drop", "keep"]),
            default: &[0.0],
        },
    ],
    make: Make::Position(|v| Box::new(Depth { min: v[0] as u8, max: v[1] as u8, unknown: v[2] == 1.0 })),
};

/// Positions whose score was searched less or more deeply than wanted.
#[derive(Debug, Clone, Copy)]
struct Depth {
    min: u8,
    max: u8,
    /// Whether positions without a depth stay.
    unknown: bool,
}

impl Filter for Depth {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        record.depth.map_or(self.unknown, |depth| (self.min..=self.max).contains(&depth))
    }
}
