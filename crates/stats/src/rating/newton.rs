//! Newton's method for ratings, with steps by conjugate gradients over encounters, so that tens of thousands
//! of players need no matrix.

use super::likelihood::ResultModel;
use patzer_io::error::{Error, Hint, Result};

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Edge {
    pub white: usize,
    pub black: usize,
    pub counts: [f64; 3],
    /// Pairs of one of these games and one with colours exchanged, by both results.
    pub pairs: [[u64; 3]; 3],
}

/// Parameters in natural units of Elo's scale.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct State {
    pub players: Vec<f64>,
    pub white: f64,
    pub draw: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Problem {
    pub model: ResultModel,
    pub edges: Vec<Edge>,
    pub free: Vec<bool>,
    /// One player per pool without anchors, held fixed because only differences count.
    pub held: Vec<usize>,
    pub white_free: bool,
    /// Games between equals, by result, that only the draw parameter knows.
    pub unseen: [f64; 3],
}

struct Here {
    value: f64,
    gradient: State,
    hessians: Vec<[f64; 3]>,
}

impl Problem {
    pub(super) fn difference(&self, edge: &Edge, at: &State) -> f64 {
        at.players[edge.white] - at.players[edge.black] + at.white
    }

    fn expand(&self, at: &State) -> Here {
        let zero = State { players: vec![0.0; at.players.len()], white: 0.0, draw: 0.0 };
        let mut here = Here { value: 0.0, gradient: zero, hessians: Vec::with_capacity(self.edges.len()) };
        for edge in &self.edges {
            let e = self.model.expand_counts(edge.counts, self.difference(edge, at), at.draw);
            here.value += e.value;
            here.gradient.players[edge.white] += e.gradient[0];
            here.gradient.players[edge.black] -= e.gradient[0];
            here.gradient.white += e.gradient[0];
            here.gradient.draw += e.gradient[1];
            here.hessians.push(e.hessian);
        }
        if self.model.has_draws() {
            let e = self.model.expand_counts(self.unseen, 0.0, at.draw);
            here.value += e.value;
            here.gradient.draw += e.gradient[1];
        }
        self.mask(&mut here.gradient);
        here
    }

    /// Variance of the draw parameter of [`davidson_draw`], at these ratings.
    pub(super) fn davidson_variance(&self, at: &State) -> f64 {
        let of = |counts, x| ResultModel::Davidson.expand_own(counts, x, at.draw).hessian[2];
        let games: f64 = self.edges.iter().map(|edge| of(edge.counts, self.difference(edge, at))).sum();
        1.0 / (games + of(self.unseen, 0.0)).max(1e-300)
    }

    /// Tests whether some change of the free players' ratings is the same as a change of White's advantage in every
    /// encounter.
    pub(super) fn hides_white(&self) -> bool {
        let mut met = vec![Vec::new(); self.free.len()];
        for edge in &self.edges {
            met[edge.white].push((edge.black, -1));
            met[edge.black].push((edge.white, 1));
        }
        let mut shift: Vec<Option<i64>> = self.free.iter().map(|free| (!free).then_some(0)).collect();
        let mut stack: Vec<usize> = (0..met.len()).filter(|&player| !self.free[player]).collect();
        for start in 0..met.len() {
            stack.extend(shift[start].is_none().then_some(start));
            while let Some(player) = stack.pop() {
                let own = *shift[player].get_or_insert(0);
                for &(other, step) in &met[player] {
                    match shift[other] {
                        Some(known) if known != own + step => return false,
                        Some(_) => {}
                        None => {
                            shift[other] = Some(own + step);
                            stack.push(other);
                        }
                    }
                }
            }
        }
        true
    }

    fn mask(&self, v: &mut State) {
        v.players.iter_mut().zip(&self.free).filter(|(_, free)| !**free).for_each(|(v, _)| *v = 0.0);
        self.held.iter().for_each(|&player| v.players[player] = 0.0);
        if !self.white_free {
            v.white = 0.0;
        }
        if !self.model.has_draws() {
            v.draw = 0.0;
        }
    }

    /// Hessian times a vector.
    fn times(&self, here: &Here, at: &State, v: &State) -> State {
        let mut out = State { players: vec![0.0; v.players.len()], white: 0.0, draw: 0.0 };
        for (edge, [xx, xd, dd]) in self.edges.iter().zip(&here.hessians) {
            let u = self.difference(edge, v);
            let by_x = xx * u + xd * v.draw;
            out.players[edge.white] += by_x;
            out.players[edge.black] -= by_x;
            out.white += by_x;
            out.draw += xd * u + dd * v.draw;
        }
        if self.model.has_draws() {
            out.draw += self.model.expand_counts(self.unseen, 0.0, at.draw).hessian[2] * v.draw;
        }
        self.mask(&mut out);
        out
    }

