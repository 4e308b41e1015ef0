//! Keeps positions with a number of White's and of Black's pieces in a range.
//!
//! In: a record's board. Out: keep or drop. Kings and pawns count.

use super::Counts;
use super::registry::{Kind, Make, Parameter, Row};
use super::{Filter, Record};

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "side_pieces",
    doc: "a side has fewer or more pieces than wanted, its king and pawns counted",
    parameters: &[
        Parameter {
            name: "white_min",
            doc: "the fewest White pieces",
            kind: Kind::Whole(0, 16),
            default: &[0.0],
        },
        Parameter {
            name: "white_max",
            doc: "the most White pieces",
            kind: Kind::Whole(0, 16),
            default: &[16.0],
        },
        Parameter {
            name: "black_min",
            doc: "the fewest Black pieces",
            kind: Kind::Whole(0, 16),
            default: &[0.0],
        },
        Parameter {
            name: "black_max",
            doc: "the most Black pieces",
            kind: Kind::Whole(0, 16),
            default: &[16.0],
        },
    ],
    make: Make::Position(|v| {
        Box::new(SidePieces { white: (v[0] as u32, v[1] as u32), black: (v[2] as u32, v[3] as u32) })
    }),
};

/// Positions in which a side has fewer or more pieces than wanted.
#[derive(Debug, Clone, Copy)]
struct SidePieces {
    white: (u32, u32),
    black: (u32, u32),
}

impl Filter for SidePieces {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        let Counts { white, black, .. } = Counts::of(&record.board);
        self.white.0 <= white && white <= self.white.1 && self.black.0 <= black && black <= self.black.1
    }
}
