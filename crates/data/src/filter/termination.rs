//! Drops games that did not end on the board.
//!
//! In: how the game ended, by its tags or its last comment. Out: keep or drop all positions of the game. The result
//! of a game that was lost on time or by a crash says nothing about its positions.

use super::registry::{Kind, Make, Parameter, Row};
use super::{End, GameFacts, GameFilter};

const fn switch(name: &'static str, doc: &'static str, default: &'static [f64]) -> Parameter {
    Parameter { name, doc, kind: Kind::Switch, default }
}

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "termination",
    doc: "the game ended in one of these ways",
    parameters: &[
        switch("time_forfeit", "drop games lost on time", &[1.0]),
        switch("illegal_move", "drop games that an illegal move or claim ended", &[1.0]),
        switch("disconnect", "drop games abandoned, or that a crash or a stalled engine ended", &[1.0]),
        switch("unterminated", "drop games that never ended", &[1.0]),
        switch("adjudication", "drop games that were adjudicated", &[0.0]),
        switch("unknown", "drop games that do not say how they ended", &[0.0]),
    ],
    make: Make::Game(|v| Box::new(Termination { drops: std::array::from_fn(|i| v[i] == 1.0) })),
};

/// Games that ended in an unwanted way.
#[derive(Debug, Clone, Copy)]
struct Termination {
    /// In the order of the row's parameters.
    drops: [bool; 6],
}

impl GameFilter for Termination {
    fn keeps(&self, facts: &GameFacts) -> bool {
        let index = match facts.end {
            Some(End::Board) => return true,
            Some(End::TimeForfeit) => 0,
            Some(End::IllegalMove) => 1,
            Some(End::Disconnect) => 2,
            Some(End::Unterminated) => 3,
            Some(End::Adjudication) => 4,
            None => 5,
        };
        !self.drops[index]
    }
}
