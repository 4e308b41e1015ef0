//! Keeps positions with a halfmove clock in a range.
//!
//! In: a record's plies since the last capture or pawn move. Out: keep or drop. Near the fifty-move rule the result
//! speaks of the clock more than of the position.

use super::registry::{Kind, Make, Parameter, Row};
use super::{Filter, Record};

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "halfmove",
    doc: "its halfmove clock is below min or above max plies",
    parameters: &[
        Parameter { name: "min", doc: "the fewest plies kept", kind: Kind::Whole(0, 255), default: &[0.0] },
        Parameter { name: "max", doc: "the most plies kept", kind: Kind::Whole(0, 255), default: &[255.0] },
    ],
    make: Make::Position(|v| Box::new(Halfmove { min: v[0] as u8, max: v[1] as u8 })),
};

/// Positions whose clock stands outside a range.
#[derive(Debug, Clone, Copy)]
struct Halfmove {
    min: u8,
    max: u8,
}

impl Filter for Halfmove {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        (self.min..=self.max).contains(&record.halfmove)
    }
}
