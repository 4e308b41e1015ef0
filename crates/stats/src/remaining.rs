//! The games that a sequential test still takes, if its players differ by as much as it has measured.
//!
//! The LLR is taken as a Brownian motion between its bounds; its chance to be still between them after some time is a
//! sine series. Source: D. Siegmund, "Sequential Analysis" (1985), chapter 3.

use std::f64::consts::PI;

use super::pentanomial::{Distribution, Pentanomial};
use super::plan::{OVERSHOOT, walk};
use super::sprt::{Model, Sprt};

/// Fewer pairs say little about the rest.
const FEW: u64 = 30;

/// Games to come until the verdict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Remaining {
    pub expected: f64,
    /// Nine in ten tests take no more.
    pub most: f64,
}

/// A Brownian motion at `at` within 0 and `width`, by steps of a mean and a variance.
struct Motion {
    at: f64,
    width: f64,
    drift: f64,
    spread: f64,
}

/// Estimates the rest of a test of pairs; `None` with few pairs, at a bound, or for the Bayesian model.
pub fn remaining(test: &Sprt, pairs: Pentanomial) -> Option<Remaining> {
    if test.model() == Model::Bayesian || pairs.pairs() < FEW {
        return None;
    }
    let [drift, spread] = walk(test, &Distribution::regularised(pairs.0));
    let beyond = OVERSHOOT * spread.sqrt();
    let (low, high) = (test.lower() - beyond, test.upper() + beyond);
    let motion = Motion { at: test.llr(pairs) - low, width: high - low, drift, spread };
    let inside = motion.at > 0.0 && motion.at < motion.width && spread > 0.0;
    inside.then(|| Remaining { expected: 2.0 * motion.mean_time(), most: 2.0 * motion.time_of(0.1) })
}

impl Motion {
    /// Mean time to either end.
    fn mean_time(&self) -> f64 {
        let Motion { at, width, drift, spread } = *self;
        let steep = 2.0 * drift / spread;
        if (steep * width).abs() < 1e-6 {
            return at * (width - at) / spread;
        }
        // Chance to end at the top, without overflow for either sign.
        let top = if steep > 0.0 {
            (-steep * at).exp_m1() / (-steep * width).exp_m1()
        } else {
            (steep * (width - at)).exp() * (steep * at).exp_m1() / (steep * width).exp_m1()
        };
        (width * top - at) / drift
    }

    /// The time after which the chance to be still inside is `chance`.
    fn time_of(&self, chance: f64) -> f64 {
        let mean = self.mean_time();
        let Motion { at, width, drift, spread } = *self;
        // Steep motions all but run to their bound, where the terms of the series would cancel each other.
        if (drift / spread * width).abs() > 25.0 {
            let way = if drift > 0.0 { width - at } else { at };
            return mean + 1.2816 * (way * spread / drift.abs().powi(3)).sqrt();
        }
        let (mut low, mut high) = (0.0, mean);
        while self.survival(high) > chance {
            high *= 2.0;
        }
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if self.survival(middle) > chance { low = middle } else { high = middle }
        }
        high
    }

    /// Chance to be still inside after a time.
    fn survival(&self, time: f64) -> f64 {
        let Motion { at, width, drift, spread } = *self;
        let slope = drift / spread;
        let term = |k: f64| {
            let wave = k * PI / width;
            let odd = if k % 2.0 == 0.0 { -1.0 } else { 1.0 };
            // e^(−slope·at) and e^(slope·(width − at)) together, so that neither overflows.
            let ends = (-slope * at).exp() + odd * (slope * (width - at)).exp();
            let decay = (-(spread * wave * wave + drift * slope) * time / 2.0).exp();
            2.0 * wave / width * ends / (slope * slope + wave * wave) * (wave * at).sin() * decay
        };
        (1..=200).map(|k| term(f64::from(k))).sum::<f64>().clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Conditions, Pairs};
    use patzer_chess::rng::Rng;

    #[test]
    fn simulated_tests_take_as_long_from_where_they_stand() {
        let test = Sprt::new(Model::Normalized, 0.0, 10.0, 0.05, 0.05).unwrap();
        for elo in [3.5, 10.0] {
            let pairs = Pairs::new(elo, Conditions { draws: 0.5, bias: 0.0 }).unwrap();
            let mut rng = Rng::new(4);
            // Until here the test has seen what it expects, so that the estimate is right.
            let mut start = Pentanomial::default();
            let played = 400.0;
            start.0 = pairs.chances().map(|chance| (played * chance).round() as u64);
            let said = remaining(&test, start).unwrap();
            let mut games: Vec<f64> = (0..300)
                .map(|_| {
                    let (mut counts, mut further) = (start, 0.0);
                    while (test.lower()..test.upper()).contains(&test.llr(counts)) {
                        (0..4).for_each(|_| counts.0[pairs.draw(&mut rng)] += 1);
                        further += 8.0;
                    }
                    further
                })
                .collect();
            games.sort_by(f64::total_cmp);
            let mean = games.iter().sum::<f64>() / 300.0;
            assert!((said.expected / mean - 1.0).abs() < 0.15, "{elo}: {said:?}, {mean}");
            assert!((said.most / games[269] - 1.0).abs() < 0.25, "{elo}: {said:?}, {}", games[269]);
        }
    }

    #[test]
    fn few_pairs_and_ended_tests_say_nothing() {
        let test = Sprt::new(Model::Normalized, 0.0, 5.0, 0.05, 0.05).unwrap();
        assert_eq!(remaining(&test, Pentanomial([0, 5, 10, 5, 1])), None);
        assert_eq!(remaining(&test, Pentanomial([0, 0, 10, 900, 900])), None);
        let steep = remaining(&test, Pentanomial([0, 0, 10, 20, 1])).unwrap();
        assert!(steep.expected > 0.0 && steep.most > steep.expected, "{steep:?}");
    }
}
