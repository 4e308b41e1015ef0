//! Keeps positions at a distance in a range from the start of their game.
//!
//! In: the plies played before the position. Out: keep or drop. Counted from the first move of the movetext, or by
//! the move number, which after an opening from a book of FENs is what Stockfish's formats call the ply.

use super::registry::{Kind, Make, Parameter, Row};
use super::{Filter, Record};

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "ply",
    doc: "it lies fewer than min or more than max plies from the start",
    parameters: &[
        Parameter {
            name: "min",
            doc: "the fewest plies kept",
            kind: Kind::Whole(0, 131071),
            default: &[0.0],
        },
        Parameter {
            name: "max",
            doc: "the most plies kept",
            kind: Kind::Whole(0, 131071),
            default: &[131071.0],
        },
        Parameter {
            name: "from",
            doc: "the start: of the movetext, or move 1 by the move number",
            kind: Kind::Choice(&["movetext", "move1"]),
            default: &[0.0],
        },
    ],
    make: Make::Position(|v| Box::new(Ply { min: v[0] as u32, max: v[1] as u32, by_number: v[2] == 1.0 })),
};

/// Positions earlier or later than wanted, in plies.
#[derive(Debug, Clone, Copy)]
struct Ply {
    min: u32,
    max: u32,
    by_number: bool,
}

impl Filter for Ply {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        let ply = if self.by_number { record.game_ply() } else { record.ply.into() };
        (self.min..=self.max).contains(&ply)
    }
}
