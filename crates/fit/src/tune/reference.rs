//! Reference implementation of trace evaluation in f64, for linear and non-linear terms.
//! The fast passes of `kernel` and `normal` are tested against it, and evaluations with non-linear terms are
//! tuned with it. Terms follow Grant, "Evaluation & Tuning in Chess Engines" (2020), sections on king safety
//! and complexity:
//!
//! - Linear: M, E = Σ weight · (White's count − Black's).
//! - Safety: each side's king has a danger D = Σ weight · count, which takes D · max(D, 0) / divisor off that
//!   side's midgame value and max(D, 0) / divisor off its endgame value.
//! - Complexity: C = Σ endgame weight · count moves the endgame value towards or away from 0, never past it:
//!   E' = E + sign(E) · max(C, −|E|).
//!
//! The score is phase · M + (1 − phase) · scale · E' + constant.

use patzer_chess::score::logistic;

use super::chunk::{BothSides, Entries, TraceChunk};

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NonlinearForm {
    /// Divisors of the squared midgame danger and of the endgame danger.
    pub safety_divisors: [f64; 2],
}

impl Default for NonlinearForm {
    fn default() -> NonlinearForm {
        NonlinearForm { safety_divisors: [720.0, 20.0] }
    }
}

/// Derivative of a score by the midgame and endgame value of a weight.
pub type Slope = (u16, [f64; 2]);

/// Score of a row in centipawns from White's side; `slopes` receives its derivatives, possibly several per weight.
pub fn score(
    chunk: &TraceChunk,
    row: usize,
    entries: Entries<'_>,
    weights: &[[f64; 2]],
    form: &NonlinearForm,
    slopes: &mut Vec<Slope>,
) -> f64 {
    slopes.clear();
    let (safety, complexity) = chunk.nonlinear(row);
    let mut sums = [0.0; 2];
    for (index, count) in linear(entries) {
        let [mg, eg] = weights[usize::from(index)];
        sums = [sums[0] + count * mg, sums[1] + count * eg];
        slopes.push((index, [count; 2]));
    }
    for (side, sign) in [(true, -1.0), (false, 1.0)] {
        let [taken, rates] = danger(safety, side, weights, form);
        sums = [sums[0] + sign * taken[0], sums[1] + sign * taken[1]];
        let of_side = |entry: &BothSides| f64::from(if side { entry.white } else { entry.black });
        slopes
            .extend(safety.iter().map(|entry| (entry.index, rates.map(|rate| sign * rate * of_side(entry)))));
    }
    let [mg_factor, eg_factor] = chunk.factors(row).map(f64::from);
    let (eg, by_eg, by_complexity) = complex(sums[1], complexity, weights);
    for (_, [mg_slope, eg_slope]) in slopes.iter_mut() {
        *mg_slope *= mg_factor;
        *eg_slope *= eg_factor * by_eg;
    }
    slopes.extend(
        complexity.iter().map(|&(index, count)| (index, [0.0, eg_factor * by_complexity * f64::from(count)])),
    );
    f64::from(chunk.constant(row)) + mg_factor * sums[0] + eg_factor * eg
}

fn linear(entries: Entries<'_>) -> impl Iterator<Item = (u16, f64)> + '_ {
    let plus = entries.plus.iter().map(|&index| (index, 1.0));
    let minus = entries.minus.iter().map(|&index| (index, -1.0));
    let heavy = entries.heavy.iter().zip(entries.coefficients);
    plus.chain(minus).chain(heavy.map(|(&index, &count)| (index, f64::from(count))))
}

/// What the danger to a king takes off its side's midgame and endgame values, and the derivatives by it.
fn danger(safety: &[BothSides], white: bool, weights: &[[f64; 2]], form: &NonlinearForm) -> [[f64; 2]; 2] {
    let mut sums = [0.0f64; 2];
    for entry in safety {
        let count = f64::from(if white { entry.white } else { entry.black });
        let [mg, eg] = weights[usize::from(entry.index)];
        sums = [sums[0] + count * mg, sums[1] + count * eg];
    }
    let [mg, eg] = sums.map(|sum| sum.max(0.0));
    let [mg_divisor, eg_divisor] = form.safety_divisors;
    let by_eg = if sums[1] > 0.0 { 1.0 / eg_divisor } else { 0.0 };
    [[mg * mg / mg_divisor, eg / eg_divisor], [2.0 * mg / mg_divisor, by_eg]]
}

/// The endgame value after complexity, and its derivatives by the value before and by the complexity.
fn complex(eg: f64, complexity: &[(u16, f32)], weights: &[[f64; 2]]) -> (f64, f64, f64) {
    if complexity.is_empty() || eg == 0.0 {
        return (eg, 1.0, 0.0);
    }
    let shift: f64 =
        complexity.iter().map(|&(index, count)| f64::from(count) * weights[usize::from(index)][1]).sum();
    if shift > -eg.abs() { (eg + eg.signum() * shift, 1.0, eg.signum()) } else { (0.0, 0.0, 0.0) }
}

pub fn each(
    chunk: &TraceChunk,
    weights: &[[f64; 2]],
    form: &NonlinearForm,
    mut visit: impl FnMut(usize, f64, &[Slope]),
) {
    let mut slopes = Vec::new();
    chunk.each(|row, entries| {
        let score = score(chunk, row, entries, weights, form, &mut slopes);
        visit(row, score, &slopes);
    });
}

/// Weighted loss of a row and its derivatives by the score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowLoss {
    pub loss: f64,
    pub slope: f64,
    /// Second derivative without the error term: never negative (Gauss-Newton).
    pub curvature: f64,
    pub exact_curvature: f64,
}

#[inline(always)]
pub fn row_loss(chunk: &TraceChunk, row: usize, score: f64, k: f64) -> RowLoss {
    // As in `expected_score`, whose argument is scale · score.
    let (scale, weight) = (k / 400.0, f64::from(chunk.weight(row)));
    let expected = logistic(scale * score);
    let error = expected - f64::from(chunk.rows[row].target);
    let spread = expected * (1.0 - expected);
    let (first, second) = (spread * scale, spread * scale * scale * (1.0 - 2.0 * expected));
    RowLoss {
        loss: weight * error * error,
        slope: 2.0 * weight * error * first,
        curvature: 2.0 * weight * first * first,
        exact_curvature: 2.0 * weight * (first * first + error * second),
    }
}

pub fn loss(chunk: &TraceChunk, weights: &[[f64; 2]], k: f64, form: &NonlinearForm) -> f64 {
    let mut sum = 0.0;
    each(chunk, weights, form, |row, score, _| sum += row_loss(chunk, row, score, k).loss);
    sum
}

pub fn gradient(
    chunk: &TraceChunk,
    weights: &[[f64; 2]],
    k: f64,
    form: &NonlinearForm,
) -> (f64, Vec<[f64; 2]>) {
    let (mut sum, mut gradient) = (0.0, vec![[0.0; 2]; weights.len()]);
    each(chunk, weights, form, |row, score, slopes| {
        let row = row_loss(chunk, row, score, k);
        sum += row.loss;
        for &(index, [mg, eg]) in slopes {
            let slot = &mut gradient[usize::from(index)];
            *slot = [slot[0] + row.slope * mg, slot[1] + row.slope * eg];
        }
    });
    (sum, gradient)
}
