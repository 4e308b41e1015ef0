//! Elo after a sequential test, corrected for its stopping rule.
//!
//! A test that stops because it looks good looks too good, so the plain estimate of a passed test is too
//! high. The median-unbiased estimate is the difference for which a worse outcome than the observed one has
//! probability one half, with outcomes ordered by stage (`brownian`).

use serde::Serialize;

use super::brownian::Brownian;
use super::elo::{NELO, elo_of, expected_score};
use super::pentanomial::{Distribution, ResultCounts};
use super::sprt::{Model, Sprt};

/// Estimate in logistic Elo with 95 % interval; infinite (`null` in JSON) beyond ±1,000 Elo.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Adjusted {
    pub elo: f64,
    pub low: f64,
    pub high: f64,
    pub los: f64,
}

const REACH: f64 = 1_000.0;

impl Adjusted {
    /// Estimates from a test, finished or not, whose counts are not all alike.
    pub fn known(test: &Sprt, counts: ResultCounts) -> Option<Adjusted> {
        if counts.are_alike() { None } else { Adjusted::new(test, counts) }
    }

    /// Estimates from a test, finished or not; `None` without counts and for the Bayesian model.
    pub fn new(test: &Sprt, counts: impl Into<ResultCounts>) -> Option<Adjusted> {
        if test.model() == Model::Bayesian {
            return None;
        }
        match counts.into() {
            ResultCounts::Games(games) if games.games() > 0 => {
                Adjusted::of(test, &Distribution::regularised(games.ascending()))
            }
            ResultCounts::Pairs(pairs) if pairs.pairs() > 0 => {
                Adjusted::of(test, &Distribution::regularised(pairs.0))
            }
            _ => None,
        }
    }

    fn of<const N: usize>(test: &Sprt, observed: &Distribution<N>) -> Option<Adjusted> {
        let variance = observed.variance();
        let [score0, score1] = scores(test, variance * Distribution::<N>::games_each());
        // Normal approximation of the LLR gained per observation at a mean score.
        let gain = |score: f64| (score1 - score0) * (2.0 * score - score0 - score1) / (2.0 * variance);
        let spread = (score1 - score0).powi(2) / variance;
        let slope = gain(observed.mean());
        let (mut time, mut at) = (observed.count, observed.count * slope);
        // A test ends at its bound; overshoot is cut off along a straight path.
        if at < test.lower() || at > test.upper() {
            let barrier = if at < 0.0 { test.lower() } else { test.upper() };
            (time, at) = (barrier / slope, barrier);
        }
        if !(spread > 0.0 && spread.is_finite() && time > 0.0 && at.is_finite()) {
            return None;
        }
        let worse = |elo: f64| {
            let drift = gain(expected_score(elo));
            Brownian { lower: test.lower(), upper: test.upper(), drift, variance: spread }.worse(time, at)
        };
        let where_worse_is = |chance: f64| crossing(&worse, chance);
        Some(Adjusted {
            elo: where_worse_is(0.5),
            low: where_worse_is(0.975),
            high: where_worse_is(0.025),
            los: worse(0.0),
        })
    }

    pub fn normalised(elo: f64, counts: impl Into<ResultCounts>) -> f64 {
        let deviation = match counts.into() {
            ResultCounts::Games(games) => Distribution::regularised(games.ascending()).variance().sqrt(),
            ResultCounts::Pairs(pairs) => (2.0 * Distribution::regularised(pairs.0).variance()).sqrt(),
        };
        NELO * (expected_score(elo) - 0.5) / deviation
    }
}

pub(super) fn scores(test: &Sprt, variance: f64) -> [f64; 2] {
    test.bounds().map(|elo| match test.model() {
        Model::Normalized => 0.5 + elo / NELO * variance.sqrt(),
        _ => expected_score(elo),
    })
}

