//! Newton's method for a model of few parameters in log odds under a wide normal prior.
//!
//! Its Cholesky factorisation ends also after an interrupt, unlike that of the statistics: the results so far are reported.

use crate::ELO;

/// Precision of the prior, 1,000 Elo wide: it bounds what the pairs do not determine, and the sum of all strengths.
pub const PRIOR: f64 = (ELO / 1000.0) * (ELO / 1000.0);

/// Steps at most; a warm start needs one to three.
pub const STEPS: usize = 30;

/// Slope and precision of the prior at these parameters, to which a fit adds those of its pairs.
pub fn prior(theta: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let size = theta.len();
    let mut precision = vec![0.0; size * size];
    (0..size).for_each(|i| precision[i * size + i] = PRIOR);
    (theta.iter().map(|theta| -PRIOR * theta).collect(), precision)
}

/// Moves the parameters by a step, of which the longest move is returned; factors the precision in place.
pub fn step(theta: &mut [f64], slope: Vec<f64>, precision: &mut [f64]) -> f64 {
    cholesky(precision, theta.len());
    let step = solve(precision, theta.len(), slope);
    // A first step from far away may overshoot.
    let most = step.iter().fold(0.0, |most: f64, step| most.max(step.abs()));
    let scale = (2.0 / most.max(2.0)).min(1.0);
    theta.iter_mut().zip(&step).for_each(|(theta, step)| *theta += scale * step);
    most
}

/// Factors a positive definite matrix, given row by row by its lower triangle, in place.
fn cholesky(matrix: &mut [f64], size: usize) {
    for i in 0..size {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| matrix[i * size + k] * matrix[j * size + k]).sum();
            let rest = matrix[i * size + j] - known;
            // The prior keeps the diagonal positive but for rounding.
            matrix[i * size + j] = if i == j { rest.max(1e-12).sqrt() } else { rest / matrix[j * size + j] };
        }
    }
}

/// Solves A x = b, from the factor of A.
pub fn solve(factor: &[f64], size: usize, mut x: Vec<f64>) -> Vec<f64> {
    for i in 0..size {
        let known: f64 = (0..i).map(|k| factor[i * size + k] * x[k]).sum();
        x[i] = (x[i] - known) / factor[i * size + i];
    }
    for i in (0..size).rev() {
        let known: f64 = (i + 1..size).map(|k| factor[k * size + i] * x[k]).sum();
        x[i] = (x[i] - known) / factor[i * size + i];
    }
    x
}