    /// Diagonal of the Hessian, 1 where it vanishes.
    fn diagonal(&self, here: &Here) -> State {
        let mut out = State { players: vec![0.0; self.free.len()], white: 0.0, draw: 0.0 };
        for (edge, [xx, _, dd]) in self.edges.iter().zip(&here.hessians) {
            out.players[edge.white] += xx;
            out.players[edge.black] += xx;
            out.white += xx;
            out.draw += dd;
        }
        let some = |v: &mut f64| *v = if *v > 1e-300 { *v } else { 1.0 };
        out.players.iter_mut().for_each(some);
        some(&mut out.white);
        some(&mut out.draw);
        out
    }
}

impl State {
    fn dot(&self, other: &State) -> f64 {
        let players: f64 = self.players.iter().zip(&other.players).map(|(a, b)| a * b).sum();
        players + self.white * other.white + self.draw * other.draw
    }

    fn moved(&self, step: &State, length: f64) -> State {
        let players = self.players.iter().zip(&step.players).map(|(a, b)| a + length * b).collect();
        State { players, white: self.white + length * step.white, draw: self.draw + length * step.draw }
    }

    fn divided(&self, by: &State) -> State {
        let players = self.players.iter().zip(&by.players).map(|(a, b)| a / b).collect();
        State { players, white: self.white / by.white, draw: self.draw / by.draw }
    }

    fn largest(&self) -> f64 {
        let all = self.players.iter().copied().chain([self.white, self.draw]);
        all.fold(0.0, |m: f64, v| m.max(v.abs()))
    }
}

pub(super) fn newton(problem: &Problem, start: State) -> Result<(State, u32)> {
    // 2e-6 Elo.
    const STILL: f64 = 1e-8;
    let mut at = start;
    let mut here = problem.expand(&at);
    for step_number in 1..=500 {
        let step = conjugate_gradients(problem, &here, &at);
        let falls = -here.gradient.dot(&step);
        let mut length = 1.0;
        loop {
            let next = at.moved(&step, length);
            if problem.model.admits(next.draw) {
                let there = problem.expand(&next);
                // Near the optimum rounding hides the decrease; accept a step within rounding.
                let enough = here.value - 1e-4 * length * falls + 1e-12 * here.value.abs();
                if there.value.is_finite() && there.value <= enough {
                    (at, here) = (next, there);
                    break;
                }
            }
            length *= 0.5;
            if length < 1e-9 && falls < 1e-6 {
                return Ok((at, step_number));
            }
            if length < 1e-9 {
                return Err(unsettled());
            }
        }
        if length * step.largest() < STILL {
            return Ok((at, step_number));
        }
    }
    Err(unsettled())
}

fn unsettled() -> Error {
    Error::input("the ratings do not settle: some players have hardly a common opponent").hint(Hint::Prior)
}

/// Newton step, preconditioned by the diagonal.
fn conjugate_gradients(problem: &Problem, here: &Here, at: &State) -> State {
    let diagonal = problem.diagonal(here);
    let zero = State { players: vec![0.0; problem.free.len()], white: 0.0, draw: 0.0 };
    let mut x = zero.clone();
    let mut residual = zero.moved(&here.gradient, -1.0);
    let mut z = residual.divided(&diagonal);
    let mut direction = z.clone();
    let mut size = residual.dot(&z);
    // Far from the optimum a rough step suffices (Dembo, Eisenstat and Steihaug, 1982).
    let goal = size * f64::min(1e-2, size).max(1e-22);
    for _ in 0..4 * problem.free.len() + 100 {
        if !(size > goal && size > 1e-40) {
            break;
        }
        let bent = problem.times(here, at, &direction);
        let curve = direction.dot(&bent);
        if curve.is_nan() || curve <= 0.0 {
            break;
        }
        let length = size / curve;
        x = x.moved(&direction, length);
        residual = residual.moved(&bent, -length);
        z = residual.divided(&diagonal);
        let next = residual.dot(&z);
        direction = z.moved(&direction, next / size);
        size = next;
    }
    x
}

/// Davidson's draw parameter at given ratings, for errors under the Elo model.
pub(super) fn davidson_draw(problem: &Problem, at: &State) -> f64 {
    let mut draw = 0.0;
    for _ in 0..100 {
        let unseen = ResultModel::Davidson.expand_counts(problem.unseen, 0.0, draw);
        let (mut slope, mut information) = (unseen.gradient[1], unseen.hessian[2]);
        for edge in &problem.edges {
            let e = ResultModel::Davidson.expand_own(edge.counts, problem.difference(edge, at), draw);
            slope += e.gradient[1];
            information += e.hessian[2];
        }
        let step = (-slope / information.max(1e-300)).clamp(-2.0, 2.0);
        draw += step;
        if step.abs() < 1e-12 {
            break;
        }
    }
    draw
}
