//! Keeps positions whose material differs by an amount in a range.
//!
//! In: a record's board. Out: keep or drop. A pawn counts 1, knights and bishops 3, rooks 5, queens 9. nnue-pytorch's
//! `simple_eval_skipping` is a lower bound of this kind, in other units.

use super::Counts;
use super::registry::{Kind, Make, Parameter, Row};
use super::{Filter, Record};

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "imbalance",
    doc: "one side's material is ahead by fewer than min or more than max pawns (3, 3, 5, 9)",
    parameters: &[
        Parameter {
            name: "min",
            doc: "the least difference, in pawns",
            kind: Kind::Whole(0, 103),
            default: &[0.0],
        },
        Parameter {
            name: "max",
            doc: "the greatest difference, in pawns",
            kind: Kind::Whole(0, 103),
            default: &[103.0],
        },
    ],
    make: Make::Position(|v| Box::new(Imbalance { min: v[0] as u32, max: v[1] as u32 })),
};

/// Positions in which one side has too little or too much more material than the other.
#[derive(Debug, Clone, Copy)]
struct Imbalance {
    min: u32,
    max: u32,
}

impl Filter for Imbalance {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        (self.min..=self.max).contains(&Counts::of(&record.board).balance().unsigned_abs())
    }
}
