//! Keeps positions with a number of pieces in a range.
//!
//! In: a record's board. Out: keep or drop. Kings and pawns count. Source: zurichess, "Choosing positions for
//! Texel's Tuning Method" (2016).

use super::registry::{Kind, Make, Parameter, Row};
use super::{Filter, Record};

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "piece_count",
    doc: "it has fewer than min or more than max pieces, kings and pawns counted",
    parameters: &[
        Parameter { name: "min", doc: "the fewest pieces kept", kind: Kind::Whole(0, 32), default: &[0.0] },
        Parameter { name: "max", doc: "the most pieces kept", kind: Kind::Whole(0, 32), default: &[32.0] },
    ],
    make: Make::Position(|v| Box::new(PieceCount { min: v[0] as u32, max: v[1] as u32 })),
};

/// Positions with fewer or more pieces than wanted, kings and pawns included.
#[derive(Debug, Clone, Copy)]
struct PieceCount {
    min: u32,
    max: u32,
}

impl Filter for PieceCount {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        (self.min..=self.max).contains(&record.board.count())
    }
}
