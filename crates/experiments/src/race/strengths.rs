//! Strengths of all players from all pairs: the model of Bradley and Terry, fitted by quasi-likelihood to pair scores.
//!
//! The expected score of i against j is σ(θᵢ − θⱼ). A pair's variance is a multiple of p (1 − p), which the pairs
//! themselves tell (Wedderburn, "Quasi-likelihood functions", Biometrika 61, 1974).

use super::Meetings;
use crate::ELO;
use crate::newton::{PRIOR, STEPS, prior, step};
use patzer_chess::rng::Rng;
use patzer_stats::Distribution;

#[derive(Debug, Clone)]
pub(super) struct Strengths {
    /// In log odds.
    theta: Vec<f64>,
    /// Lower Cholesky factor of the precision, row by row.
    factor: Vec<f64>,
    /// Variance of a pair over p (1 − p).
    pub dispersion: f64,
}

impl Strengths {
    pub fn new(players: usize) -> Strengths {
        let factor =
            (0..players * players).map(|at| if at / players == at % players { PRIOR.sqrt() } else { 0.0 });
        Strengths { theta: vec![0.0; players], factor: factor.collect(), dispersion: 1.0 }
    }

    /// Fits all results, from the present strengths on.
    pub fn fit(&mut self, meetings: &Meetings) {
        let players = self.theta.len();
        for _ in 0..STEPS {
            let (mut slope, mut precision) = prior(&self.theta);
            for ([a, b], counts) in meetings.met() {
                let p = self.expected([a, b]);
                let pairs = counts.pairs() as f64;
                let excess = pairs * (Distribution::raw(counts.0).map_or(0.5, |d| d.mean()) - p);
                slope[a] += excess;
                slope[b] -= excess;
                let weight = pairs * p * (1.0 - p);
                for (at, sign) in [([a, a], 1.0), ([b, b], 1.0), ([a, b], -1.0), ([b, a], -1.0)] {
                    precision[at[0] * players + at[1]] += sign * weight;
                }
            }
            let most = step(&mut self.theta, slope, &mut precision);
            self.factor = precision;
            if most < 1e-9 {
                break;
            }
        }
        self.dispersion = self.measured_dispersion(meetings);
    }

    /// Shrunk towards 1 by one pair.
    fn measured_dispersion(&self, meetings: &Meetings) -> f64 {
        let (mut squares, mut expected) = (1.0, 1.0);
        for ([a, b], counts) in meetings.met() {
            let p = self.expected([a, b]);
            expected += counts.pairs() as f64 * p * (1.0 - p);
            let square = |(outcome, count): (usize, u64)| {
                count as f64 * (Distribution::<5>::score(outcome) - p).powi(2)
            };
            squares += counts.0.into_iter().enumerate().map(square).sum::<f64>();
        }
        squares / expected
    }

    pub fn expected(&self, [a, b]: [usize; 2]) -> f64 {
        1.0 / (1.0 + (self.theta[b] - self.theta[a]).exp())
    }

    pub fn elo(&self, player: usize) -> f64 {
        ELO * self.theta[player]
    }

    /// Strengths drawn from the normal approximation, in log odds.
    fn drawn(&self, rng: &mut Rng) -> Vec<f64> {
        let (players, scale) = (self.theta.len(), self.dispersion.sqrt());
        // With precision L·Lᵀ, the solution of Lᵀ x = z has covariance (L·Lᵀ)⁻¹.
        let mut x: Vec<f64> = (0..players).map(|_| scale * rng.normal()).collect();
        for i in (0..players).rev() {
            let known: f64 = (i + 1..players).map(|k| self.factor[k * players + i] * x[k]).sum();
            x[i] = (x[i] - known) / self.factor[i * players + i];
        }
        self.theta.iter().zip(x).map(|(theta, error)| theta + error).collect()
    }

    /// Probability of each of the first `candidates` players to be the strongest, by draws from the normal
    /// approximation.
    pub fn best(&self, candidates: usize, draws: u64, seed: u64) -> Vec<f64> {
        let mut rng = Rng::new(seed);
        let mut won = vec![0u64; candidates];
        for _ in 0..draws {
            won[argmax(self.drawn(&mut rng).into_iter().take(candidates))] += 1;
        }
        won.into_iter().map(|won| won as f64 / draws as f64).collect()
    }

