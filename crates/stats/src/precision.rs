//! Stopping by precision: a match ends when its estimate of Elo is known well enough.
//!
//! The width of the interval follows the variance of the pairs and hardly their mean, so that stopping by it does not
//! bias the estimate. A variance that happens to be small in the first pairs would stop a match too early; hence a
//! least number of pairs, and one pair of an extreme result more in the variance (Chow and Robbins, "On the asymptotic
//! theory of fixed-width sequential confidence intervals for the mean", 1965).

use super::elo::{Estimate, elo_error};
use super::pentanomial::{Distribution, Pentanomial};
use patzer_io::error::{Error, Result};

/// Pairs before the first look.
const LEAST_PAIRS: u64 = 64;

/// Variance of one pair of which both games are won or lost, around one half.
const EXTREME: f64 = 0.25;

/// 95 % error of Elo at which a match ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precision {
    elo_error: f64,
}

impl Precision {
    /// # Errors
    /// The error is not a number above 0.
    pub fn new(elo_error: f64) -> Result<Precision> {
        if elo_error.is_finite() && elo_error > 0.0 {
            Ok(Precision { elo_error })
        } else {
            Err(Error::setting("until_error", elo_error, "write Elo above 0"))
        }
    }

    pub fn is_reached(&self, pairs: Pentanomial) -> bool {
        pairs.pairs() >= LEAST_PAIRS
            && self.cautious_error(pairs) <= self.elo_error
            && Estimate::new(pairs).elo_error <= self.elo_error
    }

    /// Pairs that are expected until the error is reached, at the present variance.
    pub fn pairs_needed(&self, pairs: Pentanomial) -> Option<f64> {
        let error = self.cautious_error(pairs);
        let needed = pairs.pairs() as f64 * (error / self.elo_error).powi(2);
        needed.is_finite().then(|| needed.max(LEAST_PAIRS as f64))
    }

    fn cautious_error(&self, pairs: Pentanomial) -> f64 {
        Distribution::raw(pairs.0).map_or(f64::INFINITY, |d| {
            let variance = d.variance() + EXTREME / d.count;
            elo_error(d.mean(), (variance / d.count).sqrt())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Conditions, Pairs};
    use patzer_chess::rng::{Rng, mix};

    /// Plays a match to its end; returns the counts.
    fn play(precision: Precision, pairs: &Pairs, rng: &mut Rng) -> Pentanomial {
        let mut counts = Pentanomial::default();
        while !precision.is_reached(counts) {
            counts.0[pairs.draw(rng)] += 1;
        }
        counts
    }

    #[test]
    fn the_interval_of_a_match_that_stopped_by_it_covers_the_truth_as_often_as_it_says() {
        const RUNS: u64 = 500;
        for (elo, draws, bias, error) in
            [(0.0, 0.6, 60.0, 20.0), (20.0, 0.3, 0.0, 30.0), (100.0, 0.4, 90.0, 40.0), (0.0, 0.9, 0.0, 15.0)]
        {
            let pairs = Pairs::new(elo, Conditions { draws, bias }).unwrap();
            let precision = Precision::new(error).unwrap();
            let (mut covered, mut sum, mut games) = (0, 0.0, 0);
            for run in 0..RUNS {
                let counts = play(precision, &pairs, &mut Rng::new(mix(5, run)));
                let estimate = Estimate::new(counts);
                assert!(estimate.elo_error <= error);
                covered += u64::from((estimate.elo - elo).abs() <= estimate.elo_error);
                sum += estimate.elo - elo;
                games += 2 * counts.pairs();
            }
            let (covered, bias) = (covered as f64 / RUNS as f64, sum / RUNS as f64);
            println!("{elo} {draws} {error}: {:.1} %, {bias:+.2}, {}", 100.0 * covered, games / RUNS);
            // Three standard errors of a share of 95 %, and four of the mean.
            let runs = (RUNS as f64).sqrt();
            assert!((covered - 0.95).abs() < 3.0 * 0.218 / runs, "{elo} {draws} {error}: {covered}");
            assert!(bias.abs() < 4.0 * error / 1.96 / runs, "{elo} {draws} {error}: {bias}");
        }
    }

    #[test]
    fn equal_or_few_pairs_do_not_end_a_match() {
        let precision = Precision::new(5.0).unwrap();
        assert!(!precision.is_reached(Pentanomial([0, 0, 63, 0, 0])));
        assert!(!precision.is_reached(Pentanomial([0, 0, 1_000, 0, 0])), "nothing is known of the variance");
        assert!(precision.is_reached(Pentanomial([0, 1, 1_000, 1, 0])));
        assert!(!precision.is_reached(Pentanomial([20, 100, 300, 100, 20])));
        let needed = precision.pairs_needed(Pentanomial([20, 100, 300, 100, 20])).unwrap();
        let scaled = Pentanomial([20, 100, 300, 100, 20].map(|count| (count as f64 * needed / 540.0) as u64));
        assert!(precision.pairs_needed(scaled).unwrap() / needed > 0.97);
        assert!(Precision::new(0.0).is_err() && Precision::new(f64::NAN).is_err());
    }
}
