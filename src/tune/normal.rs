//! The normal matrix: how the loss curves in all weights at once.
//!
//! In: chunks of traces and, for each row, how much its score curves the loss. Out: Σ curvature · J Jᵀ over all
//! rows, J the derivatives of the score by the weights. For linear evaluations a row adds the same four numbers to
//! every pair of its entries, so one vector addition a pair does it.
//!
//! The chunks are divided into stripes that do not depend on the number of threads; a stripe is summed in order.

use rayon::prelude::*;

use super::chunk::{Chunk, Cursor, Entries};
use super::kernel::{Table, scores};
use super::plain::{self, RowLoss, Shape, row_loss};

/// Which second derivative a matrix is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Curvature {
    /// Without the part that the errors give: never negative, and what the expected error leaves.
    GaussNewton,
    /// The whole.
    Newton,
}

impl Curvature {
    fn of(self, row: &RowLoss) -> f64 {
        match self {
            Curvature::GaussNewton => row.curvature,
            Curvature::Newton => row.exact_curvature,
        }
    }
}

/// A square matrix over halves of weights: row and column `2 · weight + half`, half 0 the midgame.
#[derive(Debug, Clone, PartialEq)]
pub struct Normal {
    /// Twice the number of weights.
    pub size: usize,
    /// Rows one after another; both triangles.
    pub values: Vec<f64>,
}

/// Bytes that the partial sums may take together.
const BUDGET: usize = 1 << 29;

/// Most stripes; enough for the processors of today.
const STRIPES: usize = 32;

/// For linear evaluations. Each cell of the partial sums holds midgame × midgame, midgame × endgame, endgame ×
/// endgame, and one number of padding that makes it a vector.
pub fn linear(chunks: &[Chunk], weights: &[[f64; 2]], k: f64, curvature: Curvature) -> Normal {
    let (count, table) = (weights.len(), Table::new(weights));
    let cells = count * count;
    let stripes = stripes(chunks.len(), cells * size_of::<[f64; 4]>());
    let sums: Vec<Vec<[f64; 4]>> = chunks
        .par_chunks(stripes)
        .map(|stripe| {
            // Written, not got as pages of zeros: what is read first is mapped twice, and interrupts every core.
            let mut sum = Vec::with_capacity(cells);
            sum.resize(cells, [0.0; 4]);
            for chunk in stripe {
                let scores = scores(chunk, &table);
                let of_row =
                    |(row, &score): (usize, &f32)| curvature.of(&row_loss(chunk, row, score.into(), k));
                let curved: Vec<f64> = scores.iter().enumerate().map(of_row).collect();
                dispatch(chunk, count, &curved, &mut sum);
            }
            sum
        })
        .collect();
    spread(count, &sums)
}

/// Chunks in a stripe, so that the sums of all stripes fit the budget.
fn stripes(chunks: usize, bytes: usize) -> usize {
    chunks.div_ceil((BUDGET / bytes.max(1)).clamp(1, STRIPES)).max(1)
}

fn dispatch(chunk: &Chunk, count: usize, curved: &[f64], sum: &mut [[f64; 4]]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { accumulate_avx2(chunk, count, curved, sum) };
    }
    accumulate(chunk, count, curved, sum);
}

/// The same code for wider vectors; no operation changes, so neither does any bit of the result.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn accumulate_avx2(chunk: &Chunk, count: usize, curved: &[f64], sum: &mut [[f64; 4]]) {
    accumulate(chunk, count, curved, sum);
}

#[inline(always)]
fn accumulate(chunk: &Chunk, count: usize, curved: &[f64], sum: &mut [[f64; 4]]) {
    let mut cursor = Cursor::default();
    while let Some(segment) = chunk.segment(&mut cursor, usize::MAX) {
        for i in 0..segment.rows {
            let row = segment.first + i;
            let [mg, eg] = chunk.factors(row).map(f64::from);
            let h = curved[row];
            if h != 0.0 {
                add_row(segment.row(i), [h * mg * mg, h * mg * eg, h * eg * eg, 0.0], count, sum);
            }
        }
    }
}

