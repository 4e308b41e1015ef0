//! Keeps games by how long the players had.
//!
//! In: the tag TimeControl, as the seconds that a player has for 40 moves: the base time and 40 increments. Out: keep
//! or drop all positions of the game. That is how Lichess tells bullet (below 180) from blitz (below 480) and rapid
//! (below 1,500).

use super::registry::{Kind, Make, Parameter, Row};
use super::{GameFacts, GameFilter};

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "time_control",
    doc: "a player had fewer than min or more than max seconds for 40 moves",
    parameters: &[
        Parameter {
            name: "min",
            doc: "the fewest seconds for 40 moves",
            kind: Kind::Real(0.0, 1e9),
            default: &[0.0],
        },
        Parameter {
            name: "max",
            doc: "the most seconds for 40 moves",
            kind: Kind::Real(0.0, 1e9),
            default: &[1e9],
        },
        Parameter {
            name: "unknown",
            doc: "what becomes of games without a time control",
            kind: Kind::Choice(&["drop", "keep"]),
            default: &[0.0],
        },
    ],
    make: Make::Game(|v| Box::new(TimeControl { min: v[0], max: v[1], unknown: v[2] == 1.0 })),
};

/// Games that were played too fast or too slowly.
#[derive(Debug, Clone, Copy)]
struct TimeControl {
    min: f64,
    max: f64,
    /// Whether games without a time control stay.
    unknown: bool,
}

impl GameFilter for TimeControl {
    fn keeps(&self, facts: &GameFacts) -> bool {
        facts.seconds.map_or(self.unknown, |seconds| (self.min..=self.max).contains(&seconds))
    }
}
