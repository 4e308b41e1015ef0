//! Fast pass over traces of a linear evaluation: sum of weighted squared errors and its gradient.
//! Scores are f32. Sums are f64, because directions in which the loss is constant need a gradient of exactly
//! 0, or second-order methods drift along them. `reference` is the readable twin, which also handles
//! non-linear terms.

use super::chunk::{Cursor, Entries, Segment, TraceChunk};
use super::pair::{Pair, Sum};

/// Room for every 16-bit weight number, so that look-ups need no bounds check.
const ROOM: usize = 1 << 16;

/// Rows per batch: fits the first-level cache, long enough for vectors.
const BATCH: usize = 256;

/// Rows summed side by side, so that their addition chains overlap and one loop end serves all.
const ABREAST: usize = 4;

/// Weights as bits of pairs: zeroed integers are free from the system allocator.
pub struct WeightTable(Box<[u64; ROOM]>);

pub struct Gradient(Box<[[f64; 2]; ROOM]>);

fn room<T: Clone + Default>() -> Box<[T; ROOM]> {
    match vec![T::default(); ROOM].into_boxed_slice().try_into() {
        Ok(room) => room,
        Err(_) => unreachable!("the slice has been made with that length"),
    }
}

impl WeightTable {
    pub fn new(weights: &[[f64; 2]]) -> WeightTable {
        let mut table = room();
        for (slot, &[mg, eg]) in table.iter_mut().zip(weights) {
            *slot = Pair::new(mg as f32, eg as f32).0;
        }
        WeightTable(table)
    }

    #[inline(always)]
    fn at(&self, entry: u16) -> Pair {
        Pair(self.0[usize::from(entry)])
    }
}

impl Gradient {
    pub fn new() -> Gradient {
        Gradient(room())
    }
}

pub fn loss(chunk: &TraceChunk, table: &WeightTable, k: f64) -> f64 {
    pass(chunk, table, k, None)
}

/// Sum of weighted squared errors, and its derivatives by the first `weights` weights.
pub fn gradient(
    chunk: &TraceChunk,
    table: &WeightTable,
    k: f64,
    scratch: &mut Gradient,
    weights: usize,
) -> (f64, Vec<[f64; 2]>) {
    scratch.0[..weights].fill([0.0; 2]);
    let sum = pass(chunk, table, k, Some(scratch));
    (sum, scratch.0[..weights].to_vec())
}

pub fn scores(chunk: &TraceChunk, table: &WeightTable) -> Vec<f32> {
    let mut scores = vec![0.0; chunk.rows.len()];
    let (mut cursor, mut totals, mut batch) = (Cursor::default(), [[0.0; 2]; BATCH], Batch::new());
    while let Some(rows) = sum_batch(chunk, &mut cursor, table, &mut totals) {
        batch.score(chunk, rows.clone(), &totals);
        scores[rows.clone()].copy_from_slice(&batch.scores[..rows.len()]);
    }
    scores
}

/// The portable code, also compiled for wider vectors; no operation changes, so no bit does.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn pass(chunk: &TraceChunk, table: &WeightTable, k: f64, mut gradient: Option<&mut Gradient>) -> f64 {
    let (mut cursor, mut sum) = (Cursor::default(), 0.0);
    let (mut totals, mut slopes) = ([[0.0f32; 2]; BATCH], [[0.0f32; 2]; BATCH]);
    let mut batch = Batch::new();
    loop {
        let mut again = cursor;
        let Some(rows) = sum_batch(chunk, &mut cursor, table, &mut totals) else { return sum };
        batch.score(chunk, rows.clone(), &totals);
        let weights = (!chunk.weights.is_empty()).then(|| &chunk.weights[rows.clone()]);
        sum += batch.errors(weights, rows.len(), k, &mut slopes);
        let Some(gradient) = gradient.as_deref_mut() else { continue };
        while again.row < rows.end {
            let left = rows.end - again.row;
            let Some(segment) = chunk.segment(&mut again, left) else { break };
            let slopes = &slopes[segment.first - rows.start..][..segment.rows];
            for (i, &slopes) in slopes.iter().enumerate() {
                scatter(&mut gradient.0, segment.row(i), slopes.map(f64::from));
            }
        }
    }
}

