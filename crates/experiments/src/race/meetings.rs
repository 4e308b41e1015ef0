//! Results of a race by pairing.

use patzer_stats::{Distribution, Pentanomial};

/// Pair scores of every two players, from the side of the one with the lower index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meetings {
    players: usize,
    counts: Vec<Pentanomial>,
}

impl Meetings {
    pub fn new(players: usize) -> Meetings {
        Meetings { players, counts: vec![Pentanomial::default(); players * players] }
    }

    pub fn players(&self) -> usize {
        self.players
    }

    /// Counts a pair in which the first player scored `half_points`, 0 to 4.
    pub fn add(&mut self, [a, b]: [usize; 2], half_points: usize) {
        let outcome = if a < b { half_points } else { 4 - half_points };
        self.counts[a.min(b) * self.players + a.max(b)].0[outcome] += 1;
    }

    pub fn between(&self, [a, b]: [usize; 2]) -> Pentanomial {
        let counts = self.counts[a.min(b) * self.players + a.max(b)];
        if a < b { counts } else { counts.reversed() }
    }

    pub fn pairs(&self) -> u64 {
        self.counts.iter().map(Pentanomial::pairs).sum()
    }

    /// Pairings that have met, the lower index first, with their counts.
    pub fn met(&self) -> impl Iterator<Item = ([usize; 2], Pentanomial)> {
        let of = |at: usize| [at / self.players, at % self.players];
        let all = self.counts.iter().enumerate().map(move |(at, counts)| (of(at), *counts));
        all.filter(|(_, counts)| counts.pairs() > 0)
    }

    /// Results of one player against all others, from its side.
    pub fn counts(&self, player: usize) -> Pentanomial {
        let mut sum = Pentanomial::default();
        for other in (0..self.players).filter(|other| *other != player) {
            for (sum, more) in sum.0.iter_mut().zip(self.between([player, other]).0) {
                *sum += more;
            }
        }
        sum
    }

    /// Mean pair score of one player, 0 to 1; one half before its first pair.
    pub fn share(&self, player: usize) -> f64 {
        Distribution::raw(self.counts(player).0).map_or(0.5, |d| d.mean())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_players_of_a_pairing_see_the_same_pairs() {
        let mut meetings = Meetings::new(3);
        meetings.add([0, 2], 4);
        meetings.add([2, 0], 3);
        meetings.add([1, 2], 2);
        assert_eq!(meetings.between([0, 2]), Pentanomial([0, 1, 0, 0, 1]));
        assert_eq!(meetings.between([2, 0]), Pentanomial([1, 0, 0, 1, 0]));
        assert_eq!(meetings.counts(2), Pentanomial([1, 0, 1, 1, 0]));
        assert_eq!((meetings.pairs(), meetings.met().count()), (3, 2));
        assert_eq!((meetings.share(0), meetings.share(1)), (0.625, 0.5));
    }
}
