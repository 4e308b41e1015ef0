//! Sequential halving: the budget in equal rounds, after each of which the better half goes on. Unlike its source, a
//! round judges by all pairs so far. Source: Karnin, Koren and Somekh, "Almost Optimal Exploration in Multi-Armed
//! Bandits" (ICML 2013).

use super::{Policy, PolicyRow, View};
use crate::race::RaceSettings;

pub(super) const ROW: PolicyRow =
    PolicyRow { bounds: false, start: |settings| Box::new(Halving::new(settings)) };

struct Halving {
    survivors: Vec<usize>,
    rounds: u64,
    ended: u64,
}

impl Halving {
    fn new(settings: &RaceSettings) -> Halving {
        let rounds = settings.candidates.next_power_of_two().ilog2().into();
        Halving { survivors: (0..settings.candidates).collect(), rounds, ended: 0 }
    }

    fn advance(&mut self, view: &View) {
        let round = view.step * self.rounds / view.settings().budget;
        while self.ended < round.min(self.rounds - 1) {
            self.ended += 1;
            self.survivors.sort_by(|a, b| view.mean(*b).total_cmp(&view.mean(*a)).then(a.cmp(b)));
            // Two have to remain to meet.
            self.survivors.truncate(self.survivors.len().div_ceil(2).max(2));
        }
    }
}

impl Policy for Halving {
    fn choose(&mut self, view: &View, among: &[usize]) -> usize {
        self.advance(view);
        let open: Vec<usize> = among.iter().copied().filter(|one| self.survivors.contains(one)).collect();
        view.fewest(if open.is_empty() { among } else { &open })
    }

    fn duel(&mut self, view: &View) -> [usize; 2] {
        self.advance(view);
        let mut survivors = self.survivors.clone();
        survivors.sort_unstable();
        view.fewest_met(&survivors)
    }
}