/// Finds the Elo at which a falling function reaches a value, by bisection over the expected score.
fn crossing(worse: &impl Fn(f64) -> f64, value: f64) -> f64 {
    if worse(-REACH) < value {
        return f64::NEG_INFINITY;
    }
    if worse(REACH) > value {
        return f64::INFINITY;
    }
    let (mut low, mut high) = (expected_score(-REACH), expected_score(REACH));
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if worse(elo_of(middle)) > value { low = middle } else { high = middle }
    }
    elo_of(0.5 * (low + high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{self, Conditions, Pairs};
    use crate::{Pentanomial, Trinomial};
    use patzer_chess::rng::{Rng, mix};

    fn adjusted(model: Model, bounds: [f64; 2], counts: impl Into<ResultCounts>) -> Adjusted {
        Adjusted::new(&Sprt::new(model, bounds[0], bounds[1], 0.05, 0.05).unwrap(), counts).unwrap()
    }

    #[test]
    fn estimates_match_an_independent_computation() {
        // Formulas of fishtest's analytics, with scipy's normal distribution and root finder.
        use Model::{Logistic, Normalized};
        for (model, bounds, counts, want) in [
            (
                Normalized,
                [0.0, 2.0],
                [365, 16618, 36229, 16974, 390],
                [0.932_148_556_6, -0.051_443_652_2, 1.878_152_214_2, 0.968_673_927_2],
            ),
            (
                Normalized,
                [-1.75, 0.25],
                [127, 4883, 10712, 5150, 104],
                [1.658_786_388_5, -0.100_947_607_5, 3.402_585_444_5, 0.967_722_021_6],
            ),
            (
                Logistic,
                [0.0, 2.0],
                [871, 26175, 55983, 26678, 821],
                [0.900_315_746_3, -0.326_057_147_1, 2.241_457_611_2, 0.929_831_503_4],
            ),
            // By images between the barriers, with the passages integrated numerically.
            (
                Normalized,
                [0.0, 10.0],
                [5, 40, 120, 60, 8],
                [19.404_970_5, 1.541_600_4, 37.371_511_2, 0.983_385_2],
            ),
            (
                Logistic,
                [-3.0, 1.0],
                [100, 900, 2000, 880, 90],
                [-1.741_632_8, -6.068_685_7, 2.590_425_6, 0.215_183_5],
            ),
        ] {
            let a = adjusted(model, bounds, Pentanomial(counts));
            for (got, want) in [a.elo, a.low, a.high, a.los].into_iter().zip(want) {
                assert!((got - want).abs() < 1e-6, "{a:?} {want}");
            }
        }
    }

    #[test]
    fn a_test_that_passed_looks_worse_than_its_plain_estimate() {
        let counts = Pentanomial([127, 4883, 10712, 5150, 104]);
        let plain = crate::Estimate::new(counts);
        let a = adjusted(Model::Normalized, [-1.75, 0.25], counts);
        assert!(a.elo < plain.elo && a.low < a.elo && a.elo < a.high, "{a:?} {plain:?}");
    }

    #[test]
    fn simulated_tests_are_estimated_without_bias_and_covered_as_often_as_said() {
        const RUNS: u64 = 300;
        let conditions = Conditions { draws: 0.6, bias: 60.0 };
        for (model, elo0, elo1, elo) in [
            (Model::Normalized, 0.0, 20.0, -20.0),
            (Model::Normalized, 0.0, 20.0, 0.0),
            (Model::Normalized, 0.0, 20.0, 10.0),
            (Model::Logistic, 0.0, 15.0, 15.0),
            (Model::Logistic, 0.0, 15.0, 30.0),
        ] {
            let test = Sprt::new(model, elo0, elo1, 0.05, 0.05).unwrap();
            let pairs = Pairs::of_model(model, elo, conditions).unwrap();
            let (mut above, mut covered, mut plain_above, mut plain_covered) = (0, 0, 0, 0);
            let (mut sum, mut plain_sum) = (0.0, 0.0);
            for run in 0..RUNS {
                let (_, counts) = plan::play(&test, &pairs, 1_000_000, &mut Rng::new(mix(11, run)));
                let a = Adjusted::new(&test, counts).unwrap();
                let plain = crate::Estimate::new(counts);
                above += u64::from(a.elo > pairs.elo);
                plain_above += u64::from(plain.elo > pairs.elo);
                covered += u64::from(a.low <= pairs.elo && pairs.elo <= a.high);
                plain_covered += u64::from((plain.elo - pairs.elo).abs() <= plain.elo_error);
                (sum, plain_sum) = (sum + a.elo - pairs.elo, plain_sum + plain.elo - pairs.elo);
            }
            let share = |count: u64| count as f64 / RUNS as f64;
            println!(
                "{model:?} [{elo0}, {elo1}] at {elo}: above {:.1} % (plain {:.1} %), covered {:.1} % ({:.1} %), \
                 mean error {:+.2} ({:+.2}) Elo",
                100.0 * share(above),
                100.0 * share(plain_above),
                100.0 * share(covered),
                100.0 * share(plain_covered),
                sum / RUNS as f64,
                plain_sum / RUNS as f64,
            );
            // Three standard errors, and a percent for the continuous limit.
            let runs = (RUNS as f64).sqrt();
            assert!((share(above) - 0.5).abs() < 1.5 / runs + 0.01, "{elo}: {above} of {RUNS} above");
            assert!((share(covered) - 0.95).abs() < 0.66 / runs + 0.01, "{elo}: {covered} of {RUNS}");
        }
    }

    #[test]
    fn the_other_side_sees_the_mirror_image() {
        let a = adjusted(Model::Logistic, [-4.0, 4.0], Trinomial { wins: 136, draws: 111, losses: 96 });
        let b = adjusted(Model::Logistic, [-4.0, 4.0], Trinomial { wins: 96, draws: 111, losses: 136 });
        assert!((a.elo + b.elo).abs() < 1e-6 && (a.low + b.high).abs() < 1e-6);
        assert!((a.los + b.los - 1.0).abs() < 1e-9);
    }

    #[test]
    fn one_sided_counts_are_infinite_but_never_nan() {
        for counts in [[0, 0, 0, 0, 9], [9, 0, 0, 0, 0], [0, 0, 50, 0, 0], [0, 0, 1, 0, 0]] {
            let a = adjusted(Model::Normalized, [0.0, 5.0], Pentanomial(counts));
            assert!([a.elo, a.low, a.high, a.los].iter().all(|v| !v.is_nan()), "{counts:?} {a:?}");
        }
        let test = Sprt::new(Model::Normalized, 0.0, 5.0, 0.05, 0.05).unwrap();
        assert_eq!(Adjusted::new(&test, Pentanomial::default()), None);
    }
}
