//! Effects of all terms from all pairs: logistic regression of the pair scores on the differences of both players.
//!
//! The expected score of a pair is σ(Σ βᵢ dᵢ). Its variance is a multiple of p (1 − p), which the pairs themselves
//! give (Wedderburn, "Quasi-likelihood functions", Biometrika 61, 1974).

use crate::ELO;
use crate::newton::{PRIOR, STEPS, prior, solve, step};

#[derive(Debug, Clone)]
pub struct Effects {
    /// In log odds.
    theta: Vec<f64>,
    /// Covariance in log odds squared, row by row.
    covariance: Vec<f64>,
}

/// Differences of the terms, pair by pair, and the scores.
#[derive(Debug, Clone, Default)]
pub struct Observations {
    differences: Vec<f64>,
    /// 0 to 1.
    scores: Vec<f64>,
}

impl Observations {
    pub fn add(&mut self, differences: &[f64], half_points: usize) {
        self.differences.extend_from_slice(differences);
        self.scores.push(half_points as f64 / 4.0);
    }

    pub fn pairs(&self) -> usize {
        self.scores.len()
    }

    fn rows(&self, terms: usize) -> impl Iterator<Item = (&[f64], f64)> {
        self.differences.chunks_exact(terms).zip(self.scores.iter().copied())
    }
}

impl Effects {
    pub fn new(terms: usize) -> Effects {
        let covariance =
            (0..terms * terms).map(|at| if at / terms == at % terms { 1.0 / PRIOR } else { 0.0 });
        Effects { theta: vec![0.0; terms], covariance: covariance.collect() }
    }

    /// Fits all pairs, from the present effects on.
    pub fn fit(&mut self, observed: &Observations) {
        let terms = self.theta.len();
        let mut factor = Vec::new();
        for _ in 0..STEPS {
            let mut slope;
            (slope, factor) = prior(&self.theta);
            for (row, score) in observed.rows(terms) {
                let p = self.expected(row);
                let weight = p * (1.0 - p);
                for (i, difference) in row.iter().enumerate().filter(|(_, difference)| **difference != 0.0) {
                    slope[i] += (score - p) * difference;
                    let scale = weight * difference;
                    factor[i * terms..][..=i]
                        .iter_mut()
                        .zip(row)
                        .for_each(|(sum, other)| *sum += scale * other);
                }
            }
            // The error after a step is about its square.
            if step(&mut self.theta, slope, &mut factor) < 1e-3 {
                break;
            }
        }
        let dispersion = self.dispersion(observed);
        for i in 0..terms {
            let unit = (0..terms).map(|j| f64::from(u8::from(i == j))).collect();
            let column = solve(&factor, terms, unit);
            self.covariance[i * terms..][..terms]
                .iter_mut()
                .zip(column)
                .for_each(|(entry, value)| *entry = dispersion * value);
        }
    }

    fn expected(&self, row: &[f64]) -> f64 {
        let sum: f64 = self.theta.iter().zip(row).map(|(theta, difference)| theta * difference).sum();
        1.0 / (1.0 + (-sum).exp())
    }

    /// Variance of a pair over p (1 − p), shrunk towards 1 by one pair; every effect takes one degree of freedom.
    fn dispersion(&self, observed: &Observations) -> f64 {
        let terms = self.theta.len();
        let (mut squares, mut expected) = (0.0, 0.0);
        for (row, score) in observed.rows(terms) {
            let p = self.expected(row);
            squares += (score - p).powi(2);
            expected += p * (1.0 - p);
        }
        let pairs = observed.pairs() as f64;
        let free = pairs / (pairs - terms as f64).max(1.0);
        (1.0 + free * squares) / (1.0 + expected)
    }

    /// Estimate of a weighted sum of effects and its standard error, in Elo.
    pub fn sum(&self, weights: &[(usize, f64)]) -> (f64, f64) {
        let terms = self.theta.len();
        let elo: f64 = weights.iter().map(|(term, weight)| weight * self.theta[*term]).sum();
        let mut variance = 0.0;
        for (i, a) in weights {
            for (j, b) in weights {
                variance += a * b * self.covariance[i * terms + j];
            }
        }
        (ELO * elo, ELO * variance.max(0.0).sqrt())
    }

    /// Estimate of an effect and its standard error, in Elo.
    pub fn effect(&self, term: usize) -> (f64, f64) {
        self.sum(&[(term, 1.0)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_stats::{Estimate, Pentanomial};

    #[test]
    fn a_single_effect_has_the_elo_and_the_error_of_a_match() {
        let counts = [340, 540, 630, 640, 750];
        let mut observed = Observations::default();
        for (half_points, count) in counts.into_iter().enumerate() {
            for at in 0..count {
                // The second half of the pairs with the sides exchanged.
                let (difference, half_points) =
                    if at % 2 == 0 { (1.0, half_points) } else { (-1.0, 4 - half_points) };
                observed.add(&[difference], half_points);
            }
        }
        let mut effects = Effects::new(1);
        effects.fit(&observed);
        let (elo, error) = effects.effect(0);
        let estimate = Estimate::new(Pentanomial(counts));
        assert!((elo - estimate.elo).abs() < 0.05, "{elo} is not {}", estimate.elo);
        assert!((1.96 * error / estimate.elo_error - 1.0).abs() < 0.02, "{error}");
    }

    /// Three effects of 2³ designs, by the weights that a hand calculation gives: σ⁻¹ of the exact means.
    #[test]
    fn effects_add_up_in_log_odds() {
        let truth = [0.3, -0.2, 0.1];
        let mut observed = Observations::default();
        for signs in 0..8 {
            let row: Vec<f64> = (0..3).map(|bit| if signs >> bit & 1 == 1 { 1.0 } else { -1.0 }).collect();
            let sum: f64 = truth.iter().zip(&row).map(|(effect, sign)| effect * sign).sum();
            let won = (100_000.0 / (1.0 + (-sum).exp())).round() as usize;
            for at in 0..100_000 {
                observed.add(&row, if at < won { 4 } else { 0 });
            }
        }
        let mut effects = Effects::new(3);
        effects.fit(&observed);
        for (term, truth) in truth.into_iter().enumerate() {
            let (elo, error) = effects.effect(term);
            assert!((elo - ELO * truth).abs() < 0.02, "{elo}");
            // 800,000 pairs of coins with a mean variance of p (1 − p).
            assert!((0.38..0.42).contains(&error), "{error}");
        }
        let (sum, error) = effects.sum(&[(0, 1.0), (1, 1.0)]);
        assert!((sum - ELO * 0.1).abs() < 0.03 && error > effects.effect(0).1);
    }
}
