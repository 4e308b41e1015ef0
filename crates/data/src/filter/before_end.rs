//! Drops the last positions of a game, however it ended.
//!
//! In: a record with `to_end`, the plies until the last move (0 = the next). Out: keep or drop. The moves before an
//! adjudication or a resignation say little that the result does not.

use super::registry::{Kind, Make, Parameter, Row};
use super::{Filter, Record};

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "before_end",
    doc: "the game ends within a window of plies",
    parameters: &[Parameter {
        name: "plies",
        doc: "length of the window, in plies",
        kind: Kind::Whole(1, 255),
        default: &[5.0],
    }],
    make: Make::Position(|v| Box::new(BeforeEnd { plies: v[0] as u8 })),
};

/// Positions from which the game ends within `plies` plies, counting its last move as the first.
#[derive(Debug, Clone, Copy)]
struct BeforeEnd {
    /// Window length in plies; 5 in the presets.
    plies: u8,
}

impl Filter for BeforeEnd {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        record.to_end >= self.plies
    }
}
