//! Standard errors of the model of moves, from the information at its optimum.

use rayon::prelude::*;

use super::choices::Competition;
use super::strengths::{Strengths, sum};
use patzer_stats::Cholesky;

/// Standard errors of ln strength from the inverse information, the prior's virtual games included.
pub(super) fn errors(competitions: &[Competition], gammas: &Strengths) -> Vec<Vec<f64>> {
    let mut size = 0;
    let mut parameter: Vec<Vec<Option<usize>>> = Vec::new();
    for term in &gammas.terms {
        let of_level = (0..term.level_count()).map(|level| {
            term.is_free(level).then(|| {
                size += 1;
                size - 1
            })
        });
        parameter.push(of_level.collect());
    }
    let add =
        |choice: usize, matrix: &mut [f64]| inform(&competitions[choice], gammas, &parameter, size, matrix);
    let mut matrix = sum(competitions.len(), size * size, add);
    for (levels, parameters) in gammas.levels.iter().zip(&parameter) {
        for (gamma, parameter) in levels.iter().zip(parameters) {
            if let Some(at) = parameter {
                matrix[at * size + at] += 2.0 * gamma / (gamma + 1.0).powi(2);
            }
        }
    }
    let factor = Cholesky::new(matrix, size);
    let error = |at: &Option<usize>| match (at, &factor) {
        (None, _) => 0.0,
        (Some(at), Some(factor)) => {
            let mut unit = vec![0.0; size];
            unit[*at] = 1.0;
            factor.solve(&unit)[*at].max(0.0).sqrt()
        }
        (Some(_), None) => f64::NAN,
    };
    parameter.par_iter().map(|parameters| parameters.iter().map(error).collect()).collect()
}

fn inform(
    competition: &Competition,
    gammas: &Strengths,
    parameter: &[Vec<Option<usize>>],
    size: usize,
    matrix: &mut [f64],
) {
    let strengths: Vec<f64> = competition.moves.iter().map(|features| gammas.strength(features)).collect();
    let total: f64 = strengths.iter().sum();
    // Mean of each level by its row in the matrix, and the rows that occur.
    let (mut means, mut occur, mut own) = (vec![0.0; size], Vec::new(), Vec::new());
    for (features, strength) in competition.moves.iter().zip(strengths) {
        let p = strength / total;
        own.clear();
        for (term, parameter) in gammas.terms.iter().zip(parameter) {
            if let Some(at) = parameter[term.level(features)] {
                own.push(at);
                if means[at] == 0.0 {
                    occur.push(at);
                }
                means[at] += p;
            }
        }
        // Rows grow with the terms, so the first of two is the smaller.
        for (i, &row) in own.iter().enumerate() {
            for &column in &own[..=i] {
                matrix[row * size + column] += p;
            }
        }
    }
    for &row in &occur {
        for &column in occur.iter().filter(|column| **column <= row) {
            matrix[row * size + column] -= means[row] * means[column];
        }
    }
}
