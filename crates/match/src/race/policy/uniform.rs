//! Equal pairs for all: the baseline.

use super::{Kind, Policy, Row, View};

pub const ROW: Row = Row {
    kind: Kind::Uniform,
    name: "uniform",
    about: "Equal pairs for all candidates: the baseline",
    bounds: false,
    start: |_| Box::new(Uniform),
};

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