/// Adds every pair of entries once, in the order of the lists; [`spread`] makes the matrix symmetric. An entry
/// with itself counts half, because that doubles it.
#[inline(always)]
fn add_row(entries: Entries<'_>, v: [f64; 4], count: usize, sum: &mut [[f64; 4]]) {
    let (minus_v, half) = (times(&v, -1.0), times(&v, 0.5));
    let Entries { plus, minus, heavy, coefficients } = entries;
    for (i, &a) in plus.iter().enumerate() {
        let cells = &mut sum[usize::from(a) * count..][..count];
        add(cells, a, &half);
        for &b in &plus[i + 1..] {
            add(cells, b, &v);
        }
        for &b in minus {
            add(cells, b, &minus_v);
        }
        add_heavy(cells, heavy, coefficients, &v);
    }
    for (i, &a) in minus.iter().enumerate() {
        let cells = &mut sum[usize::from(a) * count..][..count];
        add(cells, a, &half);
        for &b in &minus[i + 1..] {
            add(cells, b, &v);
        }
        add_heavy(cells, heavy, coefficients, &minus_v);
    }
    for (i, (&a, &coefficient)) in heavy.iter().zip(coefficients).enumerate() {
        let cells = &mut sum[usize::from(a) * count..][..count];
        let c = f64::from(coefficient);
        add(cells, a, &times(&half, c * c));
        add_heavy(cells, &heavy[i + 1..], &coefficients[i + 1..], &times(&v, c));
    }
}

#[inline(always)]
fn times(v: &[f64; 4], factor: f64) -> [f64; 4] {
    [v[0] * factor, v[1] * factor, v[2] * factor, v[3] * factor]
}

#[inline(always)]
fn add(cells: &mut [[f64; 4]], index: u16, v: &[f64; 4]) {
    let cell = &mut cells[usize::from(index)];
    for lane in 0..4 {
        cell[lane] += v[lane];
    }
}

#[inline(always)]
fn add_heavy(cells: &mut [[f64; 4]], heavy: &[u16], coefficients: &[f32], v: &[f64; 4]) {
    for (&b, &coefficient) in heavy.iter().zip(coefficients) {
        add(cells, b, &times(v, f64::from(coefficient)));
    }
}

/// Adds up the stripes in their order, both triangles, into halves of weights.
fn spread(count: usize, sums: &[Vec<[f64; 4]>]) -> Normal {
    let size = 2 * count;
    let mut values = vec![0.0; size * size];
    values.par_chunks_mut(2 * size).enumerate().for_each(|(i, rows)| {
        let (mg_row, eg_row) = rows.split_at_mut(size);
        for j in 0..count {
            let mut cell = [0.0; 4];
            for sum in sums {
                let (a, b) = (&sum[i * count + j], &sum[j * count + i]);
                cell.iter_mut().zip(a.iter().zip(b)).for_each(|(cell, (a, b))| *cell += a + b);
            }
            (mg_row[2 * j], mg_row[2 * j + 1]) = (cell[0], cell[1]);
            (eg_row[2 * j], eg_row[2 * j + 1]) = (cell[1], cell[2]);
        }
    });
    Normal { size, values }
}

/// For evaluations with non-linear parts, and the plain twin of [`linear`]. The part of the second derivative that
/// comes from the bend of the evaluation itself is left out, as Gauss and Newton do.
pub fn plain(chunks: &[Chunk], weights: &[[f64; 2]], k: f64, curvature: Curvature, shape: &Shape) -> Normal {
    let size = 2 * weights.len();
    let stripes = stripes(chunks.len(), size * size * size_of::<f64>());
    let sums: Vec<Vec<f64>> = chunks
        .par_chunks(stripes)
        .map(|stripe| {
            let mut sum = vec![0.0; size * size];
            for chunk in stripe {
                plain::each(chunk, weights, shape, |row, score, slopes| {
                    let h = curvature.of(&row_loss(chunk, row, score, k));
                    for &(a, [a_mg, a_eg]) in slopes {
                        for (half, by_a) in [(0, h * a_mg), (1, h * a_eg)] {
                            let cells = &mut sum[(2 * usize::from(a) + half) * size..][..size];
                            for &(b, [b_mg, b_eg]) in slopes {
                                cells[2 * usize::from(b)] += by_a * b_mg;
                                cells[2 * usize::from(b) + 1] += by_a * b_eg;
                            }
                        }
                    }
                });
            }
            sum
        })
        .collect();
    let mut values = vec![0.0; size * size];
    for sum in &sums {
        values.iter_mut().zip(sum).for_each(|(value, part)| *value += part);
    }
    Normal { size, values }
}
