//! Estimate of an effect after an experiment that looked at it at certain times and ended when it was clear.
//!
//! An effect that left because it looked good looks too good. The median-unbiased estimate is the effect for which a
//! worse outcome than the observed one has probability one half, with outcomes ordered by stage as in `brownian`: left
//! low early, left low late, seen to the end by its value, left high late, left high early. The score, estimate times
//! information, is a Brownian motion in the information; its density is carried from look to look by numerical
//! integration. Sources: Armitage, McPherson and Rowe, "Repeated significance tests on accumulating data" (1969);
//! Tsiatis, Rosner and Mehta, "Exact confidence intervals following a group sequential test" (1984).

use serde::Serialize;

use super::special::normal_cdf;

/// A look: what was known by then, and the estimates with which the experiment ended there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// 1 / standard error².
    pub information: f64,
    /// The effect leaves with an estimate up to this one, or above `high`.
    pub low: f64,
    pub high: f64,
}

/// Median-unbiased estimate with its 95 % interval, in the unit of the estimates.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Unbiased {
    pub elo: f64,
    pub low: f64,
    pub high: f64,
}

/// Nodes of the integration, an odd number for Simpson's rule.
const NODES: usize = 161;

/// Standard deviations of the score that the nodes cover at most, on either side.
const REACH: f64 = 10.0;

/// Score of an effect before a look: nodes with their probabilities, while it was watched.
#[derive(Debug, Clone)]
struct Watched {
    information: f64,
    scores: Vec<f64>,
    masses: Vec<f64>,
}

impl Watched {
    fn start() -> Watched {
        Watched { information: 0.0, scores: vec![0.0], masses: vec![1.0] }
    }

    /// The scores after a look that the effect did not leave at.
    fn after(&self, look: &Look, drift: f64) -> Watched {
        let Look { information, low, high } = *look;
        let reach = REACH * information.sqrt();
        let middle = drift * information;
        let from = (low * information).max(middle - reach);
        let to = (high * information).min(middle + reach).max(from);
        let width = (to - from) / (NODES - 1) as f64;
        let simpson = |at: usize| match at {
            0 => width / 3.0,
            at if at + 1 == NODES => width / 3.0,
            at if at % 2 == 1 => 4.0 * width / 3.0,
            _ => 2.0 * width / 3.0,
        };
        let step = information - self.information;
        let scores: Vec<f64> = (0..NODES).map(|at| from + at as f64 * width).collect();
        let density = |score: f64| -> f64 {
            let come = self.scores.iter().zip(&self.masses);
            let exponent = |before: f64| (score - before - drift * step).powi(2) / (2.0 * step);
            let near = come.map(|(before, mass)| (exponent(*before), mass)).filter(|(far, _)| *far < 40.0);
            near.map(|(far, mass)| mass * (-far).exp()).sum()
        };
        let scale = (2.0 * std::f64::consts::PI * step).sqrt();
        let mass = |(at, score): (usize, &f64)| simpson(at) * density(*score) / scale;
        let masses = scores.iter().enumerate().map(mass).collect();
        Watched { information, scores, masses }
    }

    /// Probability to be watched here and at `score` or below at the look, under another drift.
    fn below(&self, look: &Look, score: f64, drift: f64, other: f64) -> f64 {
        let step = look.information - self.information;
        let deviation = step.sqrt();
        // The ratio of the probabilities of a path under both drifts (Girsanov).
        let fixed = 0.5 * (other * other - drift * drift) * self.information;
        let nodes = self.scores.iter().zip(&self.masses);
        let far = |before: f64| (score - before - other * step) / deviation;
        let near = nodes.map(|(before, mass)| (before, mass, far(*before))).filter(|(.., far)| *far > -9.0);
        near.map(|(before, mass, far)| mass * ((other - drift) * before - fixed).exp() * normal_cdf(far))
            .sum()
    }
}

