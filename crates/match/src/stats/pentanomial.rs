//! Counts of results, and the distribution that they estimate.
//!
//! In: results of single games, or of pairs of games with the same opening and colours swapped. Out: counts, and
//! the empirical distribution with mean and variance on which Elo and the sequential test rest. Pairs are counted
//! as one observation of five outcomes because their two games are correlated through the opening
//! (Van den Bergh, "Comments on Normalized Elo", 2020; fishtest).

use serde::{Deserialize, Serialize};

/// Results of single games, from the first player's side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Trinomial {
    /// Games won by the first player.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost by the first player.
    pub losses: u64,
}

impl Trinomial {
    /// All games.
    pub fn games(&self) -> u64 {
        self.wins + self.draws + self.losses
    }
}

/// Results of pairs from the first player's side, by score: LL, LD, WL + DD, WD, WW.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pentanomial(pub [u64; 5]);

impl Pentanomial {
    /// All pairs.
    pub fn pairs(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Share of pairs that ended even; `None` without any.
    pub fn even(&self) -> Option<f64> {
        (self.pairs() > 0).then(|| self.0[2] as f64 / self.pairs() as f64)
    }

    /// Pairs won over pairs lost; `None` if none was lost.
    pub fn ratio(&self) -> Option<f64> {
        let [ll, ld, _, wd, ww] = self.0;
        (ll + ld > 0).then(|| (wd + ww) as f64 / (ll + ld) as f64)
    }

    /// What to say if all of several pairs ended alike, as they do between players that always play the same moves.
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

    /// Counts one pair by the first player's half points in its games, 0 to 2 each.
    pub fn add(&mut self, half_points: [u8; 2]) {
        let score = usize::from(half_points[0].min(2) + half_points[1].min(2));
        self.0[score] += 1;
    }
}

/// Counts of either kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultCounts {
    /// Single games.
    Games(Trinomial),
    /// Pairs.
    Pairs(Pentanomial),
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

/// What an outcome that never happened counts as where logarithms and variances need it to be possible.
/// The value is fishtest's and fastchess's.
const REGULAR: f64 = 1e-3;

/// An empirical distribution over `N` equally spaced scores from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distribution<const N: usize> {
    /// Chance of each score, lowest score first; they sum to 1.
    pub chance: [f64; N],
    /// Number of observations, real-valued because zero counts may have been regularised.
    pub count: f64,
}

impl<const N: usize> Distribution<N> {
    /// The distribution of raw counts; `None` without any.
    pub fn raw(counts: [u64; N]) -> Option<Distribution<N>> {
        let count: f64 = counts.iter().map(|&c| c as f64).sum();
        (count > 0.0).then(|| Distribution { chance: counts.map(|c| c as f64 / count), count })
    }

    /// The distribution with zero counts replaced by 10⁻³, so that every outcome is possible.
    pub fn regularised(counts: [u64; N]) -> Distribution<N> {
        let counts = counts.map(|c| if c == 0 { REGULAR } else { c as f64 });
        let count: f64 = counts.iter().sum();
        Distribution { chance: counts.map(|c| c / count), count }
    }

    /// The score of an outcome, 0 to 1.
    pub fn score(outcome: usize) -> f64 {
        outcome as f64 / (N - 1) as f64
    }

    /// All scores, lowest first.
    pub fn scores() -> [f64; N] {
        std::array::from_fn(Self::score)
    }

    /// Games that one observation stands for: 2 for pairs.
    pub fn games_each() -> f64 {
        if N == 5 { 2.0 } else { 1.0 }
    }

    /// Mean score, 0 to 1.
    pub fn mean(&self) -> f64 {
        (0..N).map(|i| self.chance[i] * Self::score(i)).sum()
    }

    /// Variance of one observation's score.
    pub fn variance(&self) -> f64 {
        let mean = self.mean();
        (0..N).map(|i| self.chance[i] * (Self::score(i) - mean).powi(2)).sum()
    }
}

impl Trinomial {
    /// Losses, draws, wins: lowest score first.
    pub fn ascending(&self) -> [u64; 3] {
        [self.losses, self.draws, self.wins]
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
