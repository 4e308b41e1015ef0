//! Normal matrix of evaluations with non-linear parts. A row's derivatives are merged by weight and sorted; then every
//! pair of weights adds its four products, one vector addition. As in [`super::normal`] the matrix is filled weight by
//! weight over a block of rows, because one row of it fits a cache and the whole does not.

use rayon::prelude::*;

use super::chunk::TraceChunk;
use super::normal::{Curvature, NormalMatrix, stripes};
use super::reference::{self, NonlinearForm, Slope, row_loss};
use patzer_chess::huge_pages::prefaulted;
use patzer_io::interrupt;

/// Rows of a block: many enough that a weight comes often, few enough for the second-level cache.
const BLOCK: usize = 1_024;

/// Midgame², midgame · endgame of the later weight, endgame · midgame, endgame².
type Cell = [f64; 4];

/// Omits the second derivatives of the evaluation itself, as Gauss-Newton does.
pub fn with_parts(
    chunks: &[&TraceChunk],
    weights: &[[f64; 2]],
    k: f64,
    curvature: Curvature,
    form: &NonlinearForm,
) -> NormalMatrix {
    let count = weights.len();
    let stripes = stripes(chunks.len(), count * count * size_of::<Cell>());
    let sums: Vec<Vec<Cell>> = chunks
        .par_chunks(stripes)
        .map(|stripe| {
            let (mut sum, mut block) = (prefaulted(count * count, [0.0; 4]), Block::new(count));
            for chunk in stripe.iter().take_while(|_| !interrupt::requested()) {
                reference::each(chunk, weights, form, |row, score, slopes| {
                    block.push(curvature.second_derivative(&row_loss(chunk, row, score, k)), slopes);
                    if block.ends.len() == BLOCK {
                        block.add_to(&mut sum);
                    }
                });
                block.add_to(&mut sum);
            }
            sum
        })
        .collect();
    spread(count, &sums)
}

/// Derivatives of some rows.
struct Block {
    count: usize,
    /// Slopes of row after row, ascending by weight.
    slopes: Vec<Slope>,
    /// End of each row in `slopes`, and its curvature.
    ends: Vec<(usize, f64)>,
    /// Ends by weight in `places`.
    by_weight: Vec<usize>,
    /// Row and place in `slopes` of each entry, by weight.
    places: Vec<(usize, usize)>,
}

impl Block {
    fn new(count: usize) -> Block {
        let (slopes, ends, places) = (Vec::new(), Vec::new(), Vec::new());
        Block { count, slopes, ends, by_weight: vec![0; count], places }
    }

    fn push(&mut self, curvature: f64, slopes: &[Slope]) {
        let from = self.slopes.len();
        self.slopes.extend_from_slice(slopes);
        self.slopes[from..].sort_by_key(|(weight, _)| *weight);
        let mut to = from;
        for at in from..self.slopes.len() {
            let (weight, [mg, eg]) = self.slopes[at];
            if to > from && self.slopes[to - 1].0 == weight {
                let [sum_mg, sum_eg] = &mut self.slopes[to - 1].1;
                (*sum_mg, *sum_eg) = (*sum_mg + mg, *sum_eg + eg);
            } else {
                self.slopes[to] = (weight, [mg, eg]);
                to += 1;
            }
        }
        self.slopes.truncate(to);
        self.ends.push((to, curvature));
    }

    /// Adds its products to the cells of pairs of weights, the later one in the columns, and empties the block.
    fn add_to(&mut self, sum: &mut [Cell]) {
        self.by_weight.fill(0);
        self.slopes.iter().for_each(|(weight, _)| self.by_weight[usize::from(*weight)] += 1);
        let mut total = 0;
        for end in &mut self.by_weight {
            total += std::mem::replace(end, total);
        }
        self.places.resize(total, (0, 0));
        let mut from = 0;
        for (row, &(end, _)) in self.ends.iter().enumerate() {
            for at in from..end {
                let place = &mut self.by_weight[usize::from(self.slopes[at].0)];
                self.places[*place] = (row, at);
                *place += 1;
            }
            from = end;
        }
        accumulate(self, sum);
        self.slopes.clear();
        self.ends.clear();
    }
}

/// The portable code, also compiled for wider vectors; no operation changes, so no bit does.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn accumulate(block: &Block, sum: &mut [Cell]) {
    let mut from = 0;
    for (&to, cells) in block.by_weight.iter().zip(sum.chunks_exact_mut(block.count)) {
        for &(row, at) in &block.places[from..to] {
            let (end, curvature) = block.ends[row];
            let [mg, eg] = block.slopes[at].1.map(|slope| curvature * slope);
            let by = [mg, mg, eg, eg];
            for &(other, [mg, eg]) in &block.slopes[at..end] {
                let (cell, of) = (&mut cells[usize::from(other)], [mg, eg, mg, eg]);
                (0..4).for_each(|lane| cell[lane] += by[lane] * of[lane]);
            }
        }
        from = to;
    }
}

/// Sums the stripes in order into both triangles.
fn spread(count: usize, sums: &[Vec<Cell>]) -> NormalMatrix {
    NormalMatrix::from_cells(count, |i, j| {
        let mut cell = [0.0; 4];
        for sum in sums {
            let part = sum[i.min(j) * count + i.max(j)];
            cell.iter_mut().zip(part).for_each(|(cell, part)| *cell += part);
        }
        if j < i {
            cell.swap(1, 2);
        }
        cell
    })
}
