//! L2 prior by evidence: how far the weights of a term usually move decides how far one may move that few games
//! speak about.
//!
//! Each half of a term (`psqt.knight midgame`) has a standard deviation τ around the start, found by MacKay's fixed
//! point ("Bayesian Interpolation", 1992): τ² = Σ δ² / Σ γ over its weights, where δ is the distance from the start
//! and γ = 1 − 2λ (A⁻¹)ⱼⱼ the share that the data determine, A the Gauss-Newton matrix with the prior. Small terms
//! say little about their τ, so [`PSEUDO`] weights of the pooled deviation count with them; the pooled one is the
//! geometric mean of all, to which [`FIRST`] counts as one weight.
//! The loss is a likelihood once divided by its residual variance s², and positions of a game share its result: a
//! weight's prior is as strong as if each of its games were one observation, λ = s² · (weight per game) / (W τ²).

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::normal::Curvature;
use super::objective::Objective;
use super::standard_errors::table;
use super::support::Support;
use patzer_io::interrupt;
use patzer_stats::{Cholesky, dot};

/// Standard deviation before there is evidence, in centipawns.
const FIRST: f64 = 50.0;

const PSEUDO: f64 = 4.0;

/// Least standard deviation, in centipawns: weights are rounded to whole ones.
const LEAST: f64 = 1.0;

/// Largest number of parameters for which A⁻¹ pays; beyond it the matrix counts as diagonal.
const LARGEST_INVERSE: usize = 1_200;

const ITERATIONS: usize = 10;

/// Relative change of a variance below which it has settled.
const SETTLED: f64 = 0.05;

#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// L2 prior of each parameter, as [`Objective::prior`].
    pub prior: Vec<f64>,
    /// Standard deviation around the start of each half of a term, in centipawns.
    pub deviations: BTreeMap<String, f64>,
    /// Number of weights that the data determine, the sum of γ.
    pub effective: f64,
}

/// The prior before any fit: [`FIRST`] for every weight.
pub fn first(objective: &Objective<'_>, support: &[Support], variance: f64) -> Evidence {
    let terms = Terms::new(objective);
    let variances = vec![FIRST * FIRST; terms.names.len()];
    let strengths = terms.strengths(objective, support, variance, &variances);
    Evidence {
        prior: strengths.iter().map(|strength| strength * 1e4).collect(),
        deviations: terms.deviations(&variances),
        effective: 0.0,
    }
}

/// The prior that suits the values of a fit with the prior of `objective`.
pub fn estimate(objective: &Objective<'_>, parameters: &[f64], support: &[Support]) -> Evidence {
    let starts = objective.space.free.iter().map(|&slot| objective.model.slots[slot].start);
    let away: Vec<f64> = parameters.iter().zip(starts).map(|(value, start)| value - start).collect();
    let data = objective.without_prior();
    let variance = data.loss(parameters);
    let surface = if away.len() <= LARGEST_INVERSE {
        Surface::full(&data, parameters, &away)
    } else {
        let first = (0..away.len()).map(|i| objective.strength(i)).collect();
        Surface::Diagonal { curvatures: data.curvatures(parameters), away, first }
    };
    let terms = Terms::new(objective);
    let (mut variances, mut pooled) = (vec![FIRST * FIRST; terms.names.len()], FIRST * FIRST);
    let mut known = Vec::new();
    for _ in 0..ITERATIONS {
        let strengths = terms.strengths(objective, support, variance, &variances);
        let Some((away, shares)) = surface.optimum(&strengths) else { break };
        known = shares;
        let earlier = variances;
        (variances, pooled) = terms.variances(&away, &known, pooled);
        let change = |(new, old): (&f64, &f64)| (new / old).ln().abs();
        if variances.iter().zip(&earlier).map(change).fold(0.0, f64::max) < SETTLED {
            break;
        }
    }
    let strengths = terms.strengths(objective, support, variance, &variances);
    Evidence {
        prior: strengths.iter().map(|strength| strength * 1e4).collect(),
        deviations: terms.deviations(&variances),
        effective: known.iter().sum(),
    }
}

