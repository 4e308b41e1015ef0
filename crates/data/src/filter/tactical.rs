//! Drops positions from which the game went on with a tactical move.
//!
//! In: a record's flags. Out: keep or drop. One filter for what trainers often drop together.

use super::registry::{Kind, Make, Parameter, Row};
use super::{Filter, Record};
use crate::flags;

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "tactical",
    doc: "any of these holds of the move played",
    parameters: &[
        Parameter { name: "captures", doc: "the move captures", kind: Kind::Switch, default: &[1.0] },
        Parameter { name: "promotions", doc: "the move promotes", kind: Kind::Switch, default: &[1.0] },
        Parameter { name: "checks", doc: "the move gives check", kind: Kind::Switch, default: &[1.0] },
        Parameter {
            name: "evasions",
            doc: "the side to move is in check",
            kind: Kind::Switch,
            default: &[1.0],
        },
    ],
    make: Make::Position(|v| Box::new(Tactical { bits: bits(v) })),
};

/// Positions with any of the wanted flags.
#[derive(Debug, Clone, Copy)]
struct Tactical {
    bits: u16,
}

impl Filter for Tactical {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        record.flags & self.bits == 0
    }
}

fn bits(values: &[f64]) -> u16 {
    let all = [flags::CAPTURE, flags::PROMOTION, flags::GIVES_CHECK, flags::IN_CHECK];
    all.iter().zip(values).filter(|(_, on)| **on == 1.0).fold(0, |bits, (bit, _)| bits | bit)
}
