//! LUCB: the leader and the candidate with the highest upper bound beside it, which alone decide whether the leader is
//! the best. Source: Kalyanakrishnan, Tewari, Auer and Stone, "PAC Subset Selection in Stochastic Multi-armed Bandits"
//! (ICML 2012).

use super::{Policy, PolicyRow, View};

pub(super) const ROW: PolicyRow = PolicyRow { bounds: true, start: |_| Box::new(Lucb) };

struct Lucb;

impl Policy for Lucb {
    fn choose(&mut self, view: &View, among: &[usize]) -> usize {
        if let Some(unknown) = among.iter().find(|candidate| view.pulls(**candidate) == 0) {
            return *unknown;
        }
        let [leader, challenger] = self.duel(view);
        if view.step.is_multiple_of(2) { leader } else { challenger }
    }

    fn duel(&mut self, view: &View) -> [usize; 2] {
        let mut others: Vec<usize> = (0..view.candidates()).collect();
        let leader = view.best(&others);
        others.retain(|candidate| *candidate != leader);
        let most = others.iter().map(|other| view.evidence.upper([*other, leader])).fold(f64::MIN, f64::max);
        others.retain(|other| view.evidence.upper([*other, leader]) >= most);
        // Before they have met, all bounds are infinite.
        let challenger = others.into_iter().min_by_key(|other| view.met([leader, *other]));
        [leader, challenger.unwrap_or(0)]
    }
}
