//! Keeps positions in which the winner is to move.
//!
//! In: a record's side to move and result. Out: keep or drop. For learning moves: those of the loser are worse.

use super::registry::{Kind, Make, Parameter, Row};
use super::{Filter, Record};

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "winner",
    doc: "the side to move did not win the game",
    parameters: &[
        Parameter {
            name: "keep",
            doc: "which side has to be to move",
            kind: Kind::Choice(&["winner", "loser"]),
            default: &[0.0],
        },
        Parameter { name: "drawn", doc: "keep drawn games", kind: Kind::Switch, default: &[0.0] },
    ],
    make: Make::Position(|v| Box::new(Winner { loser: v[0] == 1.0, drawn: v[1] == 1.0 })),
};

/// Positions in which the side to move did not win.
#[derive(Debug, Clone, Copy)]
struct Winner {
    loser: bool,
    drawn: bool,
}

impl Filter for Winner {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        match record.turn.fold_wb(record.result, -record.result) {
            0 => self.drawn,
            result => (result == 1) != self.loser,
        }
    }
}
