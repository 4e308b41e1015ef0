//! Keeps positions with a move number in a range.
//!
//! In: a record's move number, as a FEN has it: from 1, one more after each move of Black. Out: keep or drop.

use super::registry::{Kind, Make, Parameter, Row};
use super::{Filter, Record};

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "move_number",
    doc: "its move number is below min or above max",
    parameters: &[
        Parameter {
            name: "min",
            doc: "the lowest move number kept",
            kind: Kind::Whole(1, 65535),
            default: &[1.0],
        },
        Parameter {
            name: "max",
            doc: "the highest move number kept",
            kind: Kind::Whole(1, 65535),
            default: &[65535.0],
        },
    ],
    make: Make::Position(|v| Box::new(MoveNumber { min: v[0] as u16, max: v[1] as u16 })),
};

/// Positions earlier or later than wanted, by their move number.
#[derive(Debug, Clone, Copy)]
struct MoveNumber {
    min: u16,
    max: u16,
}

impl Filter for MoveNumber {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        (self.min..=self.max).contains(&record.fullmove)
    }
}
