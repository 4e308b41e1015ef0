//! Expected length and pass probability of a sequential test, by formula and by simulation.
//!
//! Wald's operating characteristic and average sample number, with Siegmund's correction for discrete
//! observations: a test ends on average 0.583 standard deviations of one pair beyond its bound ("Sequential
//! Analysis", 1985).

use rayon::prelude::*;
use serde::Serialize;

use super::adjusted::scores;
use super::elo::{NELO, elo_of, expected_score};
use super::pentanomial::{Distribution, Pentanomial, Trinomial};
use super::sprt::{Model, Sprt, Verdict};
use patzer_chess::rng::{Rng, mix};
use patzer_io::error::{Error, Result};
use patzer_io::interrupt;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conditions {
    /// Draw rate of single games, 0 to below 1.
    pub draws: f64,
    /// Advantage of one colour from the opening, logistic Elo (root mean square over openings).
    pub bias: f64,
}

impl Conditions {
    /// Draw rate and bias that games have shown; `None` without pairs.
    ///
    /// The two games of a pair, with scores s ± b from an opening of bias b, differ less in their sum than independent
    /// games: its variance V is that of the mean of two games less b²/2.
    pub fn measured(games: Trinomial, pairs: Pentanomial) -> Option<Conditions> {
        let d = Distribution::raw(pairs.0)?;
        let (draws, score) = (games.draws as f64 / games.games() as f64, d.mean());
        let bias = (score - draws / 4.0 - score * score - 2.0 * d.variance()).max(0.0).sqrt();
        Some(Conditions { draws, bias: elo_of(0.5 + bias.min(0.499)) })
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pairs {
    /// Probability of LL, LD, WL + DD, WD, WW.
    pub chance: [f64; 5],
    pub elo: f64,
}

impl Pairs {
    /// From a difference in logistic Elo; the opening favours each player in one game.
    pub fn new(elo: f64, conditions: Conditions) -> Result<Pairs> {
        let Conditions { draws, bias } = conditions;
        if !((0.0..1.0).contains(&draws) && bias.is_finite() && elo.is_finite()) {
            return Err(Error::usage("a plan needs a share of draws from 0 to below 1, and finite Elo"));
        }
        let game = |score: f64| [1.0 - score - draws / 2.0, draws, score - draws / 2.0];
        // The bias shifts both scores equally, so the mean remains that of the difference.
        let shift = expected_score(bias) - 0.5;
        let games = [shift, -shift].map(|shift| game(expected_score(elo) + shift));
        if games.iter().flatten().any(|&p| p < 0.0) {
            return Err(Error::usage(format!(
                "{:.0} % of draws cannot come with a difference of {elo:.1} Elo and a bias of {bias:.0}",
                100.0 * draws
            )));
        }
        let mut chance = [0.0; 5];
        for (i, a) in games[0].iter().enumerate() {
            for (j, b) in games[1].iter().enumerate() {
                chance[i + j] += a * b;
            }
        }
        Ok(Pairs { chance, elo })
    }

    /// From a difference on the scale of a test's model; not for the Bayesian model.
    pub fn of_model(model: Model, elo: f64, conditions: Conditions) -> Result<Pairs> {
        match model {
            Model::Logistic => Pairs::new(elo, conditions),
            Model::Bayesian => {
                Err(Error::usage("a plan counts pairs; the Bayesian model counts single games"))
            }
            Model::Normalized => {
                // The deviation depends slightly on the score: fixed-point iteration.
                let mut logistic = 0.0;
                for _ in 0..50 {
                    let pairs = Pairs::new(logistic, conditions)?;
                    let score = 0.5 + elo / NELO * (2.0 * pairs.distribution().variance()).sqrt();
                    logistic = elo_of(score);
                }
                Pairs::new(logistic, conditions)
            }
        }
    }

    /// Chances of the scores 0 to 4 of a pair, in half points.
    pub fn chances(&self) -> [f64; 5] {
        self.chance
    }

    fn distribution(&self) -> Distribution<5> {
        Distribution { chance: self.chance, count: 1.0 }
    }

    pub fn nelo(&self) -> f64 {
        let pairs = self.distribution();
        NELO * (pairs.mean() - 0.5) / (2.0 * pairs.variance()).sqrt()
    }

    /// Draws the score of a pair, 0 to 4.
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> usize {
        let u = rng.unit();
        let mut sum = 0.0;
        for (outcome, chance) in self.chance[..4].iter().enumerate() {
            sum += chance;
            if u < sum {
                return outcome;
            }
        }
        4
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Expectation {
    pub pass: f64,
    pub games: f64,
}

/// The mean and the variance that a pair adds to the LLR of a test.
pub(crate) fn walk(test: &Sprt, pairs: &Distribution<5>) -> [f64; 2] {
    let variance = pairs.variance();
    let [score0, score1] = scores(test, 2.0 * variance);
    let drift = (score1 - score0) * (2.0 * pairs.mean() - score0 - score1) / (2.0 * variance);
    [drift, (score1 - score0).powi(2) / variance]
}

/// Mean excess of a random walk over its bound, in standard deviations of a step.
pub(crate) const OVERSHOOT: f64 = 0.5826;

pub fn expect(test: &Sprt, pairs: &Pairs) -> Expectation {
    let [drift, spread] = walk(test, &pairs.distribution());
    let beyond = OVERSHOOT * spread.sqrt();
    let (lower, upper) = (test.lower() - beyond, test.upper() + beyond);
    let steep = 2.0 * drift / spread;
    let (pass, observations) = if (steep * (upper - lower)).abs() < 1e-9 {
        (-lower / (upper - lower), -lower * upper / spread)
    } else {
        // (1 − e^(−h·lower)) / (e^(−h·upper) − e^(−h·lower)), without overflow for either sign.
        let pass = if steep > 0.0 {
            (steep * lower).exp_m1() / (-steep * (upper - lower)).exp_m1()
        } else {
            (steep * upper).exp() * (-steep * lower).exp_m1() / (steep * (upper - lower)).exp_m1()
        };
        (pass, (upper * pass + lower * (1.0 - pass)) / drift)
    };
    Expectation { pass: pass.clamp(0.0, 1.0), games: 2.0 * observations }
}

/// Expected course of a test, if the players differ by some Elo.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PlanRow {
    pub elo: f64,
    pub nelo: f64,
    #[serde(flatten)]
    pub expected: Expectation,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simulated: Option<Simulated>,
}

impl PlanRow {
    /// Plans a test for a difference on its own scale, and simulates `tests` of it, if any.
    pub fn new(
        test: &Sprt,
        difference: f64,
        conditions: Conditions,
        tests: u64,
        seed: u64,
    ) -> Result<PlanRow> {
        // Simulated tests stop as undecided after fifty times the expected length.
        const PATIENCE: f64 = 50.0;
        let pairs = Pairs::of_model(test.model(), difference, conditions)?;
        let expected = expect(test, &pairs);
        let most = (PATIENCE * expected.games).clamp(1_000.0, 1e12) as u64;
        let simulated = (tests > 0).then(|| simulate(test, &pairs, tests, most, seed)).transpose()?;
        Ok(PlanRow { elo: pairs.elo, nelo: pairs.nelo(), expected, simulated })
    }
}

/// Differences around the hypotheses of a test, for a plan.
pub fn usual_differences(test: &Sprt) -> [f64; 5] {
    let [elo0, elo1] = test.bounds();
    [-0.5, 0.0, 0.5, 1.0, 1.5].map(|part| elo0 + part * (elo1 - elo0))
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Simulated {
    pub pass: f64,
    pub pass_error: f64,
    pub games: f64,
    pub games_median: u64,
    /// 95 % quantile of the number of games.
    pub games_95: u64,
    pub undecided: u64,
}

pub fn play(test: &Sprt, pairs: &Pairs, most: u64, rng: &mut Rng) -> (Verdict, Pentanomial) {
    let mut counts = Pentanomial::default();
    for played in 1..=most {
        counts.0[pairs.draw(rng)] += 1;
        // The normal approximation improves with every pair; only near the bounds is the exact LLR computed.
        let near = 1.0 - f64::min(0.4, 3.0 / (played as f64).sqrt());
        let rough = rough_llr(test, &counts);
        if rough > near * test.lower() && rough < near * test.upper() {
            continue;
        }
        let verdict = test.verdict(test.llr(counts));
        if verdict != Verdict::Undecided {
            return (verdict, counts);
        }
    }
    (Verdict::Undecided, counts)
}

fn rough_llr(test: &Sprt, counts: &Pentanomial) -> f64 {
    let [c0, c1, c2, c3, c4] = counts.0.map(|c| c as f64);
    let count = c0 + c1 + c2 + c3 + c4;
    let excess = (2.0 * (c4 - c0) + c3 - c1) / (4.0 * count);
    let variance = (4.0 * (c4 + c0) + c3 + c1) / (16.0 * count) - excess * excess;
    let [score0, score1] = scores(test, 2.0 * variance);
    count * (score1 - score0) * (2.0 * excess + 1.0 - score0 - score1) / (2.0 * variance.max(1e-12))
}

/// Simulates many tests on all threads; the seed alone decides the result.
pub fn simulate(test: &Sprt, pairs: &Pairs, tests: u64, most: u64, seed: u64) -> Result<Simulated> {
    let one = |number: u64| match interrupt::requested() {
        true => (Verdict::Undecided, 0),
        false => {
            let (verdict, counts) = play(test, pairs, most, &mut Rng::new(mix(seed, number)));
            (verdict, counts.pairs())
        }
    };
    let mut ends: Vec<(Verdict, u64)> = (0..tests).into_par_iter().map(one).collect();
    if interrupt::requested() || ends.is_empty() {
        return Err(interrupt::error());
    }
    let count = ends.len() as f64;
    let share = |verdict| ends.iter().filter(|end| end.0 == verdict).count() as f64 / count;
    let (pass, undecided) = (share(Verdict::H1), share(Verdict::Undecided));
    let games = 2.0 * ends.iter().map(|end| end.1 as f64).sum::<f64>() / count;
    ends.sort_unstable_by_key(|end| end.1);
    let quantile = |q: f64| 2 * ends[((count * q) as usize).min(ends.len() - 1)].1;
    Ok(Simulated {
        pass,
        pass_error: 1.96 * (pass * (1.0 - pass) / count).sqrt(),
        games,
        games_median: quantile(0.5),
        games_95: quantile(0.95),
        undecided: (undecided * count).round() as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Conditions = Conditions { draws: 0.6, bias: 60.0 };

    fn test(model: Model, elo0: f64, elo1: f64) -> Sprt {
        Sprt::new(model, elo0, elo1, 0.05, 0.05).unwrap()
    }

    #[test]
    fn pairs_have_the_score_the_draws_and_the_variance_that_were_asked_for() {
        let pairs = Pairs::new(20.0, Conditions { draws: 0.5, bias: 0.0 }).unwrap();
        assert!((pairs.chance.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((pairs.distribution().mean() - expected_score(20.0)).abs() < 1e-12);
        // Without bias: half the variance of one game, (1 − draws)/4 minus the excess squared.
        let one = 0.125 - (expected_score(20.0) - 0.5).powi(2);
        assert!((pairs.distribution().variance() - one / 2.0).abs() < 1e-12);
        assert!(Pairs::new(300.0, Conditions { draws: 0.9, bias: 0.0 }).is_err());
        let pairs = Pairs::of_model(Model::Normalized, 5.0, USUAL).unwrap();
        assert!((pairs.nelo() - 5.0).abs() < 1e-9);
    }

    #[test]
    fn measured_conditions_are_those_that_the_games_were_played_under() {
        for (elo, draws, bias) in [(0.0, 0.5, 0.0), (12.0, 0.62, 80.0), (-30.0, 0.3, 150.0)] {
            let pairs = Pairs::new(elo, Conditions { draws, bias }).unwrap();
            let all = 1e12;
            let counts = Pentanomial(pairs.chance.map(|chance| (chance * all).round() as u64));
            let games = |share: f64| (2.0 * all * share).round() as u64;
            let score = expected_score(elo);
            let [wins, losses] = [score, 1.0 - score].map(|score| games(score - draws / 2.0));
            let games = Trinomial { wins, draws: games(draws), losses };
            let measured = Conditions::measured(games, counts).unwrap();
            assert!((measured.draws - draws).abs() < 1e-6, "{measured:?}");
            assert!((measured.bias - bias).abs() < 0.5, "{measured:?} {bias}");
        }
        assert_eq!(Conditions::measured(Trinomial::default(), Pentanomial::default()), None);
    }

    #[test]
    fn the_formula_has_walds_values() {
        // At the hypotheses the probabilities are the error rates, less Siegmund's correction.
        for model in [Model::Logistic, Model::Normalized] {
            let test = test(model, 0.0, 2.0);
            let at = |elo| expect(&test, &Pairs::of_model(model, elo, USUAL).unwrap());
            assert!((at(0.0).pass - 0.05).abs() < 2e-3 && at(0.0).pass < 0.05, "{:?}", at(0.0));
            assert!((at(2.0).pass - 0.95).abs() < 2e-3, "{:?}", at(2.0));
            assert!((at(1.0).pass - 0.5).abs() < 1e-3);
            // Tests are longest between the hypotheses.
            assert!(at(1.0).games > at(0.0).games && at(1.0).games > at(2.0).games);
        }
        // Normalised: (ln 19 · 800/ln 10 / 2)² games in the middle, whatever the draw rate: 261,600.
        let pairs = Pairs::of_model(Model::Normalized, 1.0, USUAL).unwrap();
        let games = expect(&test(Model::Normalized, 0.0, 2.0), &pairs);
        let wald = (19f64.ln() * NELO / 2.0).powi(2);
        assert!((games.games / wald - 1.0).abs() < 0.01, "{games:?} {wald}");
    }

    #[test]
    fn extreme_differences_stay_numbers() {
        let test = test(Model::Logistic, 0.0, 5.0);
        for elo in [-400.0, -50.0, 2.5, 2.5 + 1e-12, 50.0, 400.0] {
            let e = expect(&test, &Pairs::new(elo, Conditions { draws: 0.1, bias: 0.0 }).unwrap());
            assert!((0.0..=1.0).contains(&e.pass) && e.games.is_finite() && e.games > 0.0, "{elo}: {e:?}");
        }
    }

    #[test]
    fn formula_and_simulation_agree() {
        let test = test(Model::Normalized, 0.0, 30.0);
        for elo in [0.0, 15.0, 30.0] {
            let pairs = Pairs::of_model(Model::Normalized, elo, USUAL).unwrap();
            let by_formula = expect(&test, &pairs);
            let seen = simulate(&test, &pairs, 1_000, 1_000_000, 1).unwrap();
            let most = seen.pass_error.max(0.01) * 2.0;
            assert!((by_formula.pass - seen.pass).abs() < most, "{by_formula:?} {seen:?}");
            assert!((by_formula.games / seen.games - 1.0).abs() < 0.1, "{by_formula:?} {seen:?}");
            assert!(seen.games_median <= seen.games_95 && seen.undecided == 0);
        }
    }

    #[test]
    fn looking_only_near_the_bounds_misses_no_verdict() {
        let test = test(Model::Normalized, 0.0, 40.0);
        let pairs = Pairs::of_model(Model::Normalized, 20.0, USUAL).unwrap();
        for seed in 0..60 {
            let (mut rng, mut every) = (Rng::new(seed), (Verdict::Undecided, Pentanomial::default()));
            while every.0 == Verdict::Undecided {
                every.1.0[pairs.draw(&mut rng)] += 1;
                every.0 = test.verdict(test.llr(every.1));
            }
            assert_eq!(play(&test, &pairs, 1_000_000, &mut Rng::new(seed)), every, "{seed}");
        }
    }

    #[test]
    fn threads_change_nothing() {
        let test = test(Model::Logistic, 0.0, 60.0);
        let pairs = Pairs::new(30.0, USUAL).unwrap();
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| simulate(&test, &pairs, 200, 100_000, 7).unwrap())
        };
        assert_eq!(with(1), with(2));
    }
}