/// The loss around the values of a fit, to second order.
enum Surface {
    Full {
        matrix: Vec<f64>,
        right: Vec<f64>,
    },
    /// Diagonal prior, with the distances from the start under a first prior.
    Diagonal {
        curvatures: Vec<f64>,
        away: Vec<f64>,
        first: Vec<f64>,
    },
}

impl Surface {
    fn full(data: &Objective<'_>, parameters: &[f64], away: &[f64]) -> Surface {
        let (_, gradient) = data.gradient(parameters);
        let matrix = data.normal(parameters, Curvature::GaussNewton);
        let rows = matrix.chunks_exact(away.len()).zip(&gradient);
        let right = rows.map(|(row, slope)| dot(row, away) - slope).collect();
        Surface::Full { matrix, right }
    }

    /// Distances from the start at the optimum under a prior, and the share of each that the data determine.
    fn optimum(&self, strengths: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
        let size = strengths.len();
        match self {
            Surface::Full { matrix, right } => {
                let mut damped = matrix.clone();
                for (i, strength) in strengths.iter().enumerate() {
                    let diagonal = &mut damped[i * size + i];
                    *diagonal = if *diagonal > 0.0 { *diagonal + 2.0 * strength } else { 1.0 };
                }
                let factor = Cholesky::new(damped, size)?;
                let share = |i: usize| match matrix[i * size + i] {
                    // After an interrupt nobody takes the estimate.
                    _ if interrupt::requested() => 0.0,
                    0.0 => 0.0,
                    _ => (1.0 - 2.0 * strengths[i] * factor.inverse_diagonal(i)).clamp(0.0, 1.0),
                };
                Some((factor.solve(right), (0..size).into_par_iter().map(share).collect()))
            }
            Surface::Diagonal { curvatures, away, first } => {
                let of = |i: usize| {
                    let damped = (curvatures[i] + 2.0 * strengths[i]).max(f64::MIN_POSITIVE);
                    (away[i] * (curvatures[i] + 2.0 * first[i]) / damped, curvatures[i] / damped)
                };
                Some((0..size).map(of).unzip())
            }
        }
    }
}

/// The halves of terms, and the one of each parameter.
struct Terms {
    names: Vec<String>,
    of: Vec<usize>,
}

impl Terms {
    fn new(objective: &Objective<'_>) -> Terms {
        let mut numbers = BTreeMap::new();
        let mut names = Vec::new();
        let number = |&slot: &usize| {
            let name = table(&objective.model.slots[slot].name);
            *numbers.entry(name.clone()).or_insert_with(|| {
                names.push(name);
                names.len() - 1
            })
        };
        let of = objective.space.free.iter().map(number).collect();
        Terms { names, of }
    }

    /// λ of each parameter: loss for the square of its distance in centipawns.
    fn strengths(
        &self,
        objective: &Objective<'_>,
        support: &[Support],
        variance: f64,
        variances: &[f64],
    ) -> Vec<f64> {
        let total = objective.traces.total_weight().max(f64::MIN_POSITIVE);
        let of = self.of.iter().zip(support);
        of.map(|(&term, support)| variance * support.per_game() / (total * variances[term])).collect()
    }

    /// The next variances of all terms, and the pooled one.
    fn variances(&self, away: &[f64], known: &[f64], pooled: f64) -> (Vec<f64>, f64) {
        let mut sums = vec![[PSEUDO * pooled, PSEUDO]; self.names.len()];
        let mut weights = vec![0.0; self.names.len()];
        for ((&term, away), known) in self.of.iter().zip(away).zip(known) {
            let [squares, count] = sums[term];
            sums[term] = [squares + away * away * f64::from(u8::from(*known > 0.0)), count + known];
            weights[term] += known;
        }
        let variances: Vec<f64> =
            sums.iter().map(|[squares, count]| (squares / count).max(LEAST * LEAST)).collect();
        let logs: f64 = variances.iter().zip(&weights).map(|(variance, weight)| weight * variance.ln()).sum();
        let mean = (logs + (FIRST * FIRST).ln()) / (weights.iter().sum::<f64>() + 1.0);
        (variances, mean.exp())
    }

    fn deviations(&self, variances: &[f64]) -> BTreeMap<String, f64> {
        self.names.iter().cloned().zip(variances.iter().map(|variance| variance.sqrt())).collect()
    }
}
