//! Policies: which candidate plays next. Each is one file, its name in [`PolicyKind`] and its line in `row`.

mod epsilon;
mod halving;
mod lucb;
mod track;
mod ucb1;
mod uniform;

use super::{Evidence, PolicyKind, RaceSettings};

/// A race as its policy sees it: the evidence of the pairs that have ended, and all pairs allotted so far.
pub struct View<'a> {
    pub evidence: &'a Evidence,
    /// Pairs allotted to each pairing, row by row, both orders.
    pub allotted: &'a [u64],
    /// Pairs allotted to each player.
    pub pulls: &'a [u64],
    /// Pairs allotted in all.
    pub step: u64,
}

impl View<'_> {
    pub fn settings(&self) -> &RaceSettings {
        self.evidence.settings()
    }

    pub fn candidates(&self) -> usize {
        self.settings().candidates
    }

    /// Pairs allotted to two players.
    pub fn met(&self, [a, b]: [usize; 2]) -> u64 {
        self.allotted[a * self.settings().players() + b]
    }

    pub fn pulls(&self, player: usize) -> u64 {
        self.pulls[player]
    }

    pub fn mean(&self, candidate: usize) -> f64 {
        self.evidence.means()[candidate]
    }

    /// Candidate with the highest value; among equal ones that with the fewest pairs.
    fn highest(&self, among: &[usize], value: impl Fn(usize) -> f64) -> usize {
        let better = |a: usize, b: usize| {
            value(b).total_cmp(&value(a)).then(self.pulls(a).cmp(&self.pulls(b))).then(a.cmp(&b))
        };
        among.iter().copied().min_by(|&a, &b| better(a, b)).unwrap_or(0)
    }

    fn best(&self, among: &[usize]) -> usize {
        self.highest(among, |candidate| self.mean(candidate))
    }

    fn fewest(&self, among: &[usize]) -> usize {
        self.highest(among, |candidate| -(self.pulls(candidate) as f64))
    }

    /// The pairing with the fewest pairs.
    fn fewest_met(&self, among: &[usize]) -> [usize; 2] {
        let pairings =
            among.iter().flat_map(|&a| among.iter().filter(move |b| a < **b).map(move |&b| [a, b]));
        pairings.min_by_key(|&pairing| self.met(pairing)).unwrap_or([0, 1])
    }
}

/// Allots pairs one by one.
pub trait Policy: Send {
    /// Chooses one of the candidates `among` to meet the anchor.
    fn choose(&mut self, view: &View, among: &[usize]) -> usize;

    /// Chooses two candidates to meet each other: the first and the second choice.
    fn duel(&mut self, view: &View) -> [usize; 2] {
        let mut among: Vec<usize> = (0..view.candidates()).collect();
        let first = self.choose(view, &among);
        among.retain(|candidate| *candidate != first);
        [first, self.choose(view, &among)]
    }
}

/// A policy's constructor.
struct PolicyRow {
    /// Decides from [`Evidence::upper`].
    bounds: bool,
    start: fn(&RaceSettings) -> Box<dyn Policy>,
}

fn row(kind: PolicyKind) -> PolicyRow {
    match kind {
        PolicyKind::Halving => halving::ROW,
        PolicyKind::Lucb => lucb::ROW,
        PolicyKind::Track => track::ROW,
        PolicyKind::Ucb1 => ucb1::ROW,
        PolicyKind::Epsilon => epsilon::ROW,
        PolicyKind::Uniform => uniform::ROW,
    }
}

pub(super) fn needs_bounds(kind: PolicyKind) -> bool {
    row(kind).bounds
}

pub(super) fn start(settings: &RaceSettings) -> Box<dyn Policy> {
    (row(settings.policy).start)(settings)
}

#[cfg(test)]
mod tests;
