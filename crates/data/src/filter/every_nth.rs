//! Keeps every n-th position of a game.
//!
//! In: a record's ply. Out: keep or drop. Neighbours in a game are nearly the same position with the same result. An
//! odd n takes both sides in turn; an even one only one side's positions.

use super::registry::{Kind, Make, Parameter, Row};
use super::{Filter, Record};

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "every_nth",
    doc: "its ply is not offset plus a multiple of n",
    parameters: &[
        Parameter {
            name: "n",
            doc: "how many plies from one position kept to the next",
            kind: Kind::Whole(1, 65535),
            default: &[2.0],
        },
        Parameter {
            name: "offset",
            doc: "the first ply kept, from 0",
            kind: Kind::Whole(0, 65534),
            default: &[0.0],
        },
    ],
    make: Make::Position(|v| Box::new(EveryNth { n: v[0] as u32, offset: v[1] as u32 })),
};

/// Positions between those that are taken.
#[derive(Debug, Clone, Copy)]
struct EveryNth {
    n: u32,
    offset: u32,
}

impl Filter for EveryNth {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        u32::from(record.ply) % self.n == self.offset % self.n
    }
}
