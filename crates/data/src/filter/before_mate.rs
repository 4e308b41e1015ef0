//! Drops positions in the window before checkmate.
//!
//! In: a record of a game that may end in checkmate, with `to_end`, the plies until its last move (0 = the next).
//! Out: keep or drop. Source: zurichess, "Choosing positions for Texel's Tuning Method" (2016).

use super::registry::{Kind, Make, Parameter, Row};
use super::{Filter, Record};
use crate::flags;

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "before_mate",
    doc: "checkmate is given within a window of plies",
    parameters: &[Parameter {
        name: "plies",
        doc: "length of the window, in plies",
        kind: Kind::Whole(1, 255),
        default: &[5.0],
    }],
    make: Make::Position(|v| Box::new(BeforeMate { plies: v[0] as u8 })),
};

/// Positions from which checkmate is given within `plies` plies, counting the mating move as the first.
#[derive(Debug, Clone, Copy)]
struct BeforeMate {
    /// Window length in plies; 5 in the presets.
    plies: u8,
}

impl Filter for BeforeMate {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        !record.has(flags::MATE_END) || record.to_end >= self.plies
    }
}
