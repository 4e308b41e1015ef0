//! Cholesky factorisation of small matrices. Unlike that of the statistics it ends also after an interrupt, when the
//! results so far are reported.

/// Factors a positive definite matrix, given row by row by its lower triangle, in place.
pub fn cholesky(matrix: &mut [f64], size: usize) {
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
