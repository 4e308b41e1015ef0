//! Drops positions in the window before a check.
//!
//! In: a record with `to_check`, the plies until the next check is given (0 = the next move gives it).
//! Out: keep or drop. Source: zurichess, "Choosing positions for Texel's Tuning Method" (2016).

use super::registry::{Kind, Make, Parameter, Row};
use super::{Filter, Record};

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "before_check",
    doc: "a check is given within a window of plies",
    parameters: &[Parameter {
        name: "plies",
        doc: "length of the window, in plies",
        kind: Kind::Whole(1, 255),
        default: &[5.0],
    }],
    make: Make::Position(|v| Box::new(BeforeCheck { plies: v[0] as u8 })),
};

/// Positions from which a check is given within `plies` plies, counting the checking move as the first.
#[derive(Debug, Clone, Copy)]
struct BeforeCheck {
    /// Window length in plies; 5 in the presets.
    plies: u8,
}

impl Filter for BeforeCheck {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        record.to_check >= self.plies
    }
}
