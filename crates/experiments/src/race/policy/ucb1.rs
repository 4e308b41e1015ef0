//! UCB1: the highest upper confidence bound, mean + √(2 ln t / n), for little regret rather than early certainty.
//! Source: Auer, Cesa-Bianchi and Fischer, "Finite-time Analysis of the Multiarmed Bandit Problem" (Machine Learning
//! 47, 2002).

use super::{Policy, PolicyRow, View};

pub(super) const ROW: PolicyRow = PolicyRow { bounds: false, start: |_| Box::new(Ucb1) };

struct Ucb1;

impl Policy for Ucb1 {
    fn choose(&mut self, view: &View, among: &[usize]) -> usize {
        let bound = |candidate: usize| match view.pulls(candidate) {
            0 => f64::INFINITY,
            pulls => view.mean(candidate) + (2.0 * (view.step.max(1) as f64).ln() / pulls as f64).sqrt(),
        };
        view.highest(among, bound)
    }
}
