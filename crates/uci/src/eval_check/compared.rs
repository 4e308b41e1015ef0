//! A position with the values of a network and of an engine.

use shakmaty::{Chess, Position};

use patzer_chess::score::Score;

/// A position with both values, for the side to move.
pub(super) struct Compared {
    pub position: Chess,
    pub network: Score,
    pub engine: Score,
}

impl Compared {
    pub fn clock(&self) -> f64 {
        self.position.halfmoves().into()
    }

    /// The engine's value beyond the network's times a factor.
    pub fn beyond(&self, factor: f64) -> f64 {
        f64::from(self.engine) - factor * f64::from(self.network)
    }
}
