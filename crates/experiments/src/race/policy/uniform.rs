//! Equal pairs for all: the baseline.

use super::{Policy, PolicyRow, View};

pub(super) const ROW: PolicyRow = PolicyRow { bounds: false, start: |_| Box::new(Uniform) };

struct Uniform;

impl Policy for Uniform {
    fn choose(&mut self, view: &View, among: &[usize]) -> usize {
        view.fewest(among)
    }

    fn duel(&mut self, view: &View) -> [usize; 2] {
        let all: Vec<usize> = (0..view.candidates()).collect();
        view.fewest_met(&all)
    }
}
