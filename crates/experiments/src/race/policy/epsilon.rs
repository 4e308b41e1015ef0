//! Epsilon-greedy: a share of the pairs at random, the others for the best so far. Regret stays linear, with slope
//! epsilon times the mean gap (Sutton and Barto, "Reinforcement Learning", 2.2).

use patzer_chess::rng::Rng;

use super::{Policy, PolicyRow, View};

pub(super) const ROW: PolicyRow = PolicyRow {
    bounds: false,
    start: |settings| Box::new(EpsilonGreedy { epsilon: settings.epsilon, rng: Rng::new(settings.seed) }),
};

struct EpsilonGreedy {
    epsilon: f64,
    rng: Rng,
}

impl Policy for EpsilonGreedy {
    fn choose(&mut self, view: &View, among: &[usize]) -> usize {
        if self.rng.unit() < self.epsilon { among[self.rng.below(among.len())] } else { view.best(among) }
    }
}