impl Unbiased {
    /// From the looks, the last of them the one at which `estimate` was made; information grows from look to look.
    pub fn new(looks: &[Look], estimate: f64) -> Option<Unbiased> {
        let (last, before) = looks.split_last()?;
        let informations = || looks.iter().map(|look| look.information);
        if !informations().zip(informations().skip(1)).all(|(a, b)| a < b) || looks[0].information <= 0.0 {
            return None;
        }
        let mut watched = vec![Watched::start()];
        for look in before {
            watched.push(watched[watched.len() - 1].after(look, estimate));
        }
        let worse = |effect: f64| -> f64 {
            let left = watched.iter().zip(before);
            let left = left.map(|(at, look)| at.below(look, look.low * look.information, estimate, effect));
            let end = watched[before.len()].below(last, estimate * last.information, estimate, effect);
            left.sum::<f64>() + end
        };
        let error = last.information.sqrt().recip();
        let where_worse_is = |chance: f64| {
            let (mut low, mut high) = (estimate - 6.0 * error, estimate + 6.0 * error);
            for _ in 0..40 {
                let middle = 0.5 * (low + high);
                if worse(middle) > chance { low = middle } else { high = middle }
            }
            0.5 * (low + high)
        };
        Some(Unbiased { elo: where_worse_is(0.5), low: where_worse_is(0.975), high: where_worse_is(0.025) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brownian::Brownian;
    use crate::mixture;
    use patzer_chess::rng::{Rng, mix};

    fn endless(information: f64) -> Look {
        Look { information, low: f64::NEG_INFINITY, high: f64::INFINITY }
    }

    #[test]
    fn an_experiment_that_never_ends_early_has_the_plain_interval() {
        let looks: Vec<Look> = (1..=30).map(|n| endless(0.01 * f64::from(n))).collect();
        let got = Unbiased::new(&looks, 2.5).unwrap();
        let half = 1.959_964 / 0.3_f64.sqrt();
        assert!((got.elo - 2.5).abs() < 1e-4, "{got:?}");
        assert!((got.low - 2.5 + half).abs() < 1e-3 && (got.high - 2.5 - half).abs() < 1e-3, "{got:?}");
        assert_eq!(Unbiased::new(&[], 1.0), None);
        assert_eq!(Unbiased::new(&[endless(2.0), endless(2.0)], 1.0), None);
    }

    /// Straight barriers of the score and many looks: the continuous limit, with barriers moved by the mean overshoot
    /// of a discrete walk (Siegmund, "Corrected diffusion approximations", 1979).
    #[test]
    fn many_looks_agree_with_the_continuous_limit() {
        let (step, barrier) = (0.005_f64, 1.5);
        let look = |n: u32| {
            let information = step * f64::from(n);
            Look { information, low: -barrier / information, high: barrier / information }
        };
        let looks: Vec<Look> = (1..=400).map(look).collect();
        for estimate in [-0.3, 0.2, 0.6] {
            let got = Unbiased::new(&looks, estimate).unwrap();
            let moved = barrier + 0.5826 * step.sqrt();
            let walk = |drift: f64| Brownian { lower: -moved, upper: moved, drift, variance: 1.0 };
            for (effect, chance) in [(got.elo, 0.5), (got.low, 0.975), (got.high, 0.025)] {
                let want = walk(effect).worse(2.0, 2.0 * estimate);
                assert!((want - chance).abs() < 3e-3, "{estimate}: {want} is not {chance}");
            }
        }
    }

    #[test]
    fn effects_that_leave_when_they_are_clear_are_estimated_without_bias() {
        let (runs, scale, alpha) = (400, 0.2, 0.05);
        for truth in [0.0, 0.1, 0.3] {
            let (mut above, mut plain_above, mut covered) = (0, 0, 0);
            for run in 0..runs {
                let mut rng = Rng::new(mix(3, run));
                let (mut looks, mut sum, mut estimate) = (Vec::new(), 0.0, 0.0);
                for n in 1..=40 {
                    sum += truth * 10.0 + rng.normal() * 10_f64.sqrt();
                    let information = 10.0 * f64::from(n);
                    let half = mixture::half_width(information.sqrt().recip(), scale, alpha);
                    looks.push(Look { information, low: -half, high: half });
                    estimate = sum / information;
                    if estimate <= -half || estimate > half {
                        break;
                    }
                }
                let got = Unbiased::new(&looks, estimate).unwrap();
                above += u32::from(got.elo > truth);
                plain_above += u32::from(estimate > truth);
                covered += u32::from(got.low <= truth && truth <= got.high);
            }
            let share = |count: u32| f64::from(count) / runs as f64;
            println!(
                "{truth}: above {} (plain {}), covered {}",
                share(above),
                share(plain_above),
                share(covered)
            );
            // Three standard errors; the plain estimate fails this for the last one.
            assert!((share(above) - 0.5).abs() < 0.075, "{truth}: {}", share(above));
            assert!(truth < 0.3 || share(plain_above) > 0.55, "{}", share(plain_above));
            assert!((share(covered) - 0.95).abs() < 0.033, "{truth}: {}", share(covered));
        }
    }
}
