//! Reference implementation of trace evaluation in f64, for linear and non-linear terms.
//! The fast passes of `kernel` and `normal` are tested against it, and evaluations with non-linear terms are
//! tuned with it. Terms follow Grant, "Evaluation & Tuning in Chess Engines" (2020), sections on king safety
//! and complexity:
//!
//! - Linear: M, E = Σ weight · (White's count − Black's).
//! - Parts: each side has sums of weight · count, whose product goes through a curve and adds to that side's midgame
//!   and endgame value, see [`Part`]. The danger D to a king takes D · max(D, 0) / divisor and max(D, 0) / divisor off.
//! - Complexity: C = Σ endgame weight · count moves the endgame value towards or away from 0, never past it:
//!   E' = E + sign(E) · max(C, −|E|).
//! - Scale: a part with [`Curve::Scale`] multiplies E' by the value of the side that is ahead by E'.
//!
//! The score is phase · M + (1 − phase) · scale · E' + constant, and terms outside the scale add theirs unscaled.

use patzer_chess::score::logistic;

use super::chunk::{BothSides, Entries, TraceChunk};

/// Function of a part's product in one half.
#[derive(Debug, Clone, PartialEq)]
pub enum Curve {
    None,
    Linear,
    /// x · |x|
    Square,
    /// Interpolation between weights, by number; the outermost beyond them.
    Table(Vec<u16>),
    /// Linear, and multiplies the endgame value instead of adding to it.
    Scale,
}

pub const MOST_FACTORS: usize = 3;

/// Group of a feature that is in no part.
pub const NO_PART: [u8; 2] = [u8::MAX, 0];

/// A non-linear part of the evaluation: for each side the product of sums of weight · count, limited to `clamp`,
/// divided and put through a curve, half by half.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    pub halves: [Curve; 2],
    /// Divisors, of a square after squaring, else before the curve.
    pub divisors: [f64; 2],
    pub clamp: [f64; 2],
    /// Taken off the side's value instead of added.
    pub malus: bool,
    /// Only for the side that is ahead by the endgame value of all else but complexity.
    pub ahead: bool,
    pub factors: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct NonlinearForm {
    pub parts: Vec<Part>,
    /// Part and factor of each weight; empty if all are of the first part.
    pub groups: Vec<[u8; 2]>,
    /// Weights outside the endgame scale; empty if there are none.
    pub outside: Vec<bool>,
}

impl Default for NonlinearForm {
    fn default() -> NonlinearForm {
        NonlinearForm::safety([720.0, 20.0])
    }
}

impl NonlinearForm {
    /// The danger to kings alone.
    pub fn safety(divisors: [f64; 2]) -> NonlinearForm {
        let halves = [Curve::Square, Curve::Linear];
        let clamp = [0.0, f64::INFINITY];
        let part = Part { halves, divisors, clamp, malus: true, ahead: false, factors: 1 };
        NonlinearForm { parts: vec![part], groups: Vec::new(), outside: Vec::new() }
    }

    /// Numbers of some parts.
    fn parts_that(&self, which: impl Fn(&Part) -> bool) -> impl Iterator<Item = usize> {
        (0..self.parts.len()).filter(move |&part| which(&self.parts[part]))
    }

    fn is_outside(&self, index: u16) -> bool {
        self.outside.get(usize::from(index)).copied().unwrap_or(false)
    }