/// Sums the weights of the next batch of rows; `None` at the end.
#[inline(always)]
fn sum_batch(
    chunk: &TraceChunk,
    cursor: &mut Cursor,
    table: &WeightTable,
    totals: &mut [[f32; 2]; BATCH],
) -> Option<std::ops::Range<usize>> {
    let start = cursor.row;
    while cursor.row < start + BATCH {
        let room = start + BATCH - cursor.row;
        let Some(segment) = chunk.segment(cursor, room) else { break };
        let totals = &mut totals[segment.first - start..][..segment.rows];
        let whole = segment.rows - segment.rows % ABREAST;
        let (fours, rest) = totals.split_at_mut(whole);
        for (i, four) in fours.chunks_exact_mut(ABREAST).enumerate() {
            four.copy_from_slice(&sum_rows::<ABREAST>(&segment, i * ABREAST, table));
        }
        for (i, one) in rest.iter_mut().enumerate() {
            [*one] = sum_rows::<1>(&segment, whole + i, table);
        }
    }
    (start < cursor.row).then_some(start..cursor.row)
}

#[inline(always)]
fn sum_rows<const N: usize>(segment: &Segment<'_>, first: usize, table: &WeightTable) -> [[f32; 2]; N] {
    let rows: [Entries<'_>; N] = std::array::from_fn(|i| segment.row(first + i));
    let mut sums = [Sum::zero(); N];
    let plus: [&[u16]; N] = std::array::from_fn(|i| &rows[i].plus[..rows[0].plus.len()]);
    for entry in 0..rows[0].plus.len() {
        for (sum, plus) in sums.iter_mut().zip(plus) {
            *sum = sum.plus(table.at(plus[entry]));
        }
    }
    let minus: [&[u16]; N] = std::array::from_fn(|i| &rows[i].minus[..rows[0].minus.len()]);
    for entry in 0..rows[0].minus.len() {
        for (sum, minus) in sums.iter_mut().zip(minus) {
            *sum = sum.minus(table.at(minus[entry]));
        }
    }
    for (sum, row) in sums.iter_mut().zip(rows) {
        for (&entry, &coefficient) in row.heavy.iter().zip(row.coefficients) {
            *sum = sum.plus(table.at(entry).times(coefficient));
        }
    }
    sums.map(Sum::get)
}

/// Columns of a batch, processed at full length so that loops vectorise; rows beyond the batch hold stale
/// values or zeros.
struct Batch {
    mg_factors: [f32; BATCH],
    eg_factors: [f32; BATCH],
    scores: [f32; BATCH],
    targets: [f32; BATCH],
}

impl Batch {
    fn new() -> Batch {
        let zero = [0.0; BATCH];
        Batch { mg_factors: zero, eg_factors: zero, scores: zero, targets: zero }
    }

    #[inline(always)]
    fn score(&mut self, chunk: &TraceChunk, rows: std::ops::Range<usize>, totals: &[[f32; 2]; BATCH]) {
        let info = &chunk.rows[rows.clone()];
        for ((mg, eg), row) in self.mg_factors.iter_mut().zip(&mut self.eg_factors).zip(info) {
            (*mg, *eg) = (row.phase, 1.0 - row.phase);
        }
        self.targets.iter_mut().zip(info).for_each(|(target, row)| *target = row.target);
        if !chunk.scales.is_empty() {
            let scales = &chunk.scales[rows.clone()];
            self.eg_factors.iter_mut().zip(scales).for_each(|(factor, scale)| *factor *= scale);
        }
        self.scores.fill(0.0);
        if !chunk.constants.is_empty() {
            self.scores[..rows.len()].copy_from_slice(&chunk.constants[rows]);
        }
        let factors = self.mg_factors.iter().zip(&self.eg_factors);
        for ((score, &[mg, eg]), (mg_factor, eg_factor)) in self.scores.iter_mut().zip(totals).zip(factors) {
            *score = *score + mg_factor * mg + eg_factor * eg;
        }
    }

    /// Turns scores into slopes by the summed halves; returns the loss.
    #[inline(always)]
    fn errors(&self, weights: Option<&[f32]>, length: usize, k: f64, slopes: &mut [[f32; 2]; BATCH]) -> f64 {
        // As in `expected_score`, whose argument is scale · score.
        let scale = (k / 400.0) as f32;
        let (mut squares, mut by_score) = ([0.0f32; BATCH], [0.0f32; BATCH]);
        for ((square, slope), (score, target)) in
            squares.iter_mut().zip(&mut by_score).zip(self.scores.iter().zip(&self.targets))
        {
            let expected = fast_logistic(scale * score);
            let error = expected - target;
            *square = error * error;
            *slope = 2.0 * error * expected * (1.0 - expected) * scale;
        }
        if let Some(weights) = weights {
            for ((square, slope), weight) in squares.iter_mut().zip(&mut by_score).zip(weights) {
                (*square, *slope) = (*square * weight, *slope * weight);
            }
        }
        let factors = self.mg_factors.iter().zip(&self.eg_factors);
        for ((slopes, slope), (mg_factor, eg_factor)) in slopes.iter_mut().zip(by_score).zip(factors) {
            *slopes = [slope * mg_factor, slope * eg_factor];
        }
        squares[length..].fill(0.0);
        let mut lanes = [0.0f64; 8];
        for eight in squares.chunks_exact(8) {
            lanes.iter_mut().zip(eight).for_each(|(lane, &square)| *lane += f64::from(square));
        }
        lanes.iter().sum()
    }
}

#[inline(always)]
fn scatter(gradient: &mut [[f64; 2]; ROOM], entries: Entries<'_>, [mg, eg]: [f64; 2]) {
    for &entry in entries.plus {
        let [a, b] = gradient[usize::from(entry)];
        gradient[usize::from(entry)] = [a + mg, b + eg];
    }
    for &entry in entries.minus {
        let [a, b] = gradient[usize::from(entry)];
        gradient[usize::from(entry)] = [a - mg, b - eg];
    }
    for (&entry, &coefficient) in entries.heavy.iter().zip(entries.coefficients) {
        let c = f64::from(coefficient);
        let [a, b] = gradient[usize::from(entry)];
        gradient[usize::from(entry)] = [a + c * mg, b + c * eg];
    }
}

/// Logistic function of additions and multiplications that vectorise, within 2 · 10⁻⁷ of the exact value:
/// range reduction by Cody and Waite (1980) and the polynomial of Cephes' `expf`.
#[inline(always)]
pub fn fast_logistic(x: f32) -> f32 {
    /// Adding it leaves the nearest whole number in the low bits of the mantissa.
    const MAGIC: f32 = 12_582_912.0;
    let x = (-x).clamp(-87.0, 87.0);
    let shifted = x * std::f32::consts::LOG2_E + MAGIC;
    let power = shifted - MAGIC;
    let rest = (x - power * 0.693_359_4) + power * 2.121_944_4e-4;
    let mut p = 1.987_569_1e-4f32;
    for c in [1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
        p = p * rest + c;
    }
    let fraction = p * rest * rest + rest + 1.0;
    let two = f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23));
    1.0 / (1.0 + fraction * two)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fast_logistic_function_is_the_logistic_function() {
        for i in -2_000_000..=2_000_000 {
            let x = i as f32 * 5e-5;
            let truth = patzer_chess::score::logistic(x.into());
            assert!(
                (f64::from(fast_logistic(x)) - truth).abs() < 2e-7,
                "{x}: {} and {truth}",
                fast_logistic(x)
            );
        }
        assert_eq!((fast_logistic(f32::INFINITY), fast_logistic(0.0)), (1.0, 0.5));
        assert!(fast_logistic(f32::NEG_INFINITY) < 1e-30);
    }
}
