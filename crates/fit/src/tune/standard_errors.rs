//! Standard errors of tuned values, and what the data cannot identify.
//! The errors are the sandwich estimate H⁻¹ V H⁻¹ (White, "Maximum likelihood estimation of misspecified
//! models", 1982), with V from slopes summed over clusters of games (Liang and Zeger, 1986), since positions
//! of one game share its result. H is the Gauss-Newton matrix. Unidentified combinations stay at their start,
//! and the errors leave them out.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::model::Model;
use super::normal::Curvature;
use super::objective::Objective;
use crate::optim::nullspace;
use patzer_io::interrupt;
use patzer_stats::Cholesky;

/// Damping of the nullspace, as a share of the diagonal.
const DAMPING: f64 = 1e-9;

#[derive(Debug, Clone, PartialEq)]
pub struct StandardErrors {
    /// Errors by slot, in centipawns; `None` if fixed or never counted.
    pub errors: Vec<Option<f64>>,
    /// Free slots that no position counts.
    pub dead: Vec<usize>,
    /// Combinations of slots that change no score.
    pub nullspace: Vec<Vec<(usize, f64)>>,
}

/// `None` after an interrupt.
pub fn standard_errors(objective: &Objective<'_>, parameters: &[f64]) -> Option<StandardErrors> {
    let (space, size) = (objective.space, objective.space.parameters());
    let mut matrix = objective.without_prior().normal(parameters, Curvature::GaussNewton);
    if interrupt::requested() {
        return None;
    }
    let (null_vectors, unknown) = nullspace(&matrix, size);
    for i in 0..size {
        let diagonal = &mut matrix[i * size + i];
        *diagonal =
            if *diagonal > 0.0 { *diagonal * (1.0 + DAMPING) + 2.0 * objective.strength(i) } else { 1.0 };
    }
    let (mut variances, mut means) = (vec![0.0; size], vec![0.0; size]);
    let total = objective.traces.total_weight();
    let clusters = objective.traces.clusters() as f64;
    if let Some(factor) = Cholesky::new(matrix, size) {
        let groups = objective.group_gradients(parameters);
        if interrupt::requested() {
            return None;
        }
        // With a prior the slopes of all games do not sum to 0, and their mean is no part of their spread.
        let influences: Vec<Vec<f64>> = groups.par_iter().map(|group| factor.solve(group)).collect();
        for influence in &influences {
            means.iter_mut().zip(influence).for_each(|(sum, x)| *sum += x / clusters);
        }
        for influence in &influences {
            let off = influence.iter().zip(&means);
            variances.iter_mut().zip(off).for_each(|(sum, (x, mean))| *sum += ((x - mean) / total).powi(2));
        }
    }
    let mut errors = vec![None; objective.model.slots.len()];
    let correction = clusters / (clusters - 1.0).max(1.0);
    for (i, &slot) in space.free.iter().enumerate() {
        errors[slot] = (!unknown.contains(&i)).then(|| (variances[i] * correction).sqrt());
    }
    let to_slots = |direction: Vec<(usize, f64)>| {
        direction.into_iter().map(|(parameter, share)| (space.free[parameter], share)).collect()
    };
    Some(StandardErrors {
        errors,
        dead: unknown.iter().map(|&i| space.free[i]).collect(),
        nullspace: null_vectors.into_iter().map(to_slots).collect(),
    })
}

/// Describes a combination: which weights, and whether they move together.
pub fn describe(model: &Model, direction: &[(usize, f64)]) -> String {
    let mut tables: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for &(slot, share) in direction {
        tables.entry(table(&model.slots[slot].name)).or_default().push(share);
    }
    let even = |shares: &[f64]| shares.iter().all(|share| (share - shares[0]).abs() < 1e-3);
    let parts: Vec<String> = tables
        .iter()
        .map(|(name, shares)| match (shares.len(), even(shares)) {
            (1, _) => format!("{:+.2} {name}", shares[0]),
            (count, true) => format!("{:+.2} all {count} of {name}", shares[0]),
            (count, false) => format!("{count} of {name}"),
        })
        .collect();
    parts.join(", ")
}

/// `psqt.king[e1] midgame` → `psqt.king midgame`.
pub(super) fn table(name: &str) -> String {
    match (name.find('['), name.rfind(']')) {
        (Some(from), Some(to)) => format!("{}{}", &name[..from], &name[to + 1..]),
        _ => without_indices(name).to_string(),
    }
}

/// `Psqt` of an option's term `Psqt.3.12`.
fn without_indices(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((array, index)) if !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit()) => {
            without_indices(array)
        }
        _ => name,
    }
}