    fn group(&self, index: u16) -> [usize; 2] {
        self.groups.get(usize::from(index)).map_or([0; 2], |group| group.map(usize::from))
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
    for (index, count) in linear(entries).filter(|(index, _)| !form.is_outside(*index)) {
        let [mg, eg] = weights[usize::from(index)];
        sums = [sums[0] + count * mg, sums[1] + count * eg];
        slopes.push((index, [count; 2]));
    }
    // Without counts both sides have the same.
    if !safety.is_empty() {
        for part in form.parts_that(|part| !part.ahead) {
            [true, false]
                .into_iter()
                .for_each(|white| add(form, part, white, safety, weights, &mut sums, slopes));
        }
    }
    let ahead = sums[1];
    for part in form.parts_that(|part| part.ahead && !part.is_scale()).filter(|_| ahead != 0.0) {
        add(form, part, ahead > 0.0, safety, weights, &mut sums, slopes);
    }
    let [mg_factor, eg_factor] = chunk.factors(row).map(f64::from);
    let (mut eg, by_eg, by_complexity) = complex(sums[1], complexity, weights);
    for (_, [mg_slope, eg_slope]) in slopes.iter_mut() {
        *mg_slope *= mg_factor;
        *eg_slope *= eg_factor * by_eg;
    }
    slopes.extend(
        complexity.iter().map(|&(index, count)| (index, [0.0, eg_factor * by_complexity * f64::from(count)])),
    );
    for part in form.parts_that(Part::is_scale) {
        let unscaled = slopes.len();
        let [_, factor] = of_side(form, part, (eg > 0.0, 1.0), safety, weights, slopes);
        slopes[..unscaled].iter_mut().for_each(|(_, [_, by_weight])| *by_weight *= factor);
        slopes[unscaled..].iter_mut().for_each(|(_, [_, by_weight])| *by_weight *= eg_factor * eg);
        eg *= factor;
    }
    let mut score = f64::from(chunk.constant(row)) + mg_factor * sums[0] + eg_factor * eg;
    for (index, count) in linear(entries).filter(|(index, _)| form.is_outside(*index)) {
        let ([mg, eg], eg_factor) = (weights[usize::from(index)], 1.0 - mg_factor);
        score += count * (mg_factor * mg + eg_factor * eg);
        slopes.push((index, [mg_factor * count, eg_factor * count]));
    }
    score
}

fn linear(entries: Entries<'_>) -> impl Iterator<Item = (u16, f64)> + '_ {
    let plus = entries.plus.iter().map(|&index| (index, 1.0));
    let minus = entries.minus.iter().map(|&index| (index, -1.0));
    let heavy = entries.heavy.iter().zip(entries.coefficients);
    plus.chain(minus).chain(heavy.map(|(&index, &count)| (index, f64::from(count))))
}

/// Adds a part of one side to the sums, and its derivatives to the slopes.
fn add(
    form: &NonlinearForm,
    number: usize,
    white: bool,
    safety: &[BothSides],
    weights: &[[f64; 2]],
    sums: &mut [f64; 2],
    slopes: &mut Vec<Slope>,
) {
    let sign = if white == form.parts[number].malus { -1.0 } else { 1.0 };
    let values = of_side(form, number, (white, sign), safety, weights, slopes);
    *sums = [sums[0] + values[0], sums[1] + values[1]];
}

/// A part's values of one side times `sign`, and their derivatives.
fn of_side(
    form: &NonlinearForm,
    number: usize,
    (white, sign): (bool, f64),
    safety: &[BothSides],
    weights: &[[f64; 2]],
    slopes: &mut Vec<Slope>,
) -> [f64; 2] {
    let part = &form.parts[number];
    let of_part = |entry: &BothSides| {
        let [of, factor] = form.group(entry.index);
        let count = f64::from(if white { entry.white } else { entry.black });
        (of == number).then_some((entry.index, factor, count))
    };
    let mut factors = [[0.0; 2]; MOST_FACTORS];
    for (index, factor, count) in safety.iter().filter_map(of_part) {
        let [mg, eg] = weights[usize::from(index)];
        factors[factor] = [factors[factor][0] + count * mg, factors[factor][1] + count * eg];
    }
    let (mut rates, mut values) = ([[0.0; 2]; MOST_FACTORS], [0.0; 2]);
    for half in 0..2 {
        let others = |but: usize| -> f64 {
            (0..part.factors).filter(|&factor| factor != but).map(|factor| factors[factor][half]).product()
        };
        let (value, rate) = part.curve(half, others(usize::MAX), weights, &mut |index, share| {
            let mut slope = [0.0; 2];
            slope[half] = sign * share;
            slopes.push((index, slope));
        });
        values[half] = sign * value;
        (0..part.factors).for_each(|factor| rates[factor][half] = sign * rate * others(factor));
    }
    let of_entry =
        |(index, factor, count): (u16, usize, f64)| (index, rates[factor].map(|rate| rate * count));
    slopes.extend(safety.iter().filter_map(of_part).map(of_entry));
    values
}

impl Part {
    fn is_scale(&self) -> bool {
        self.halves[1] == Curve::Scale
    }

    /// The value at a product and its derivative; `by_entry` takes the derivatives by the entries of a table.
    fn curve(
        &self,
        half: usize,
        product: f64,
        weights: &[[f64; 2]],
        by_entry: &mut dyn FnMut(u16, f64),
    ) -> (f64, f64) {
        let ([low, high], divisor) = (self.clamp, self.divisors[half]);
        let x = product.clamp(low, high);
        let inside = f64::from(u8::from(low < product && product < high));
        match &self.halves[half] {
            Curve::None => (0.0, 0.0),
            Curve::Linear | Curve::Scale => (x / divisor, inside / divisor),
            Curve::Square => (x * x.abs() / divisor, inside * 2.0 * x.abs() / divisor),
            Curve::Table(entries) => {
                let last = entries.len() - 1;
                let at = (x / divisor).clamp(0.0, last as f64);
                let from = (at as usize).min(last.saturating_sub(1));
                let (to, share) = ((from + 1).min(last), at - from as f64);
                let [a, b] = [from, to].map(|entry| weights[usize::from(entries[entry])][half]);
                by_entry(entries[from], 1.0 - share);
                by_entry(entries[to], share);
                let within = 0.0 < x / divisor && x / divisor < last as f64;
                (a + share * (b - a), if within { inside * (b - a) / divisor } else { 0.0 })
            }
        }
    }
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
