//! The loss of weights over traces, and its gradient.
//!
//! In: blocks of traces, weights in centipawns, K. Out: the mean of (target − σ(K·s/400))² and its exact
//! derivatives by every weight. Each block is summed on its own and the sums are added in the order of the
//! blocks, so any number of threads gives the same bytes.

use rayon::prelude::*;

use super::traces::{Block, Row};

/// Mean squared error over all blocks; 0 for none.
pub fn loss(blocks: &[Block], weights: &[[f32; 2]], k: f64) -> f64 {
    let scale = (k / 400.0) as f32;
    let sums: Vec<f64> = blocks
        .par_iter()
        .map(|block| {
            let squares = each(block, weights).map(|(row, score, _, _)| {
                let error = sigmoid(scale * score) - row.target;
                f64::from(error * error)
            });
            squares.sum()
        })
        .collect();
    let positions: usize = blocks.iter().map(|block| block.rows.len()).sum();
    sums.iter().sum::<f64>() / positions.max(1) as f64
}

/// Sum of squared errors and its gradient over one block, written over `gradient`.
pub fn gradient(block: &Block, weights: &[[f32; 2]], k: f64, gradient: &mut [[f32; 2]]) -> f64 {
    let scale = (k / 400.0) as f32;
    let mut sum = 0.0;
    gradient.fill([0.0; 2]);
    for (row, score, plus, minus) in each(block, weights) {
        let expected = sigmoid(scale * score);
        let error = expected - row.target;
        sum += f64::from(error * error);
        let slope = 2.0 * error * expected * (1.0 - expected) * scale;
        let [mg, eg] = [slope * row.phase, slope * (1.0 - row.phase)];
        for &entry in plus {
            let [a, b] = &mut gradient[usize::from(entry)];
            (*a, *b) = (*a + mg, *b + eg);
        }
        for &entry in minus {
            let [a, b] = &mut gradient[usize::from(entry)];
            (*a, *b) = (*a - mg, *b - eg);
        }
    }
    sum
}

/// Scores in centipawns from White's side, in the order of the rows.
pub fn scores<'a>(block: &'a Block, weights: &'a [[f32; 2]]) -> impl Iterator<Item = (f32, f32)> + 'a {
    each(block, weights).map(|(row, score, _, _)| (score, row.target))
}

/// Every row with its score in centipawns and its entries for White and for Black.
fn each<'a>(
    block: &'a Block,
    weights: &'a [[f32; 2]],
) -> impl Iterator<Item = (&'a Row, f32, &'a [u16], &'a [u16])> {
    let mut rest = &block.entries[..];
    block.rows.iter().map(move |row| {
        let (plus, after) = rest.split_at(usize::from(row.plus));
        let (minus, after) = after.split_at(usize::from(row.minus));
        rest = after;
        let [mg, eg] = total(plus, weights);
        let [mg_minus, eg_minus] = total(minus, weights);
        let score = row.constant + row.phase * (mg - mg_minus) + (1.0 - row.phase) * (eg - eg_minus);
        (row, score, plus, minus)
    })
}

#[inline(always)]
fn total(entries: &[u16], weights: &[[f32; 2]]) -> [f32; 2] {
    entries.iter().fold([0.0; 2], |[mg, eg], &entry| {
        let [a, b] = weights[usize::from(entry)];
        [mg + a, eg + b]
    })
}

#[inline]
fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block() -> Block {
        let row = |plus, minus, phase, constant, target| Row { plus, minus, phase, constant, target };
        Block {
            rows: vec![row(2, 1, 0.75, 10.0, 1.0), row(0, 2, 0.0, -300.0, 0.5), row(3, 0, 1.0, 0.0, 0.0)],
            entries: vec![0, 1, 2, 2, 2, 1, 1, 3],
        }
    }

    const WEIGHTS: [[f32; 2]; 4] = [[100.0, 120.0], [-30.0, 45.0], [310.0, -280.0], [5.0, 8.0]];

    #[test]
    fn the_loss_is_that_of_the_formula() {
        // Scores by hand: 10 + 0.75·(70 − 310) + 0.25·(165 + 280); −300 + 560; −60 + 5.
        let sigma = |s: f64| 1.0 / (1.0 + (-1.5 * s / 400.0f64).exp());
        let squares = [(1.0 - sigma(-58.75)).powi(2), (0.5 - sigma(260.0)).powi(2), sigma(-55.0).powi(2)];
        let expected = squares.iter().sum::<f64>() / 3.0;
        assert!((loss(&[block()], &WEIGHTS, 1.5) - expected).abs() < 1e-7);
    }

    #[test]
    fn the_gradient_is_that_of_finite_differences() {
        let mut exact = [[0.0; 2]; 4];
        let sum = gradient(&block(), &WEIGHTS, 1.5, &mut exact);
        assert!((sum / 3.0 - loss(&[block()], &WEIGHTS, 1.5)).abs() < 1e-7);
        for i in 0..4 {
            for half in 0..2 {
                let at = |delta: f32| {
                    let mut moved = WEIGHTS;
                    moved[i][half] += delta;
                    3.0 * loss(&[block()], &moved, 1.5)
                };
                let slope = (at(4.0) - at(-4.0)) / 8.0;
                let error = (slope - f64::from(exact[i][half])).abs();
                assert!(error < 2e-3 * slope.abs() + 2e-7, "{i} {half}: {slope} and {}", exact[i][half]);
            }
        }
    }
}
