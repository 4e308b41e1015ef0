//! Who meets whom.
//!
//! In: the number of players, and how many of them meet all others. Out: the meeting that each pair of games is.

/// Who meets whom, round after round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pairings {
    /// The meetings of one round, by the numbers of the players; the first has White in the first game.
    pairings: Vec<[usize; 2]>,
}

/// One meeting: two players and an opening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pairing {
    /// The first has White in the first game.
    pub players: [usize; 2],
    /// Number of the opening, from 0: all meetings of a round have the same.
    pub opening: usize,
}

impl Pairings {
    /// Each of the first `seeds` players meets all who come after it: one seed makes a gauntlet, or a match of
    /// two; as many seeds as players make a round robin.
    pub fn new(players: usize, seeds: usize) -> Pairings {
        let pairings = (0..players).flat_map(|b| (0..b.min(seeds)).map(move |a| [a, b])).collect();
        Pairings { pairings }
    }

    /// Meetings in a round; 0 if there are fewer than two players.
    pub fn round(&self) -> usize {
        self.pairings.len()
    }

    /// The meeting that a pair is, counted from 0.
    pub fn pairing(&self, pair: usize) -> Pairing {
        let round = self.round().max(1);
        let players = self.pairings.get(pair % round).copied().unwrap_or_default();
        Pairing { players, opening: pair / round }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyone_meets_everyone_or_the_first_meet_the_others() {
        let pairings = |players, seeds| Pairings::new(players, seeds).pairings;
        assert_eq!(pairings(2, 1), [[0, 1]]);
        assert_eq!(pairings(4, 1), [[0, 1], [0, 2], [0, 3]]);
        assert_eq!(pairings(4, 2), [[0, 1], [0, 2], [1, 2], [0, 3], [1, 3]]);
        assert_eq!(pairings(4, 4), [[0, 1], [0, 2], [1, 2], [0, 3], [1, 3], [2, 3]]);
        let pairings = Pairings::new(3, 3);
        assert_eq!(pairings.pairing(4), Pairing { players: [0, 2], opening: 1 });
    }
}
