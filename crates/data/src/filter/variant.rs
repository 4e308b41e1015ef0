//! Keeps games of standard chess, of Chess960, or both.
//!
//! In: a record's flags. Out: keep or drop. Games of other variants are never read; `extract` counts them.

use super::registry::{Kind, Make, Parameter, Row};
use super::{Filter, Record};
use crate::flags;

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "variant",
    doc: "its game is of a kind of chess not kept",
    parameters: &[
        Parameter {
            name: "standard",
            doc: "keep games of standard chess",
            kind: Kind::Switch,
            default: &[1.0],
        },
        Parameter { name: "chess960", doc: "keep games of Chess960", kind: Kind::Switch, default: &[0.0] },
    ],
    make: Make::Position(|v| Box::new(Variant { standard: v[0] == 1.0, chess960: v[1] == 1.0 })),
};

/// Positions of games of the wrong kind of chess.
#[derive(Debug, Clone, Copy)]
struct Variant {
    standard: bool,
    chess960: bool,
}

impl Filter for Variant {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        if record.has(flags::CHESS960) { self.chess960 } else { self.standard }
    }
}
