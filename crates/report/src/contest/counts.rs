//! Results of games and pairs from one player's side.

use super::results::{Contest, Pair, Single};
use patzer_stats::{Model, Pentanomial, ResultCounts, Sprt, Trinomial};

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Counts {
    pub games: Trinomial,
    /// Results with White and with Black.
    pub colours: [Trinomial; 2],
    pub pairs: Pentanomial,
}

fn count(games: &mut Trinomial, half_points: u8) {
    match half_points {
        0 => games.losses += 1,
        1 => games.draws += 1,
        _ => games.wins += 1,
    }
}

impl Counts {
    pub(super) fn add(&mut self, pair: &Pair) {
        for (points, colour) in pair.half_points.into_iter().zip(pair.colours) {
            self.add_game(points, colour);
        }
        self.pairs.add(pair.half_points);
    }

    /// Adds a game by its half points, 0 to 2, with White (0) or Black (1).
    pub(super) fn add_game(&mut self, half_points: u8, colour: usize) {
        count(&mut self.games, half_points);
        count(&mut self.colours[colour], half_points);
    }

    /// Results of pairs, or of games if there are no pairs.
    pub(super) fn results(&self) -> ResultCounts {
        if self.pairs.pairs() > 0 { self.pairs.into() } else { self.games.into() }
    }

    pub(super) fn llr(&self, test: &Sprt) -> f64 {
        test.llr(self.results_for(test))
    }

    pub(super) fn results_for(&self, test: &Sprt) -> ResultCounts {
        match test.model() {
            Model::Bayesian => self.games.into(),
            _ => self.results(),
        }
    }
}

impl Pair {
    /// The pair from the other player's side.
    pub(super) fn turned(&self) -> Pair {
        Pair {
            players: [self.players[1], self.players[0]],
            half_points: self.half_points.map(|points| 2 - points.min(2)),
            colours: self.colours.map(|colour| 1 - colour),
            ..*self
        }
    }
}

impl Contest {
    /// Single games that count: all of them if there are no pairs, else none.
    pub(super) fn counted_singles(&self) -> &[Single] {
        if self.pairs.is_empty() { &self.singles } else { &[] }
    }

    /// Running results of the first of two players, after each pair or, without pairs, after each single game.
    pub(super) fn counts(&self) -> impl Iterator<Item = Counts> {
        let mut counts = Counts::default();
        let units = self.pairs.iter().map(Ok).chain(self.counted_singles().iter().map(Err));
        units.map(move |unit| {
            match unit {
                Ok(pair) => counts.add(pair),
                Err(Single { players: [0, _], half_points }) => counts.add_game(*half_points, 0),
                Err(Single { half_points, .. }) => counts.add_game(2 - half_points, 1),
            }
            counts
        })
    }

    /// Tests whether a curve of at most `points` points has one after unit `at`, a pair or, without pairs, a game.
    pub(super) fn has_point(&self, at: usize, points: usize) -> bool {
        let units = self.pairs.len() + self.counted_singles().len();
        let done = at + 1;
        done.is_multiple_of(units.div_ceil(points).max(1)) || done == units
    }
}
