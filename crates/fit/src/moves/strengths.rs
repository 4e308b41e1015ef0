//! Strengths of the levels of moves, and sums over choices.

use rayon::prelude::*;

use super::choices::Competition;
use super::features::FeatureLevels;
use super::terms::Term;

const CHUNK: usize = 512;

/// Most chunks of sums that take much memory.
const MAX_CHUNKS: usize = 16;

/// A strength above 0 for every level of every term.
#[derive(Debug, Clone, PartialEq)]
pub struct Strengths {
    pub terms: Vec<Term>,
    pub levels: Vec<Vec<f64>>,
}

impl Default for Strengths {
    /// All 1, without pairs: every legal move is equally likely.
    fn default() -> Strengths {
        Strengths::even(&[])
    }
}

impl Strengths {
    /// All 1, of all groups and of these pairs.
    pub fn even(pairs: &[Term]) -> Strengths {
        let terms: Vec<Term> = Term::groups().chain(pairs.iter().copied()).collect();
        let levels = terms.iter().map(|term| vec![1.0; term.level_count()]).collect();
        Strengths { terms, levels }
    }

    pub fn strength(&self, features: &FeatureLevels) -> f64 {
        self.terms.iter().zip(&self.levels).map(|(term, levels)| levels[term.level(features)]).product()
    }
}

/// Parallel sum over choices in fixed chunks; `add` adds one choice's contribution.
pub(super) fn sum(choices: usize, size: usize, add: impl Fn(usize, &mut [f64]) + Sync) -> Vec<f64> {
    // Few chunks for large sums, to bound memory.
    let chunk = if size > 1000 { choices.div_ceil(MAX_CHUNKS).max(CHUNK) } else { CHUNK };
    let parts: Vec<Vec<f64>> = (0..choices.div_ceil(chunk))
        .into_par_iter()
        .map(|at| {
            let mut part = vec![0.0; size];
            (at * chunk..choices.min((at + 1) * chunk)).for_each(|choice| add(choice, &mut part));
            part
        })
        .collect();
    let mut total = vec![0.0; size];
    for part in parts {
        total.iter_mut().zip(part).for_each(|(total, x)| *total += x);
    }
    total
}

/// Logarithm of the probability of a choice; of one that moves share, its mean.
pub(super) fn log_probability(competition: &Competition, gammas: &Strengths) -> f64 {
    let total: f64 = competition.moves.iter().map(|features| gammas.strength(features)).sum();
    let moves = competition.moves.iter().zip(&competition.shares).filter(|(_, share)| **share > 0.0);
    moves.map(|(features, share)| share * (gammas.strength(features) / total).ln()).sum()
}
