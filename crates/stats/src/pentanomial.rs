//! Counts of games and pairs, and their empirical distributions.
//!
//! A pair is one observation of five outcomes, because its two games are correlated through the opening (Van
//! den Bergh, "Comments on Normalized Elo", 2020; fishtest).

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Trinomial {
    pub wins: u64,
    pub draws: u64,
    pub losses: u64,
}

impl Trinomial {
    pub fn games(&self) -> u64 {
        self.wins + self.draws + self.losses
    }

    /// Score as a fraction, 0 to 1; one half without games.
    pub fn share(&self) -> f64 {
        match self.games() {
            0 => 0.5,
            all => (self.wins as f64 + 0.5 * self.draws as f64) / all as f64,
        }
    }

    pub fn ascending(&self) -> [u64; 3] {
        [self.losses, self.draws, self.wins]
    }
}

/// Results of pairs from the first player's side, by score: LL, LD, WL + DD, WD, WW.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pentanomial(pub [u64; 5]);

impl Pentanomial {
    pub fn pairs(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Counts of the pairs from the second player's side.
    pub fn reversed(self) -> Pentanomial {
        let Pentanomial([ll, ld, even, wd, ww]) = self;
        Pentanomial([ww, wd, even, ld, ll])
    }

    pub fn even(&self) -> Option<f64> {
        (self.pairs() > 0).then(|| self.0[2] as f64 / self.pairs() as f64)
    }

    /// Pairs won over pairs lost; `None` if none was lost.
    pub fn ratio(&self) -> Option<f64> {
        let [ll, ld, _, wd, ww] = self.0;
        (ll + ld > 0).then(|| (wd + ww) as f64 / (ll + ld) as f64)
    }

    /// A warning if eight pairs or more all ended alike, as between deterministic players.
    pub fn remark(&self) -> Option<String> {
        let pairs = self.pairs();
        let same = pairs >= 8 && self.0.contains(&pairs);
        same.then(|| {
            format!(
                "all {pairs} pairs ended alike: the players may be deterministic and the openings the same, and \
                 then copies of one result say no more than one"
            )
        })
    }

    pub fn add(&mut self, half_points: [u8; 2]) {
        let score = usize::from(half_points[0].min(2) + half_points[1].min(2));
        self.0[score] += 1;
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultCounts {
    Games(Trinomial),
    Pairs(Pentanomial),
}

impl ResultCounts {
    /// All observations are of one kind, so that nothing is known of their variance.
    pub fn are_alike(&self) -> bool {
        match self {
            ResultCounts::Games(games) => games.ascending().contains(&games.games()),
            ResultCounts::Pairs(pairs) => pairs.0.contains(&pairs.pairs()),
        }
    }
}

impl From<Trinomial> for ResultCounts {
    fn from(counts: Trinomial) -> ResultCounts {
        ResultCounts::Games(counts)
    }
}

impl From<Pentanomial> for ResultCounts {
    fn from(counts: Pentanomial) -> ResultCounts {
        ResultCounts::Pairs(counts)
    }
}

/// Count of an outcome that never happened, as in fishtest and fastchess.
const REGULAR: f64 = 1e-3;

/// Empirical distribution over `N` equally spaced scores from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distribution<const N: usize> {
    pub chance: [f64; N],
    /// Observations; not an integer after regularisation.
    pub count: f64,
}

impl<const N: usize> Distribution<N> {
    pub fn raw(counts: [u64; N]) -> Option<Distribution<N>> {
        let count: f64 = counts.iter().map(|&c| c as f64).sum();
        (count > 0.0).then(|| Distribution { chance: counts.map(|c| c as f64 / count), count })
    }

    /// From counts with zeros replaced by 10⁻³.
    pub fn regularised(counts: [u64; N]) -> Distribution<N> {
        let counts = counts.map(|c| if c == 0 { REGULAR } else { c as f64 });
        let count: f64 = counts.iter().sum();
        Distribution { chance: counts.map(|c| c / count), count }
    }

    pub fn score(outcome: usize) -> f64 {
        outcome as f64 / (N - 1) as f64
    }

    pub fn scores() -> [f64; N] {
        std::array::from_fn(Self::score)
    }

    /// Games per observation: 2 for pairs.
    pub fn games_each() -> f64 {
        if N == 5 { 2.0 } else { 1.0 }
    }

    pub fn mean(&self) -> f64 {
        (0..N).map(|i| self.chance[i] * Self::score(i)).sum()
    }

    pub fn variance(&self) -> f64 {
        let mean = self.mean();
        (0..N).map(|i| self.chance[i] * (Self::score(i) - mean).powi(2)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_counted_by_their_score() {
        let mut counts = Pentanomial::default();
        for pair in [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [0, 2], [2, 1], [2, 2]] {
            counts.add(pair);
        }
        assert_eq!(counts.0, [1, 2, 3, 1, 1]);
        assert_eq!(counts.pairs(), 8);
    }

    #[test]
    fn ratios_and_remarks_follow_the_counts() {
        let counts = Pentanomial([2, 3, 10, 4, 6]);
        assert_eq!((counts.even(), counts.ratio(), counts.remark()), (Some(0.4), Some(2.0), None));
        assert_eq!((Pentanomial::default().even(), Pentanomial([0, 0, 1, 1, 1]).ratio()), (None, None));
        assert!(Pentanomial([0, 0, 0, 20, 0]).remark().is_some_and(|r| r.contains("all 20 pairs")));
        assert_eq!(Pentanomial([0, 0, 7, 0, 0]).remark(), None);
    }

    #[test]
    fn mean_and_variance_of_a_coin() {
        let coin = Distribution::raw([1, 0, 1]).unwrap();
        assert_eq!((coin.mean(), coin.variance()), (0.5, 0.25));
        assert!(Distribution::raw([0, 0, 0]).is_none());
    }
}
