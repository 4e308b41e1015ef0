//! Drops positions of short games.
//!
//! In: a record's plies before it and until the end. Out: keep or drop. The distance to the end is stored up to 254
//! plies, so lengths up to 255 can be told from longer ones.

use super::registry::{Kind, Make, Parameter, Row};
use super::{Filter, Record};

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "short_game",
    doc: "its game has fewer than plies plies",
    parameters: &[Parameter {
        name: "plies",
        doc: "the fewest plies that a game has to have",
        kind: Kind::Whole(1, 255),
        default: &[20.0],
    }],
    make: Make::Position(|v| Box::new(ShortGame { plies: v[0] as u32 })),
};

/// Positions of games with fewer plies than wanted.
#[derive(Debug, Clone, Copy)]
struct ShortGame {
    plies: u32,
}

impl Filter for ShortGame {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        u32::from(record.ply) + u32::from(record.to_end) + 1 >= self.plies
    }
}
