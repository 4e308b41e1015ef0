//! A finished game.

use std::collections::BTreeMap;

use super::start::Rejection;
use patzer_match::Game;

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
