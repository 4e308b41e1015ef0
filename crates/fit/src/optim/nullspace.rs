//! Nullspace of a matrix of second derivatives: parameter combinations that the data cannot identify.
//! A Cholesky factorisation scaled to a unit diagonal skips rows whose pivot vanishes; each skipped row gives
//! one combination (Golub and Van Loan, 2013, section 4.2.8).

use patzer_stats::Cholesky;

const TOLERANCE: f64 = 1e-8;

/// Components below this share of the largest are dropped.
const NEGLIGIBLE: f64 = 1e-4;

/// Parameters and their coefficients, the largest scaled to 1.
pub type NullVector = Vec<(usize, f64)>;

/// Nullspace of a positive semidefinite matrix, and apart from it the parameters whose diagonal is 0.
pub fn nullspace(matrix: &[f64], size: usize) -> (Vec<NullVector>, Vec<usize>) {
    let scale = |i: usize| matrix[i * size + i].max(0.0).sqrt();
    let (known, unknown): (Vec<usize>, Vec<usize>) = (0..size).partition(|&i| scale(i) > 0.0);
    let scales: Vec<f64> = known.iter().map(|&i| scale(i)).collect();
    let mut even = vec![0.0; known.len() * known.len()];
    for ((row, &i), &a) in even.chunks_exact_mut(known.len().max(1)).zip(&known).zip(&scales) {
        for ((cell, &j), &b) in row.iter_mut().zip(&known).zip(&scales) {
            *cell = matrix[i * size + j] / (a * b);
        }
    }
    let Some((factor, passed)) = Cholesky::revealing(even, known.len(), TOLERANCE) else {
        return (Vec::new(), unknown);
    };
    let direction = |&i: &usize| {
        let before = factor.combination(i).into_iter().map(|x| -x);
        let all = before.chain([1.0]).enumerate().map(|(j, x)| (known[j], x / scales[j]));
        tidy(all.filter(|(_, part)| *part != 0.0).collect())
    };
    (passed.iter().map(direction).collect(), unknown)
}

fn tidy(mut parts: NullVector) -> NullVector {
    let largest = parts.iter().map(|(_, part)| part.abs()).fold(0.0, f64::max);
    parts.retain(|(_, part)| part.abs() > NEGLIGIBLE * largest);
    parts.iter_mut().for_each(|(_, part)| *part /= largest);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(rows: &[Vec<f64>]) -> Vec<f64> {
        let size = rows[0].len();
        let cell = |i: usize, j: usize| rows.iter().map(|row| row[i] * row[j]).sum::<f64>();
        (0..size * size).map(|at| cell(at / size, at % size)).collect()
    }

    #[test]
    fn what_always_sums_to_nothing_is_found_with_its_shares() {
        // Weights 0 to 2 count +1 once and −1 once in each row: their sum is unknown. Weight 3 is free, weight 4 is
        // never seen, weight 5 is always twice weight 3.
        let rows: Vec<Vec<f64>> = (0..30)
            .map(|i| {
                let mut row = vec![0.0; 6];
                row[i % 3] += 1.0;
                row[(i / 3) % 3] -= 1.0;
                row[3] = f64::from(i as u8).sin();
                row[5] = 2.0 * row[3];
                row
            })
            .collect();
        let (found, unknown) = nullspace(&normal(&rows), 6);
        assert_eq!((found.len(), unknown), (2, vec![4]));
        assert_eq!(found[0].iter().map(|part| part.0).collect::<Vec<_>>(), [0, 1, 2]);
        assert!(found[0].iter().all(|(_, part)| (part - 1.0).abs() < 1e-6), "{found:?}");
        assert_eq!(found[1].iter().map(|part| part.0).collect::<Vec<_>>(), [3, 5]);
        assert!((found[1][0].1 + 2.0 * found[1][1].1).abs() < 1e-6, "{found:?}");
    }
}
