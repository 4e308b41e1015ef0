//! Normal matrix: Σ curvature · J Jᵀ over all rows, where J holds the derivatives of the score by the weights.
//! For linear evaluations a row adds the same four numbers to every pair of its entries, one vector addition
//! per pair. A matrix over thousands of weights exceeds every cache but one row of it does not, so large
//! matrices are filled weight by weight instead of position by position; both give each sum the same order.
//! Chunks are summed in stripes that do not depend on the number of threads. After an interrupt a matrix lacks chunks,
//! so whoever asked for it leaves it.

use rayon::prelude::*;

use super::chunk::{Cursor, Entries, TraceChunk};
use super::kernel::{WeightTable, scores};
use super::reference::{RowLoss, row_loss};
use patzer_chess::huge_pages::prefaulted;
use patzer_io::interrupt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Curvature {
    /// Without the error term: never negative, and the expectation of the exact one.
    GaussNewton,
    Newton,
}

impl Curvature {
    pub(super) fn second_derivative(self, row: &RowLoss) -> f64 {
        match self {
            Curvature::GaussNewton => row.curvature,
            Curvature::Newton => row.exact_curvature,
        }
    }
}

/// Symmetric matrix over halves of weights: index `2 · weight + half`, half 0 the midgame.
#[derive(Debug, Clone, PartialEq)]
pub struct NormalMatrix {
    pub size: usize,
    /// Row-major, both triangles.
    pub values: Vec<f64>,
}

impl NormalMatrix {
    /// Fills both triangles with the cells of each two weights: midgame², midgame · endgame of the second,
    /// endgame · midgame, endgame².
    pub(super) fn from_cells(count: usize, cell: impl Fn(usize, usize) -> [f64; 4] + Sync) -> NormalMatrix {
        let size = 2 * count;
        let mut values = vec![0.0; size * size];
        values.par_chunks_mut(2 * size).enumerate().for_each(|(i, rows)| {
            let (mg_row, eg_row) = rows.split_at_mut(size);
            for j in 0..count {
                let cell = cell(i, j);
                mg_row[2 * j..][..2].copy_from_slice(&cell[..2]);
                eg_row[2 * j..][..2].copy_from_slice(&cell[2..]);
            }
        });
        NormalMatrix { size, values }
    }
}

/// Memory for all partial sums, in bytes.
const BUDGET: usize = 1 << 29;

/// Matrix size in bytes that a cache holds.
const CACHED: usize = 1 << 23;

const STRIPES: usize = 32;

/// For linear evaluations. A cell holds midgame², midgame · endgame, endgame² and padding to a full vector.
pub fn linear(chunks: &[&TraceChunk], weights: &[[f64; 2]], k: f64, curvature: Curvature) -> NormalMatrix {
    let (count, table) = (weights.len(), WeightTable::new(weights));
    let cells = count * count;
    let stripes = stripes(chunks.len(), cells * size_of::<[f64; 4]>());
    let sums: Vec<Vec<[f64; 4]>> = chunks
        .par_chunks(stripes)
        .map(|stripe| {
            let mut sum = prefaulted(cells, [0.0; 4]);
            let mut occurrences = Occurrences::new(count);
            for chunk in stripe.iter().take_while(|_| !interrupt::requested()) {
                let scores = scores(chunk, &table);
                let of_row = |(row, &score): (usize, &f32)| {
                    curvature.second_derivative(&row_loss(chunk, row, score.into(), k))
                };
                let curved: Vec<f64> = scores.iter().enumerate().map(of_row).collect();
                occurrences.take(chunk, &curved, cells * size_of::<[f64; 4]>() > CACHED);
                accumulate(&occurrences, count, &mut sum);
            }
            sum
        })
        .collect();
    spread(count, &sums)
}

/// Chunks per stripe, such that all stripes fit the budget.
pub(super) fn stripes(chunks: usize, bytes: usize) -> usize {
    chunks.div_ceil((BUDGET / bytes.max(1)).clamp(1, STRIPES)).max(1)
}

struct Occurrences<'a> {
    rows: Vec<(Entries<'a>, [f64; 4])>,
    /// Sorted by weight, if requested: row and index in its lists, ascending by row.
    places: Vec<(u16, u16)>,
    ends: Vec<u32>,
}

impl<'a> Occurrences<'a> {
    fn new(count: usize) -> Occurrences<'a> {
        Occurrences { rows: Vec::new(), places: Vec::new(), ends: vec![0; count] }
    }

    fn take(&mut self, chunk: &'a TraceChunk, curved: &[f64], sorted: bool) {
        self.rows.clear();
        self.places.clear();
        let mut cursor = Cursor::default();
        while let Some(segment) = chunk.segment(&mut cursor, usize::MAX) {
            for i in 0..segment.rows {
                let row = segment.first + i;
                let ([mg, eg], h) = (chunk.factors(row).map(f64::from), curved[row]);
                if h != 0.0 {
                    let entries = segment.row(i);
                    self.rows.push((entries, [h * mg * mg, h * mg * eg, h * eg * eg, 0.0]));
                }
            }
        }
        if sorted {
            self.sort();
        }
    }

    fn sort(&mut self) {
        self.ends.fill(0);
        for (entries, _) in &self.rows {
            entries.lists().for_each(|entry| self.ends[usize::from(entry)] += 1);
        }
        let mut sum = 0;
        for end in &mut self.ends {
            sum += std::mem::replace(end, sum);
        }
        self.places.resize(sum as usize, (0, 0));
        for (row, (entries, _)) in self.rows.iter().enumerate() {
            for (place, entry) in entries.lists().enumerate() {
                let end = &mut self.ends[usize::from(entry)];
                self.places[*end as usize] = (row as u16, place as u16);
                *end += 1;
            }
        }
    }
}

