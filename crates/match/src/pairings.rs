//! Pairings of a match, gauntlet or round robin.

use shakmaty::Color;

use super::game::Game;

/// Pairings of one round, repeated every round with another opening.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pairings {
    /// Pairings of one round by player index; the first player has White in the first game.
    pairings: Vec<[usize; 2]>,
}

/// Two players and an opening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pairing {
    pub players: [usize; 2],
    pub opening: usize,
}

impl Pairings {
    /// Pairs each of the first `seeds` players with all after it: 1 is a gauntlet, `players` a round robin.
    pub fn new(players: usize, seeds: usize) -> Pairings {
        let pairings = (0..players).flat_map(|b| (0..b.min(seeds)).map(move |a| [a, b])).collect();
        Pairings { pairings }
    }

    pub fn round(&self) -> usize {
        self.pairings.len()
    }

    pub fn pairing(&self, pair: usize) -> Pairing {
        let round = self.round().max(1);
        let players = self.pairings.get(pair % round).copied().unwrap_or_default();
        Pairing { players, opening: pair / round }
    }
}

/// Two games from one opening with colours swapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    pub index: usize,
    pub pairing: Pairing,
    pub games: [Game; 2],
}

impl Pair {
    /// First player's half points in each game, 0 to 2.
    pub fn half_points(&self) -> [u8; 2] {
        [self.games[0].half_points(Color::White), self.games[1].half_points(Color::Black)]
    }

    pub fn seated(&self) -> [(&Game, [usize; 2]); 2] {
        let ([first, second], [a, b]) = (&self.games, self.pairing.players);
        [(first, [a, b]), (second, [b, a])]
    }

    pub fn mirrored(&self) -> bool {
        let [first, second] = &self.games;
        first.moves.iter().map(|played| played.m).eq(second.moves.iter().map(|played| played.m))
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
