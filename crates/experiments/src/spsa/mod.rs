//! Parameters tuned by games: simultaneous perturbation stochastic approximation, as OpenBench does it.
//!
//! Each iteration plays one player with all parameters a step to one side against one with all parameters a step to
//! the other, the sides drawn at random, and moves every parameter towards the winner's. The steps c and the learning
//! rates r follow the schedule of Spall, "Implementation of the Simultaneous Perturbation Algorithm for Stochastic
//! Optimization" (1998), in the form of OpenBench (`OpenBench/spsa_utils.py`).
//!
//! Seed, parameters and results decide every value, so that the journal of a match is the journal of a tuning.

mod forms;
pub mod options;
mod param;
mod patterns;
mod state;
pub mod weights;

use serde::{Deserialize, Serialize};

pub use forms::Form;
pub use param::{Param, ParamError, read};
pub use patterns::PatternError;
use patzer_chess::rng::{Rng, mix};
pub use state::{SpsaState, Tuner, Value};

/// The schedule of a tuning.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    pub iterations: usize,
    /// Pairs of games with the same perturbation.
    pub pairs: usize,
    /// Iterations in flight: an iteration knows the results of those this many before it.
    pub window: usize,
    pub alpha: f64,
    pub gamma: f64,
    /// A as a share of the iterations.
    pub a_ratio: f64,
}

/// Everything that decides a tuning, apart from the results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    pub params: Vec<Param>,
    pub schedule: Schedule,
    pub seed: u64,
}

/// The values of both players in an iteration.
#[derive(Debug, Clone, PartialEq)]
pub struct Perturbation {
    pub plus: Vec<f64>,
    pub minus: Vec<f64>,
    /// Change of each parameter for each game that `plus` wins more than it loses.
    pub step: Vec<f64>,
}

/// Least perturbation of a whole number.
const LEAST_INT_STEP: f64 = 0.5;

impl Tuning {
    /// The tuning that a match was played for, by the conditions of its journal.
    pub fn of(conditions: &serde_json::Value) -> Option<Tuning> {
        Tuning::deserialize(&conditions["contest"]["spsa"]).ok()
    }

    pub fn start(&self) -> Vec<f64> {
        self.params.iter().map(|param| param.start).collect()
    }

    /// Perturbs the values for an iteration, counted from 0.
    pub fn perturb(&self, iteration: usize, values: &[f64]) -> Perturbation {
        let Schedule { iterations, alpha, gamma, a_ratio, .. } = self.schedule;
        let (all, now) = (iterations as f64, 1.0 + iteration as f64);
        let mut rng = Rng::new(mix(self.seed, iteration as u64));
        let count = self.params.len();
        let mut drawn = Perturbation {
            plus: Vec::with_capacity(count),
            minus: Vec::with_capacity(count),
            step: Vec::with_capacity(count),
        };
        for (param, value) in self.params.iter().zip(values) {
            let least = if param.float { 0.0 } else { LEAST_INT_STEP };
            let c = (param.c_end * (all / now).powf(gamma)).max(least);
            let a = param.r_end * param.c_end.powi(2) * (a_ratio * all + all).powf(alpha);
            let r = a / (a_ratio * all + now).powf(alpha) / c.powi(2);
            let flip = if rng.next_u64() >> 63 == 0 { 1.0 } else { -1.0 };
            // Rounded at random, so that the mean of a whole number is the value.
            let up = rng.unit();
            let place = |value: f64| {
                let value = if param.float { value } else { (value + up).floor() };
                value.clamp(param.min, param.max)
            };
            let (mut low, mut high) = (place(value - c), place(value + c));
            // A whole number at its bound would play against itself.
            if low == high && !param.float {
                if high + 1.0 <= param.max {
                    high += 1.0;
                } else {
                    low = (low - 1.0).max(param.min);
                }
            }
            let (plus, minus) = if flip > 0.0 { (high, low) } else { (low, high) };
            drawn.plus.push(plus);
            drawn.minus.push(minus);
            drawn.step.push(r * c * flip);
        }
        drawn
    }

    /// Moves the values by an iteration's result: games that `plus` won less those that it lost.
    pub fn update(&self, values: &mut [f64], drawn: &Perturbation, result: f64) {
        for ((value, param), step) in values.iter_mut().zip(&self.params).zip(&drawn.step) {
            *value = (*value + step * result).clamp(param.min, param.max);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub fn tuning(lines: &[&str], iterations: usize) -> Tuning {
        let params = lines.iter().map(|line| line.parse().unwrap()).collect();
        let schedule = Schedule { iterations, pairs: 1, window: 1, alpha: 0.602, gamma: 0.101, a_ratio: 0.1 };
        Tuning { params, schedule, seed: 3 }
    }

    /// Values of the formulas of OpenBench, evaluated by hand in another language.
    #[test]
    fn the_schedule_is_that_of_openbench() {
        let tuning = tuning(&["a, float, 50, 0, 100, 4, 0.002"], 1000);
        for (iteration, c, step) in [
            (0, 8.036_371_250_434_913, 0.016_765_129_654_899_843),
            (499, 4.290_066_467_271_77, 0.010_743_784_810_274_7),
            (999, 4.0, 0.008),
        ] {
            let Perturbation { plus, minus, step: got } = tuning.perturb(iteration, &[50.0]);
            assert!(((plus[0] - 50.0).abs() - c).abs() < 1e-9, "{iteration}: {plus:?}");
            assert!((plus[0] + minus[0] - 100.0).abs() < 1e-9);
            assert!((got[0].abs() - step).abs() < 1e-9, "{iteration}: {got:?}");
            assert_eq!(got[0] > 0.0, plus[0] > 50.0, "the step leads to the winner");
        }
    }

    #[test]
    fn whole_numbers_are_rounded_at_random_around_their_value() {
        let tuning = tuning(&["a, int, 5, 0, 100, 0.1, 0.002"], 10_000);
        let (mut plus, mut minus) = (0.0, 0.0);
        for iteration in 0..10_000 {
            let drawn = tuning.perturb(iteration, &[5.25]);
            assert!(drawn.plus[0].fract() == 0.0 && (drawn.plus[0] - drawn.minus[0]).abs() == 1.0);
            plus += drawn.plus[0];
            minus += drawn.minus[0];
        }
        let mean = (plus + minus) / 20_000.0;
        assert!((mean - 5.25).abs() < 0.02, "{mean}");
    }

    #[test]
    fn a_whole_number_at_its_bound_does_not_play_against_itself() {
        let tuning = tuning(&["a, int, 5, 0, 10, 0.1, 0.002"], 1000);
        for (iteration, value) in (0..1000).zip([0.0, 10.0, 9.8, 0.1].into_iter().cycle()) {
            let Perturbation { plus, minus, .. } = tuning.perturb(iteration, &[value]);
            assert_eq!((plus[0] - minus[0]).abs(), 1.0, "{value}");
            assert!([plus[0], minus[0]].iter().all(|value| (0.0..=10.0).contains(value)));
        }
    }

    #[test]
    fn values_stay_in_their_range() {
        let tuning = tuning(&["a, int, 5, 4, 6, 3, 0.5"], 10);
        let drawn = tuning.perturb(0, &[5.0]);
        assert!(drawn.plus.iter().chain(&drawn.minus).all(|value| (4.0..=6.0).contains(value)));
        let mut values = [5.0];
        tuning.update(&mut values, &drawn, 1e6);
        assert!(values == [4.0] || values == [6.0]);
    }
}
