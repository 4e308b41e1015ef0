//! A finished game.

use std::collections::BTreeMap;

use super::start::Rejection;
use patzer_match::{Game, Reason};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedGame {
    pub index: usize,
    pub game: Game,
    /// Participant indices of White and Black.
    pub seats: [usize; 2],
    pub rejected: BTreeMap<Rejection, u64>,
    /// Failures of players, each in a line.
    pub troubles: Vec<String>,
}

/// Tests for a game that a player's failure ended, not chess: its result says nothing of its positions.
pub fn is_failure(reason: Reason) -> bool {
    matches!(reason, Reason::TimeForfeit | Reason::IllegalMove | Reason::Disconnect | Reason::Stall)
}
