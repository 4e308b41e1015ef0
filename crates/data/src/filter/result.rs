//! Keeps positions of games with certain results.
//!
//! In: a record's result. Out: keep or drop.

use super::registry::{Kind, Make, Parameter, Row};
use super::{Filter, Record};

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "result",
    doc: "the game's result is not among those kept",
    parameters: &[
        Parameter {
            name: "white_wins",
            doc: "keep games that White won",
            kind: Kind::Switch,
            default: &[1.0],
        },
        Parameter { name: "drawn", doc: "keep drawn games", kind: Kind::Switch, default: &[1.0] },
        Parameter {
            name: "black_wins",
            doc: "keep games that Black won",
            kind: Kind::Switch,
            default: &[1.0],
        },
    ],
    make: Make::Position(|v| Box::new(Results { keep: [v[2] == 1.0, v[1] == 1.0, v[0] == 1.0] })),
};

/// Positions of games that ended as not wanted.
#[derive(Debug, Clone, Copy)]
struct Results {
    /// Black won, drawn, White won.
    keep: [bool; 3],
}

impl Filter for Results {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        self.keep[(record.result.clamp(-1, 1) + 1) as usize]
    }
}
