//! A round of a tournament: who met, with what score.

use serde::Serialize;

/// Two players and their score in one round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Encounter {
    /// Indices in command-line order, the lower first.
    pub players: [usize; 2],
    pub half_points: [u64; 2],
    pub pairs: u64,
}

impl Encounter {
    pub(super) fn new([a, b]: [usize; 2]) -> Encounter {
        Encounter { players: [a.min(b), a.max(b)], half_points: [0; 2], pairs: 0 }
    }

    pub(super) fn tied(&self) -> bool {
        self.half_points[0] == self.half_points[1]
    }

    /// The player that goes on: the first one if the encounter is tied.
    pub fn winner(&self) -> usize {
        self.players[usize::from(self.half_points[1] > self.half_points[0])]
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Round {
    pub encounters: Vec<Encounter>,
    /// Players without an opponent in this round, who count as its winners.
    pub byes: Vec<usize>,
}

impl Round {
    pub(super) fn new(encounters: Vec<[usize; 2]>, byes: Vec<usize>) -> Round {
        Round { encounters: encounters.into_iter().map(Encounter::new).collect(), byes }
    }
}
