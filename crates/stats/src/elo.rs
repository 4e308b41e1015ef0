//! Elo, normalised Elo and the likelihood of superiority, with 95 % errors.
//!
//! Normalised Elo divides the score's excess over one half by its standard deviation for one game, which
//! makes it a measure of how many games a test needs, whatever the draw rate (Van den Bergh, "Normalized
//! Elo", 2020).

use serde::Serialize;

use super::pentanomial::{Distribution, ResultCounts};
use super::special::normal_cdf;

/// 97.5 % quantile of the standard normal distribution.
pub const Z95: f64 = 1.959_963_984_540_054;

/// Normalised Elo of one standard deviation of one game: 800 / ln 10.
pub(super) const NELO: f64 = 800.0 / std::f64::consts::LN_10;

pub fn expected_score(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

pub fn elo_of(score: f64) -> f64 {
    if score <= 0.0 {
        f64::NEG_INFINITY
    } else if score >= 1.0 {
        f64::INFINITY
    } else {
        400.0 * (score / (1.0 - score)).log10()
    }
}

/// Normal approximation; values that the counts do not bound are infinite (`null` in JSON).
///
/// Observations that are all alike have no variance to estimate an error from: the error of Elo is unknown, and the LOS
/// is that of the sign of so many observations with a uniform prior, 1 − 2^−(n + 1).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// Logistic Elo of the first player over the second.
    pub elo: f64,
    pub elo_error: f64,
    pub nelo: f64,
    pub nelo_error: f64,
    pub los: f64,
}

impl Estimate {
    /// Estimates from counts; 0 with infinite errors without games.
    pub fn new(counts: impl Into<ResultCounts>) -> Estimate {
        match counts.into() {
            ResultCounts::Games(games) => Estimate::of(Distribution::raw(games.ascending())),
            ResultCounts::Pairs(pairs) => Estimate::of(Distribution::raw(pairs.0)),
        }
    }

    fn of<const N: usize>(distribution: Option<Distribution<N>>) -> Estimate {
        let Some(d) = distribution else {
            let unknown = f64::INFINITY;
            return Estimate { elo: 0.0, elo_error: unknown, nelo: 0.0, nelo_error: unknown, los: 0.5 };
        };
        let mean = d.mean();
        let standard_error = (d.variance() / d.count).sqrt();
        let excess = mean - 0.5;
        let alike = d.chance.contains(&1.0);
        let los = if alike && excess != 0.0 {
            let doubt = (-(d.count + 1.0) * std::f64::consts::LN_2).exp();
            if excess > 0.0 { 1.0 - doubt } else { doubt }
        } else {
            normal_cdf(ratio(excess, standard_error))
        };
        Estimate {
            elo: elo_of(mean),
            elo_error: if alike { f64::INFINITY } else { elo_error(mean, standard_error) },
            nelo: NELO * ratio(excess, (d.variance() * Distribution::<N>::games_each()).sqrt()),
            nelo_error: NELO * Z95 / (d.count * Distribution::<N>::games_each()).sqrt(),
            los,
        }
    }
}

/// Writes a value with its error in words where one of them is unknown: `+12.3 ± 4.5`, `-190.8 ± unknown`, `unbounded`.
pub fn with_error(value: f64, error: f64, decimals: usize) -> String {
    match (value.is_finite(), error.is_finite()) {
        (true, true) => format!("{value:+.decimals$} ± {error:.decimals$}"),
        (true, false) => format!("{value:+.decimals$} ± unknown"),
        (false, _) => "unbounded".to_string(),
    }
}

pub(super) fn elo_error(mean: f64, standard_error: f64) -> f64 {
    let (low, high) = (mean - Z95 * standard_error, mean + Z95 * standard_error);
    if low <= 0.0 || high >= 1.0 { f64::INFINITY } else { (elo_of(high) - elo_of(low)) / 2.0 }
}

