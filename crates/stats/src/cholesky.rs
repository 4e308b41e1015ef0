//! Cholesky factorisation, hand-written because every sum has a fixed order: results have equal bits for any
//! number of threads and any vector width, which linear-algebra crates do not promise.
//! Rows are factored in blocks, the rows below a block in parallel. Source: Golub and Van Loan, "Matrix
//! Computations" (4th edition, 2013), section 4.2.

use patzer_io::interrupt;
use rayon::prelude::*;

#[derive(Debug, Clone)]
pub struct Cholesky {
    size: usize,
    lower: Vec<f64>,
}

const BLOCK: usize = 64;

impl Cholesky {
    /// Factors a matrix given by its lower triangle; `None` if it is not positive definite, or after an interrupt.
    pub fn new(matrix: Vec<f64>, size: usize) -> Option<Cholesky> {
        let (factor, passed) = Cholesky::factor(matrix, size, 0.0, false)?;
        passed.is_empty().then_some(factor)
    }

    /// Factors a matrix with unit diagonal, skipping rows whose pivot falls below `tolerance`: they depend
    /// linearly on earlier rows. Returns the skipped rows; `None` for NaN.
    pub fn revealing(matrix: Vec<f64>, size: usize, tolerance: f64) -> Option<(Cholesky, Vec<usize>)> {
        Cholesky::factor(matrix, size, tolerance, true)
    }

    fn factor(matrix: Vec<f64>, size: usize, tolerance: f64, pass: bool) -> Option<(Cholesky, Vec<usize>)> {
        let (mut lower, mut passed) = (matrix, Vec::new());
        for start in (0..size).step_by(BLOCK) {
            if interrupt::requested() {
                return None;
            }
            let end = (start + BLOCK).min(size);
            let (above, below) = lower.split_at_mut(end * size);
            for i in start..end {
                let (done, row) = above.split_at_mut(i * size);
                let row = &mut row[..size];
                for j in start..i {
                    row[j] = (row[j] - dot(&row[..j], &done[j * size..j * size + j])) / done[j * size + j];
                }
                let pivot = row[i] - dot(&row[..i], &row[..i]);
                if pivot.is_nan() || (!pass && pivot <= 0.0) {
                    return None;
                }
                if pivot <= tolerance {
                    passed.push(i);
                    // Division by infinity gives 0, so the row no longer takes part.
                    row[i] = f64::INFINITY;
                } else {
                    row[i] = pivot.sqrt();
                }
            }
            let above = &above[..];
            below.par_chunks_mut(size).for_each(|row| {
                for j in start..end {
                    row[j] = (row[j] - dot(&row[..j], &above[j * size..j * size + j])) / above[j * size + j];
                }
            });
        }
        Some((Cholesky { size, lower }, passed))
    }

    /// Coefficients that express skipped row `i` by the rows before it.
    pub fn combination(&self, i: usize) -> Vec<f64> {
        let mut x = self.lower[i * self.size..i * self.size + i].to_vec();
        self.back(&mut x);
        x
    }

    /// Solves A x = b.
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = self.forward(b);
        self.back(&mut x);
        x
    }

    /// Diagonal entry of A⁻¹: the squared length of column `i` of L⁻¹.
    pub fn inverse_diagonal(&self, i: usize) -> f64 {
        let mut column = vec![0.0; self.size - i];
        column[0] = 1.0 / self.lower[i * self.size + i];
        for j in i + 1..self.size {
            let row = &self.lower[j * self.size + i..][..=j - i];
            column[j - i] = -dot(&row[..j - i], &column[..j - i]) / row[j - i];
        }
        dot(&column, &column)
    }

    /// Solves Lᵀ x = y in place, for the leading rows if `x` is shorter.
    fn back(&self, x: &mut [f64]) {
        for i in (0..x.len()).rev() {
            x[i] /= self.lower[i * self.size + i];
            let (before, value) = (&self.lower[i * self.size..i * self.size + i], x[i]);
            x[..i].iter_mut().zip(before).for_each(|(x, l)| *x -= value * l);
        }
    }

    fn forward(&self, b: &[f64]) -> Vec<f64> {
        let mut y = b.to_vec();
        for i in 0..self.size {
            let row = &self.lower[i * self.size..(i + 1) * self.size];
            y[i] = (y[i] - dot(&row[..i], &y[..i])) / row[i];
        }
        y
    }
}

/// Dot product in fixed lanes that compile to vectors of any width; no operation changes, so no bit does.
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 16;
    let mut lanes = [0.0; LANES];
    let (a_chunks, b_chunks) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f64 = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a_chunks.zip(b_chunks) {
        for i in 0..LANES {
            lanes[i] += a[i] * b[i];
        }
    }
    lanes.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::rng::Rng;

    fn random(size: usize) -> Vec<f64> {
        let mut rng = Rng::new(size as u64);
        let factor: Vec<f64> = (0..size * size).map(|_| rng.normal()).collect();
        let mut matrix = vec![0.0; size * size];
        for i in 0..size {
            for j in 0..size {
                let product = |k: usize| factor[i * size + k] * factor[j * size + k];
                matrix[i * size + j] = (0..size).map(product).sum::<f64>() + f64::from(u8::from(i == j));
            }
        }
        matrix
    }

    #[test]
    fn a_solution_solves() {
        for size in [1, 2, 7, 64, 65, 200] {
            let matrix = random(size);
            let b: Vec<f64> = (0..size).map(|i| (i as f64).sin()).collect();
            let x = Cholesky::new(matrix.clone(), size).unwrap().solve(&b);
            for i in 0..size {
                let row: f64 = (0..size).map(|j| matrix[i * size + j] * x[j]).sum();
                assert!((row - b[i]).abs() < 1e-6, "{size} {i}: {row} and {}", b[i]);
            }
        }
    }

    #[test]
    fn the_factor_of_a_small_matrix_is_that_of_the_textbook() {
        // Wikipedia's example: [4 12 −16; 12 37 −43; −16 −43 98] = L Lᵀ, L = [2 0 0; 6 1 0; −8 5 3].
        let matrix = vec![4.0, 12.0, -16.0, 12.0, 37.0, -43.0, -16.0, -43.0, 98.0];
        let lower = Cholesky::new(matrix, 3).unwrap().lower;
        assert_eq!(
            [lower[0], lower[3], lower[4], lower[6], lower[7], lower[8]],
            [2.0, 6.0, 1.0, -8.0, 5.0, 3.0]
        );
    }

    #[test]
    fn the_inverse_has_its_diagonal() {
        let size = 70;
        let factor = Cholesky::new(random(size), size).unwrap();
        for i in 0..size {
            let mut unit = vec![0.0; size];
            unit[i] = 1.0;
            let (found, truth) = (factor.inverse_diagonal(i), factor.solve(&unit)[i]);
            assert!((found - truth).abs() < 1e-9 * truth, "{i}: {found} and {truth}");
        }
    }

    #[test]
    fn what_is_not_positive_definite_is_refused() {
        assert!(Cholesky::new(vec![1.0, 2.0, 2.0, 1.0], 2).is_none());
        assert!(Cholesky::new(vec![0.0], 1).is_none());
        assert!(Cholesky::new(vec![f64::NAN], 1).is_none());
    }
}
