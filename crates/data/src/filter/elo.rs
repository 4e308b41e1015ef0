//! Keeps games by the ratings of their players.
//!
//! In: the tags WhiteElo and BlackElo. Out: keep or drop all positions of the game.

use super::registry::{Kind, Make, Parameter, Row};
use super::{GameFacts, GameFilter};

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "elo",
    doc: "a player is rated below min or above max, or the players too far apart",
    parameters: &[
        Parameter {
            name: "min",
            doc: "the lowest rating of either player",
            kind: Kind::Whole(0, 9999),
            default: &[0.0],
        },
        Parameter {
            name: "max",
            doc: "the highest rating of either player",
            kind: Kind::Whole(0, 9999),
            default: &[9999.0],
        },
        Parameter {
            name: "difference",
            doc: "the most that the players are apart",
            kind: Kind::Whole(0, 9999),
            default: &[9999.0],
        },
        Parameter {
            name: "unknown",
            doc: "what becomes of games without both ratings",
            kind: Kind::Choice(&["drop", "keep"]),
            default: &[0.0],
        },
    ],
    make: Make::Game(|v| {
        Box::new(Elo { min: v[0] as u16, max: v[1] as u16, difference: v[2] as u16, unknown: v[3] == 1.0 })
    }),
};

/// Games of players who are too weak, too strong or too unequal.
#[derive(Debug, Clone, Copy)]
struct Elo {
    min: u16,
    max: u16,
    difference: u16,
    /// Whether games without ratings stay.
    unknown: bool,
}

impl GameFilter for Elo {
    fn keeps(&self, facts: &GameFacts) -> bool {
        let (Some(white), Some(black)) = (facts.white_elo, facts.black_elo) else { return self.unknown };
        let fits = |elo| (self.min..=self.max).contains(&elo);
        fits(white) && fits(black) && white.abs_diff(black) <= self.difference
    }
}
