//! Confidence sequence of a mean score in [0, 1]: holds at all times at once, however the observations were allotted.
//!
//! A bet of the share f that the mean lies above m multiplies its capital by 1 + f (s/m − 1) at a score s. While the
//! mean is at most m, the capital is a supermartingale, and reaches 1/α at any time with probability α at most
//! (Ville). The bounds are the m at which the mean capital over a grid of f reaches 1/α. Source: Waudby-Smith and
//! Ramdas, "Estimating means of bounded random variables by betting" (J. R. Stat. Soc. B 86, 2024): section 4, and the
//! grid of appendix B.

use super::pentanomial::{Distribution, Pentanomial};

/// Bets from 0.9 downwards, each 1/√2 of the one before: one of them grows at 97 % of the best rate or more.
const BETS: usize = 24;

/// Bisection steps: bounds to about a thousandth of their distance from the mean.
const STEPS: usize = 12;

/// Lower and upper bound of the mean score, each missed with probability `alpha` at most over all times.
pub fn bounds(counts: Pentanomial, alpha: f64) -> [f64; 2] {
    [lower(counts.0, alpha), 1.0 - lower(counts.reversed().0, alpha)]
}

fn lower(counts: [u64; 5], alpha: f64) -> f64 {
    let Some(observed) = Distribution::raw(counts) else { return 0.0 };
    let is_refuted = |mean: f64| log_capital(counts, mean) >= -alpha.ln();
    // Bound of the normal approximation, with a third more room and the price of the grid.
    let price = 2.0 * ((BETS as f64).ln() - alpha.ln()) / observed.count;
    let guess = observed.mean() - 1.3 * (observed.variance() * price).sqrt() - price;
    let (mut refuted, mut possible) = (0.0, observed.mean());
    if guess > 0.0 && is_refuted(guess) {
        refuted = guess;
    }
    for _ in 0..STEPS {
        let middle = 0.5 * (refuted + possible);
        if is_refuted(middle) { refuted = middle } else { possible = middle }
    }
    refuted
}

/// Logarithm of the mean capital of the bets that the mean score is above `mean`.
fn log_capital(counts: [u64; 5], mean: f64) -> f64 {
    let of_bet = |bet: usize| -> f64 {
        let share = 0.9 * 0.5f64.powf(0.5 * bet as f64);
        let factor = |outcome: usize| 1.0 + share * (Distribution::<5>::score(outcome) / mean - 1.0);
        let grown = |outcome: usize| match counts[outcome] {
            0 => 0.0,
            count => count as f64 * factor(outcome).ln(),
        };
        (0..5).map(grown).sum()
    };
    let capitals: [f64; BETS] = std::array::from_fn(of_bet);
    let most = capitals.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most + (capitals.iter().map(|capital| (capital - most).exp()).sum::<f64>() / BETS as f64).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Conditions, Pairs};
    use patzer_chess::rng::{Rng, mix};

    #[test]
    fn the_bounds_enclose_the_mean_and_close_in_on_it_as_the_variance_allows() {
        assert_eq!(bounds(Pentanomial::default(), 0.05), [0.0, 1.0]);
        let width = |scale: u64, counts: [u64; 5]| {
            let [low, high] = bounds(Pentanomial(counts.map(|count| count * scale)), 0.025);
            assert!(low < 0.5 && high > 0.5);
            high - low
        };
        let drawish = [1, 10, 78, 10, 1];
        // Four times the pairs halve the width, but for the slowly growing price of looking at any time.
        let ratio = width(10, drawish) / width(40, drawish);
        assert!((1.85..2.1).contains(&ratio), "{ratio}");
        // Variances 0.0175 and 0.25: standard deviations of 0.132 and 0.5.
        let ratio = width(1_000, [50, 0, 0, 0, 50]) / width(1_000, drawish);
        assert!((3.6..4.0).contains(&ratio), "{ratio}");
        // A fixed-sample interval is narrower: at 100,000 pairs by a factor of 2 at most.
        let fixed = 2.0 * 1.96 * (0.0175f64 / 100_000.0).sqrt();
        let ratio = width(1_000, drawish) / fixed;
        assert!((1.2..2.3).contains(&ratio), "{ratio}");
    }

    #[test]
    fn a_bound_is_missed_at_any_time_at_most_as_often_as_it_says() {
        const RUNS: u64 = 200;
        let mut all = 0;
        for (elo, draws) in [(0.0, 0.6), (60.0, 0.3), (-150.0, 0.2)] {
            let pairs = Pairs::new(elo, Conditions { draws, bias: 0.0 }).unwrap();
            let mean = crate::elo::expected_score(elo);
            let missed = (0..RUNS).filter(|&run| {
                let (mut rng, mut counts) = (Rng::new(mix(11, run)), Pentanomial::default());
                (0..600).any(|played| {
                    counts.0[pairs.draw(&mut rng)] += 1;
                    let looked = played < 20 || played % 20 == 0;
                    looked && {
                        let [low, high] = bounds(counts, 0.05);
                        mean < low || mean > high
                    }
                })
            });
            let missed = missed.count();
            all += missed;
            let share = missed as f64 / RUNS as f64;
            // Both bounds together: 10 %, with three standard errors.
            assert!(share < 0.1 + 3.0 * (0.1f64 * 0.9 / RUNS as f64).sqrt(), "{elo}: {share}");
        }
        assert!(all > 3, "{all}: wider than they have to be");
    }
}