    /// Elo of all players with the candidates drawn towards their mean, by as much as errors spread the estimates: their
    /// true strengths lie closer together (James and Stein, "Estimation with quadratic loss", 1961).
    pub fn shrunk(&self, candidates: usize, draws: u64, seed: u64) -> Vec<f64> {
        let spread = |theta: &[f64]| {
            let mean = theta.iter().sum::<f64>() / candidates as f64;
            theta.iter().map(|theta| (theta - mean).powi(2)).sum::<f64>()
        };
        let found = spread(&self.theta[..candidates]);
        let mut rng = Rng::new(seed);
        let drawn =
            (0..draws).map(|_| spread(&self.drawn(&mut rng)[..candidates])).sum::<f64>() / draws as f64;
        let own = if found > 0.0 { (1.0 - (drawn - found) / found).max(0.0) } else { 0.0 };
        let mean = self.theta[..candidates].iter().sum::<f64>() / candidates as f64;
        let towards = |(player, theta): (usize, &f64)| {
            ELO * if player < candidates { mean + own * (theta - mean) } else { *theta }
        };
        self.theta.iter().enumerate().map(towards).collect()
    }
}

/// Index of the largest value, the first of equal ones.
pub(super) fn argmax(values: impl Iterator<Item = f64>) -> usize {
    let best = values.enumerate().reduce(|best, next| if next.1 > best.1 { next } else { best });
    best.map_or(0, |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_stats::elo::expected_score;
    use patzer_stats::{Estimate, Pentanomial};

    fn add(meetings: &mut Meetings, players: [usize; 2], counts: [u64; 5]) {
        for (outcome, count) in counts.into_iter().enumerate() {
            (0..count).for_each(|_| meetings.add(players, outcome));
        }
    }

    #[test]
    fn two_players_have_the_elo_and_the_superiority_of_their_match() {
        let counts = [34, 54, 63, 64, 75];
        let mut meetings = Meetings::new(2);
        add(&mut meetings, [0, 1], counts);
        let mut strengths = Strengths::new(2);
        strengths.fit(&meetings);
        let estimate = Estimate::new(Pentanomial(counts));
        assert!((strengths.elo(0) - strengths.elo(1) - estimate.elo).abs() < 0.05);
        let best = strengths.best(2, 100_000, 1);
        assert!((best[0] - estimate.los).abs() < 5e-4 && (best[0] + best[1] - 1.0).abs() < 1e-9, "{best:?}");
    }

    #[test]
    fn a_ring_of_players_adds_up() {
        // 0 beats 1 by 50 Elo, 1 beats 2 by 30, and 0 beats 2 by 80: the three results agree exactly.
        let mut meetings = Meetings::new(3);
        for (players, elo) in [([0, 1], 50.0), ([1, 2], 30.0), ([0, 2], 80.0)] {
            let won = (100_000.0 * expected_score(elo)).round() as u64;
            add(&mut meetings, players, [100_000 - won, 0, 0, 0, won]);
        }
        let mut strengths = Strengths::new(3);
        strengths.fit(&meetings);
        assert!((strengths.elo(0) - strengths.elo(1) - 50.0).abs() < 0.02);
        assert!((strengths.elo(0) - strengths.elo(2) - 80.0).abs() < 0.02);
        assert!((strengths.dispersion - 1.0).abs() < 0.01, "coins have the variance p (1 − p)");
    }

    #[test]
    fn equals_shrink_to_their_mean_and_clear_differences_stay() {
        let mut equals = Meetings::new(4);
        (0..3).for_each(|player| add(&mut equals, [player, 3], [10 + player as u64, 20, 30, 20, 10]));
        let mut clear = Meetings::new(4);
        for (player, elo) in [-100.0, 0.0, 100.0].into_iter().enumerate() {
            let won = (10_000.0 * expected_score(elo)).round() as u64;
            add(&mut clear, [player, 3], [10_000 - won, 0, 0, 0, won]);
        }
        for (meetings, least, most) in [(equals, 0.0, 0.01), (clear, 0.98, 1.0)] {
            let mut strengths = Strengths::new(4);
            strengths.fit(&meetings);
            let shrunk = strengths.shrunk(3, 2_000, 1);
            let share = (shrunk[2] - shrunk[0]) / (strengths.elo(2) - strengths.elo(0));
            assert!((least..=most).contains(&share), "{share}");
            assert_eq!(shrunk[3], strengths.elo(3));
        }
    }

    #[test]
    fn a_player_without_a_loss_has_a_finite_strength() {
        let mut meetings = Meetings::new(2);
        add(&mut meetings, [0, 1], [0, 0, 0, 0, 50]);
        let mut strengths = Strengths::new(2);
        strengths.fit(&meetings);
        assert!((500.0..3_000.0).contains(&strengths.elo(0)), "{}", strengths.elo(0));
        assert!(strengths.best(2, 1_000, 1)[0] > 0.95);
    }
}
