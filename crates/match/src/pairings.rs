//! Pairings of a match, gauntlet or round robin: who meets whom, with which colours, from which opening.

use std::sync::atomic::AtomicBool;

use shakmaty::Color;

use super::game::Game;
use patzer_io::Shard;

/// Pairings of one round, repeated every round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pairings {
    /// Pairings of one round by player index.
    pairings: Vec<[usize; 2]>,
    pub colours: Colours,
    pub change: OpeningChange,
}

/// Player with White, 0 or 1, in each game of a pair.
pub type Colours = [usize; 2];

/// The first player has White in the first game of a pair, the second in the second.
pub const SWAPPED: Colours = [0, 1];

/// Moment of the next opening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpeningChange {
    /// Each round: all pairs of a round begin alike.
    Round,
    /// Each pair of games.
    Pair,
    /// Each game.
    Game,
}

/// Two players, their colours and their openings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pairing {
    pub players: [usize; 2],
    pub colours: Colours,
    /// Opening of each game.
    pub openings: [usize; 2],
}

/// Players of each pair.
pub trait Schedule: Sync {
    /// The pairing of a pair, by its index from 0; `None` if it is not known by the time `halt` is set.
    fn pairing(&self, pair: usize, halt: &AtomicBool) -> Option<Pairing>;
}

impl Schedule for Pairings {
    fn pairing(&self, pair: usize, _: &AtomicBool) -> Option<Pairing> {
        Some(Pairings::pairing(self, pair))
    }
}

impl Pairings {
    /// Pairs each of the first `seeds` players with all after it: 1 is a gauntlet, `players` a round robin.
    pub fn new(players: usize, seeds: usize) -> Pairings {
        let pairings = (0..players).flat_map(|b| (0..b.min(seeds)).map(move |a| [a, b])).collect();
        Pairings { pairings, colours: SWAPPED, change: OpeningChange::Round }
    }

    /// The pairings of [`Pairings::new`] in the order of fastchess: all opponents of the first player come first.
    pub fn by_first(players: usize, seeds: usize, change: OpeningChange) -> Pairings {
        let pairings = (0..seeds.min(players)).flat_map(|a| (a + 1..players).map(move |b| [a, b])).collect();
        Pairings { pairings, colours: SWAPPED, change }
    }

    pub fn round(&self) -> usize {
        self.pairings.len()
    }

    pub fn pairing(&self, pair: usize) -> Pairing {
        let round = self.round().max(1);
        let players = self.pairings.get(pair % round).copied().unwrap_or_default();
        let openings = match self.change {
            OpeningChange::Round => [pair / round; 2],
            OpeningChange::Pair => [pair; 2],
            OpeningChange::Game => [2 * pair, 2 * pair + 1],
        };
        Pairing { players, colours: self.colours, openings }
    }
}

/// The pairs of a shard of a schedule that does not depend on results.
pub struct Sharded<'a> {
    pub all: &'a dyn Schedule,
    pub shard: Shard,
}

impl Schedule for Sharded<'_> {
    fn pairing(&self, pair: usize, halt: &AtomicBool) -> Option<Pairing> {
        self.all.pairing(self.shard.number(pair), halt)
    }
}

/// Two games of the same players, as a rule from one opening with colours swapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    pub index: usize,
    pub pairing: Pairing,
    pub games: [Game; 2],
}

/// A game of a pair.
#[derive(Debug, Clone, Copy)]
pub struct PairGame<'a> {
    /// Index of the pair.
    pub index: usize,
    pub pairing: Pairing,
    /// 0 or 1.
    pub number: usize,
    pub game: &'a Game,
}

impl PairGame<'_> {
    /// Players of White and Black.
    pub fn seats(&self) -> [usize; 2] {
        let [a, b] = self.pairing.players;
        if self.pairing.colours[self.number] == 0 { [a, b] } else { [b, a] }
    }

    /// First player's half points, 0 to 2.
    pub fn half_points(&self) -> u8 {
        self.game.half_points(Color::from_white(self.pairing.colours[self.number] == 0))
    }
}

impl Pair {
    pub fn game(&self, number: usize) -> PairGame<'_> {
        PairGame { index: self.index, pairing: self.pairing, number, game: &self.games[number] }
    }

    /// First player's half points in each game, 0 to 2.
    pub fn half_points(&self) -> [u8; 2] {
        [0, 1].map(|number| self.game(number).half_points())
    }

    /// The games with the players of White and Black.
    pub fn seated(&self) -> [(&Game, [usize; 2]); 2] {
        [0, 1].map(|number| (&self.games[number], self.game(number).seats()))
    }

    /// Tests whether both players played the same moves, each with both colours.
    pub fn mirrored(&self) -> bool {
        let ([first, second], [one, other]) = (&self.games, self.pairing.colours);
        let comparable = one != other && first.start == second.start;
        comparable && first.moves.iter().map(|played| played.m).eq(second.moves.iter().map(|played| played.m))
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
        let pairing = pairings.pairing(4);
        assert_eq!((pairing.players, pairing.openings), ([0, 2], [1, 1]));
        let by_first = |players, seeds| Pairings::by_first(players, seeds, OpeningChange::Pair).pairings;
        assert_eq!(by_first(4, 4), [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
        assert_eq!(by_first(4, 2), [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3]]);
    }

    #[test]
    fn openings_change_by_round_by_pair_or_by_game() {
        let openings = |change| Pairings::by_first(3, 3, change).pairing(4).openings;
        assert_eq!(openings(OpeningChange::Round), [1, 1]);
        assert_eq!(openings(OpeningChange::Pair), [4, 4]);
        assert_eq!(openings(OpeningChange::Game), [8, 9]);
    }
}