/// `a / b` with 0/0 = 0.
fn ratio(a: f64, b: f64) -> f64 {
    if a == 0.0 { 0.0 } else { a / b }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Pentanomial, Trinomial};

    fn close(got: f64, want: f64, relative: f64) {
        assert!((got - want).abs() <= relative * want.abs(), "{got} is not {want}");
    }

    #[test]
    fn pentanomial_estimates_match_published_values() {
        let e = Estimate::new(Pentanomial([34, 54, 63, 64, 75]));
        close(e.elo, 55.57978, 1e-6);
        close(e.elo_error, 27.65343, 1e-6);
        close(e.los, 0.999970, 1e-6);
        let e = Estimate::new(Pentanomial([332, 433, 498, 333, 334]));
        close(e.elo, -8.64267, 1e-6);
        close(e.elo_error, 10.33419, 1e-6);
        close(e.nelo, -9.17291, 1e-6);
        close(e.nelo_error, 10.96046, 1e-6);
        close(e.los, 0.0505, 1e-3);
    }

    #[test]
    fn trinomial_estimates_match_published_values() {
        let e = Estimate::new(Trinomial { wins: 136, losses: 96, draws: 111 });
        close(e.elo, 40.70246, 1e-6);
        close(e.elo_error, 30.42722, 1e-6);
        close(e.nelo, 49.76842, 1e-6);
        close(e.nelo_error, 36.76845, 1e-6);
        close(e.los, 0.9960, 1e-4);
    }

    #[test]
    fn the_matches_of_the_zurichess_article() {
        // "Choosing positions for Texel's Tuning Method" (2016), whose errors differ from 1.96 σ by up to 0.006.
        for (wins, losses, draws, elo, error) in [
            (2518, 2308, 2274, 10.28, 6.66),
            (4427, 4585, 4188, -4.16, 4.90),
            (234, 361, 305, -49.36, 18.57),
            (17409, 17404, 12887, 0.04, 2.66),
            (2898, 2665, 2337, 10.25, 6.43),
        ] {
            let e = Estimate::new(Trinomial { wins, draws, losses });
            assert!((e.elo - elo).abs() < 0.00501, "{} is not {elo}", e.elo);
            assert!((e.elo_error - error).abs() < 0.01, "{} is not {error}", e.elo_error);
        }
    }

    #[test]
    fn unknown_errors_are_words() {
        for (value, error, text) in [
            (12.34, 4.56, "+12.3 ± 4.6"),
            (-190.85, f64::INFINITY, "-190.8 ± unknown"),
            (f64::NEG_INFINITY, f64::INFINITY, "unbounded"),
            (f64::INFINITY, 139.0, "unbounded"),
        ] {
            assert_eq!(with_error(value, error, 1), text);
        }
    }

    #[test]
    fn elo_and_score_are_inverse() {
        close(expected_score(400.0), 10.0 / 11.0, 1e-12);
        for elo in [-700.0, -3.5, 12.0, 350.0] {
            close(elo_of(expected_score(elo)), elo, 1e-9);
        }
        assert_eq!(elo_of(expected_score(0.0)), 0.0);
    }

    #[test]
    fn counts_that_are_all_alike_have_no_known_error_and_are_never_nan() {
        const INF: f64 = f64::INFINITY;
        for (pairs, elo, nelo, los) in [
            ([0, 0, 0, 0, 7], INF, INF, 1.0 - 1.0 / 256.0),
            ([0, 0, 9, 0, 0], 0.0, 0.0, 0.5),
            ([0, 1, 0, 0, 0], -190.848_501_887_864_98, -INF, 0.25),
        ] {
            let e = Estimate::new(Pentanomial(pairs));
            assert!(e.elo == elo || (e.elo - elo).abs() < 1e-9, "{}", e.elo);
            assert_eq!((e.elo_error, e.nelo), (INF, nelo));
            assert!((e.los - los).abs() < 1e-12, "{}", e.los);
        }
        // One observation of another kind is enough for an estimate.
        assert!(Estimate::new(Pentanomial([0, 1, 1, 0, 0])).elo_error.is_finite());
        let e = Estimate::new(Trinomial::default());
        assert_eq!((e.elo, e.los), (0.0, 0.5));
    }
}