impl Entries<'_> {
    fn lists(&self) -> impl Iterator<Item = u16> {
        self.plus.iter().chain(self.minus).chain(self.heavy).copied()
    }
}

/// The portable code, also compiled for wider vectors; no operation changes, so no bit does.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn accumulate(occurrences: &Occurrences<'_>, count: usize, sum: &mut [[f64; 4]]) {
    if occurrences.places.is_empty() {
        for (entries, v) in &occurrences.rows {
            for (place, weight) in entries.lists().enumerate() {
                let weight = usize::from(weight);
                add_pairs(&mut sum[weight * count..][..count], weight, *entries, place, v);
            }
        }
        return;
    }
    let mut start = 0;
    for ((weight, &end), cells) in occurrences.ends.iter().enumerate().zip(sum.chunks_exact_mut(count)) {
        for &(row, place) in &occurrences.places[start..end as usize] {
            let (entries, v) = &occurrences.rows[usize::from(row)];
            add_pairs(cells, weight, *entries, usize::from(place), v);
        }
        start = end as usize;
    }
}

/// Adds the pairs of one entry with those after it. [`spread`] makes the matrix symmetric and so doubles the
/// diagonal, hence an entry with itself counts half.
#[inline(always)]
fn add_pairs(cells: &mut [[f64; 4]], weight: usize, entries: Entries<'_>, place: usize, v: &[f64; 4]) {
    let Entries { plus, minus, heavy, coefficients } = entries;
    let (behind_plus, behind_minus) = (place.wrapping_sub(plus.len()), plus.len() + minus.len());
    let (factor, plus, minus, first) = if place < plus.len() {
        (1.0, &plus[place + 1..], minus, 0)
    } else if place < behind_minus {
        (-1.0, &[][..], &minus[behind_plus + 1..], 0)
    } else {
        let at = place - behind_minus;
        (f64::from(coefficients[at]), &[][..], &[][..], at + 1)
    };
    let (v, minus_v) = (times(v, factor), times(v, -factor));
    add(cells, weight as u16, &times(&v, 0.5 * factor));
    plus.iter().for_each(|&other| add(cells, other, &v));
    minus.iter().for_each(|&other| add(cells, other, &minus_v));
    for (&other, &coefficient) in heavy[first..].iter().zip(&coefficients[first..]) {
        add(cells, other, &times(&v, f64::from(coefficient)));
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

/// Sums the stripes in order into both triangles.
fn spread(count: usize, sums: &[Vec<[f64; 4]>]) -> NormalMatrix {
    NormalMatrix::from_cells(count, |i, j| {
        let mut cell = [0.0; 4];
        for sum in sums {
            let (a, b) = (&sum[i * count + j], &sum[j * count + i]);
            cell.iter_mut().zip(a.iter().zip(b)).for_each(|(cell, (a, b))| *cell += a + b);
        }
        let [mg_mg, mg_eg, eg_eg, _] = cell;
        [mg_mg, mg_eg, mg_eg, eg_eg]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::chunk::{ChunkBuilder, FeatureCounts, TraceInfo};
    use patzer_chess::rng::Rng;

    #[test]
    fn by_weight_every_sum_has_the_bits_that_it_has_by_position() {
        let (mut rng, mut builder) = (Rng::new(2), ChunkBuilder::default());
        const WEIGHTS: usize = 40;
        for _ in 0..500 {
            let all = (0..WEIGHTS as u16).map(|index| (index, rng.below(13) as f32 / 2.0 - 3.0));
            let linear = all.filter(|(_, count)| *count != 0.0 && *count != 2.5).collect();
            let info = TraceInfo { phase: rng.unit() as f32, ..TraceInfo::default() };
            builder.push(info, &FeatureCounts { linear, ..FeatureCounts::default() });
        }
        let chunk = builder.finish();
        let curved: Vec<f64> = (0..500).map(|_| (rng.unit() - 0.3).max(0.0)).collect();
        let [by_position, by_weight] = [false, true].map(|sorted| {
            let mut sum = vec![[0.0; 4]; WEIGHTS * WEIGHTS];
            let mut occurrences = Occurrences::new(WEIGHTS);
            occurrences.take(&chunk, &curved, sorted);
            accumulate(&occurrences, WEIGHTS, &mut sum);
            sum
        });
        assert!(by_position.iter().flatten().filter(|value| **value != 0.0).count() > WEIGHTS * WEIGHTS);
        assert_eq!(by_position, by_weight);
    }
}
