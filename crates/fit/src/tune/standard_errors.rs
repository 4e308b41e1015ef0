//! Standard errors of tuned values, and what the data cannot identify.
//! The errors are the sandwich estimate H⁻¹ V H⁻¹ (White, "Maximum likelihood estimation of misspecified
//! models", 1982), with V from slopes summed over clusters of games (Liang and Zeger, 1986), since positions
//! of one game share its result. H is the Gauss-Newton matrix. Unidentified combinations stay at their start,
//! and the errors leave them out.

use std::collections::BTreeMap;

use super::model::{Model, Space};
use super::normal::Curvature;
use super::objective::{GROUPS, Objective};
use crate::optim::{Cholesky, nullspace};

/// Damping of the nullspace, as a share of the diagonal.
const DAMPING: f64 = 1e-9;

#[derive(Debug, Clone, PartialEq)]
pub struct StandardErrors {
    /// By slot, in centipawns; `None` if fixed or never counted.
    pub errors: Vec<Option<f64>>,
    /// Free slots that no position counts.
    pub dead: Vec<usize>,
    /// Combinations of slots that change no score.
    pub nullspace: Vec<Vec<(usize, f64)>>,
}

pub fn standard_errors(objective: &Objective<'_>, parameters: &[f64]) -> StandardErrors {
    let (space, size) = (objective.space, objective.space.parameters());
    let without_prior = Objective { l2: 0.0, ..*objective };
    let mut matrix = without_prior.normal(parameters, Curvature::GaussNewton);
    let (null_vectors, unknown) = nullspace(&matrix, size);
    for i in 0..size {
        let diagonal = &mut matrix[i * size + i];
        *diagonal =
            if *diagonal > 0.0 { *diagonal * (1.0 + DAMPING) + 2.0 * objective.l2 / 1e4 } else { 1.0 };
    }
    let mut variances = vec![0.0; size];
    let total = objective.traces.total_weight();
    if let Some(factor) = Cholesky::new(matrix, size) {
        for group in objective.group_gradients(parameters) {
            let influence = factor.solve(&group);
            variances.iter_mut().zip(influence).for_each(|(sum, x)| *sum += (x / total).powi(2));
        }
    }
    let mut errors = vec![None; objective.model.slots.len()];
    let correction = GROUPS as f64 / (GROUPS - 1) as f64;
    for (i, &slot) in space.free.iter().enumerate() {
        errors[slot] = (!unknown.contains(&i)).then(|| (variances[i] * correction).sqrt());
    }
    let to_slots = |direction: Vec<(usize, f64)>| {
        direction.into_iter().map(|(parameter, share)| (space.free[parameter], share)).collect()
    };
    StandardErrors {
        errors,
        dead: unknown.iter().map(|&i| space.free[i]).collect(),
        nullspace: null_vectors.into_iter().map(to_slots).collect(),
    }
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
fn table(name: &str) -> String {
    match (name.find('['), name.rfind(']')) {
        (Some(from), Some(to)) => format!("{}{}", &name[..from], &name[to + 1..]),
        _ => name.to_string(),
    }
}

/// Number of positions in which each slot counts.
pub fn seen(model: &Model, space: &Space, by_feature: &[u64]) -> Vec<u64> {
    let mut seen = vec![0; model.slots.len()];
    for (&feature, &count) in space.kept.iter().zip(by_feature) {
        let [mg, eg] = model.features[feature].slots;
        seen[mg] += count;
        if eg != mg {
            seen[eg] += count;
        }
    }
    seen
}
