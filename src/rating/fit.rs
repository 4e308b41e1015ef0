//! Ratings of greatest likelihood.
//!
//! In: results and settings. Out: [`Ratings`]. Newton's method, each step by conjugate gradients over the encounters, so
//! that tens of thousands of players need no matrix. The likelihood is concave: there is one optimum, up to a constant
//! in each pool, which the pool's average or its anchors settle.

use super::games::Results;
use super::likelihood::Model;
use super::pool::{Place, places};
use crate::error::{Error, Result};

/// The advantage of White.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum White {
    /// Fitted with the ratings.
    Fitted,
    /// Known, in Elo.
    Fixed(f64),
}

/// How to rate.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// How results depend on ratings.
    pub model: Model,
    /// Difference of two ratings at which 76 % of the points are expected. Elo's formula has 200.24; Ordo takes 202.
    pub scale: f64,
    /// Average of every pool without an anchor.
    pub average: f64,
    /// Players whose ratings are known.
    pub anchors: Vec<(usize, f64)>,
    /// The advantage of White.
    pub white: White,
    /// Draws that everyone is given against a player in the middle of the pool, so that all ratings are finite; 0 for none.
    pub prior: f64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            model: Model::Elo,
            scale: 202.0,
            average: 2300.0,
            anchors: Vec::new(),
            white: White::Fitted,
            prior: 0.0,
        }
    }
}

impl Settings {
    /// Natural logistic units of one Elo.
    pub fn unit(&self) -> f64 {
        (0.76f64 / 0.24).ln() / self.scale
    }
}

/// Games between two players as the fit takes them. Counts need not be whole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Edge {
    pub white: usize,
    pub black: usize,
    pub counts: [f64; 3],
}

/// What the fit gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Ratings {
    /// By player, in Elo; `None` for those without a finite rating.
    pub elo: Vec<Option<f64>>,
    /// Where each player stands.
    pub places: Vec<Place>,
    /// Advantage of White, in Elo.
    pub white: f64,
    /// The draw parameter of the model; of [`Model::Elo`] that of Davidson's model, fitted after the ratings.
    pub draw: f64,
    /// Newton steps taken.
    pub steps: u32,
    pub(super) problem: Problem,
    pub(super) state: State,
}

impl Ratings {
    /// White's expected score, 0 to 1; `None` if one of the two is not rated.
    pub fn expected(&self, white: usize, black: usize) -> Option<f64> {
        self.elo[white].and(self.elo[black])?;
        let edge = Edge { white, black, counts: [0.0; 3] };
        Some(self.problem.model.score(self.problem.difference(&edge, &self.state), self.state.draw))
    }

    /// The chance of a draw between equal players, White's advantage aside.
    pub fn draw_rate(&self) -> f64 {
        self.problem.model.chances(0.0, self.draw)[1]
    }
}

/// A point of the search, in natural logistic units.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct State {
    pub players: Vec<f64>,
    pub white: f64,
    pub draw: f64,
}

/// Which parameters move, and the games that they have to fit.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Problem {
    pub model: Model,
    pub edges: Vec<Edge>,
    /// By player.
    pub free: Vec<bool>,
    /// One player of each pool without an anchor, who stands still while the others move: only differences count.
    pub still: Vec<usize>,
    pub white_free: bool,
}

/// Rates players.
///
/// # Errors
/// If nobody can be rated, or an anchor cannot be.
pub fn fit(results: &Results, settings: &Settings) -> Result<Ratings> {
    let n = results.players.len();
    let places = if settings.prior > 0.0 { vec![Place::Pool(0); n] } else { places(results) };
    let rated: Vec<bool> = places.iter().map(|place| matches!(place, Place::Pool(_))).collect();
    if !rated.contains(&true) {
        return Err(Error::usage(
            "no two players have both scored against each other, so no rating is finite; --prior 2 gives finite ones",
        ));
    }
    for &(player, _) in &settings.anchors {
        if !rated[player] {
            let name = &results.players[player];
            let reason = "has no finite rating in these games, so it cannot be an anchor";
            return Err(Error::usage(format!("--anchor: \"{name}\" {reason}")));
        }
    }
    let counted = results.only(|player| rated[player]);
    let mut edges: Vec<Edge> = (counted.encounters.iter())
        .map(|e| Edge {
            white: e.white,
            black: e.black,
            counts: [e.wins as f64, e.draws as f64, e.losses as f64],
        })
        .collect();
    let unit = settings.unit();
    let mut free = rated.clone();
    let mut start = vec![0.0; n];
    for &(player, elo) in &settings.anchors {
        free[player] = false;
        start[player] = (elo - settings.average) * unit;
    }
    if settings.prior > 0.0 {
        // The player in the middle stands behind all others, and where there are anchors floats with them.
        let half = [0.0, settings.prior / 2.0, 0.0];
        edges.extend((0..n).map(|player| Edge { white: player, black: n, counts: half }));
        edges.extend((0..n).map(|player| Edge { white: n, black: player, counts: half }));
        free.push(!settings.anchors.is_empty());
        start.push(0.0);
    }
    let (white, white_free) = match settings.white {
        White::Fitted => (0.0, true),
        White::Fixed(elo) => (elo * unit, false),
    };
    let still = if settings.prior > 0.0 { Vec::new() } else { one_a_pool(&counted, &places, &free) };
    let problem = Problem { model: settings.model, edges, free, still, white_free };
    let start = State { players: start, white, draw: settings.model.start() };
    let (mut state, steps) = newton(&problem, start)?;
    settle(&mut state, &places, settings, n);
    if settings.model == Model::Elo {
        state.draw = davidson_draw(&problem, &state);
    }
    let elo = (0..n).map(|i| rated[i].then(|| settings.average + state.players[i] / unit)).collect();
    let (white, draw) = (state.white / unit, state.draw);
    Ok(Ratings { elo, places, white, draw, steps, problem, state })
}

/// The player with the most games of every pool in which all are free.
fn one_a_pool(results: &Results, places: &[Place], free: &[bool]) -> Vec<usize> {
    let games: Vec<u64> = results.scores().iter().map(|s| s.iter().sum()).collect();
    let mut of_pool = std::collections::BTreeMap::<usize, Option<usize>>::new();
    for (player, place) in places.iter().enumerate() {
        let Place::Pool(pool) = place else { continue };
        let best = of_pool.entry(*pool).or_insert(Some(player));
        *best = match *best {
            Some(known) if free[player] => Some(if games[player] > games[known] { player } else { known }),
            _ => None,
        };
    }
    of_pool.into_values().flatten().collect()
}

/// Moves every pool without an anchor to the average.
fn settle(state: &mut State, places: &[Place], settings: &Settings, n: usize) {
    let pools = places.iter().filter_map(|p| if let Place::Pool(i) = p { Some(i + 1) } else { None }).max();
    for pool in 0..pools.unwrap_or(0) {
        let of_pool: Vec<usize> = (0..n).filter(|&i| places[i] == Place::Pool(pool)).collect();
        if settings.anchors.iter().any(|(player, _)| places[*player] == Place::Pool(pool)) {
            continue;
        }
        let mean = of_pool.iter().map(|&i| state.players[i]).sum::<f64>() / of_pool.len() as f64;
        of_pool.iter().for_each(|&i| state.players[i] -= mean);
        // The player in the middle, where there is one, moves along.
        state.players[n..].iter_mut().for_each(|x| *x -= mean);
    }
}

/// Value, gradient and the second derivatives of each edge.
struct Here {
    value: f64,
    gradient: State,
    hessians: Vec<[f64; 3]>,
}

impl Problem {
    /// The difference in favour of White.
    pub(super) fn difference(&self, edge: &Edge, at: &State) -> f64 {
        at.players[edge.white] - at.players[edge.black] + at.white
    }

    fn draw_free(&self) -> bool {
        self.model.has_draws()
    }

    /// Draws or decided games that nobody has seen count half, so that the draw parameter stays finite.
    fn unseen(&self) -> [f64; 3] {
        let sum = |i: usize| self.edges.iter().map(|e| e.counts[i]).sum::<f64>();
        if sum(1) > 0.0 && sum(0) + sum(2) > 0.0 { [0.0; 3] } else { [0.5; 3] }
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
        if self.draw_free() {
            let e = self.model.expand_counts(self.unseen(), 0.0, at.draw);
            here.value += e.value;
            here.gradient.draw += e.gradient[1];
        }
        self.mask(&mut here.gradient);
        here
    }

    /// Sets what does not move to 0.
    fn mask(&self, v: &mut State) {
        v.players.iter_mut().zip(&self.free).filter(|(_, free)| !**free).for_each(|(v, _)| *v = 0.0);
        self.still.iter().for_each(|&player| v.players[player] = 0.0);
        if !self.white_free {
            v.white = 0.0;
        }
        if !self.draw_free() {
            v.draw = 0.0;
        }
    }

    /// The second derivatives times a direction.
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
        if self.draw_free() {
            out.draw += self.model.expand_counts(self.unseen(), 0.0, at.draw).hessian[2] * v.draw;
        }
        self.mask(&mut out);
        out
    }

    /// The diagonal of the second derivatives; 1 where nothing bends.
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

    /// `self + length · step`.
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

/// The optimum, from a start.
fn newton(problem: &Problem, start: State) -> Result<(State, u32)> {
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
                // Near the optimum rounding hides the fall; a step as short as that is taken.
                let enough = here.value - 1e-4 * length * falls + 1e-12 * here.value.abs();
                if there.value.is_finite() && there.value <= enough {
                    (at, here) = (next, there);
                    break;
                }
            }
            length *= 0.5;
            if length < 1e-9 {
                return Ok((at, step_number));
            }
        }
        if length * step.largest() < STILL {
            return Ok((at, step_number));
        }
    }
    Err(Error::usage(
        "the ratings do not settle: some players have hardly a common opponent; --prior 2 helps",
    ))
}

/// Solves for the Newton step, preconditioned by the diagonal.
fn conjugate_gradients(problem: &Problem, here: &Here, at: &State) -> State {
    let diagonal = problem.diagonal(here);
    let zero = State { players: vec![0.0; problem.free.len()], white: 0.0, draw: 0.0 };
    let mut x = zero.clone();
    let mut residual = zero.moved(&here.gradient, -1.0);
    let mut z = residual.divided(&diagonal);
    let mut direction = z.clone();
    let mut size = residual.dot(&z);
    // Far from the optimum a rough step is as good as an exact one (Dembo, Eisenstat and Steihaug, 1982).
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

/// Davidson's draw parameter at given ratings, for the errors of a model that says nothing of draws.
fn davidson_draw(problem: &Problem, at: &State) -> f64 {
    let mut draw = 0.0;
    for _ in 0..100 {
        let unseen = Model::Davidson.expand_counts(problem.unseen(), 0.0, draw);
        let (mut slope, mut bend) = (unseen.gradient[1], unseen.hessian[2]);
        for edge in &problem.edges {
            let e = Model::Davidson.expand_counts(edge.counts, problem.difference(edge, at), draw);
            slope += e.gradient[1];
            bend += e.hessian[2];
        }
        let step = (-slope / bend.max(1e-300)).clamp(-2.0, 2.0);
        draw += step;
        if step.abs() < 1e-12 {
            break;
        }
    }
    draw
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use std::collections::BTreeMap;

    fn results(games: &[(&str, &str, [u64; 3])]) -> Results {
        Results::new(games.iter().map(|(w, b, counts)| ((w.to_string(), b.to_string()), *counts)).collect())
    }

    /// Games of six players of known ratings, drawn from a model.
    fn drawn(model: Model, true_elo: &[f64], white: f64, draw: f64, seed: u64) -> Results {
        let (mut rng, unit) = (Rng::new(seed), Settings::default().unit());
        let mut counts = BTreeMap::new();
        for (i, a) in true_elo.iter().enumerate() {
            for (j, b) in true_elo.iter().enumerate().filter(|(j, _)| *j != i) {
                let [w, d, _] = model.chances((a - b + white) * unit, draw);
                let mut sums = [0; 3];
                for _ in 0..1_000 {
                    let u = rng.unit();
                    sums[usize::from(u >= w) + usize::from(u >= w + d)] += 1;
                }
                counts.insert((format!("p{i}"), format!("p{j}")), sums);
            }
        }
        Results::new(counts)
    }

    #[test]
    fn two_players_have_the_closed_form() {
        let games = results(&[("a", "b", [30, 20, 10]), ("b", "a", [10, 20, 30])]);
        // 80 of 120 points on both sides alike: ln 2 natural units, and White has no advantage.
        let settings = Settings { scale: 200.24, ..Settings::default() };
        let fitted = fit(&games, &settings).unwrap();
        let [a, b] = [fitted.elo[0].unwrap(), fitted.elo[1].unwrap()];
        assert!((a - b - 2f64.ln() / settings.unit()).abs() < 1e-6 && (a + b - 4600.0).abs() < 1e-6);
        assert!(fitted.white.abs() < 1e-6, "{}", fitted.white);
        // Davidson: wins to losses 60 to 20, draws 40 = ν √(60·20) of the same 120.
        let davidson = fit(&games, &Settings { model: Model::Davidson, ..settings.clone() }).unwrap();
        let gap = (davidson.elo[0].unwrap() - davidson.elo[1].unwrap()) * settings.unit();
        assert!((gap - 3f64.ln()).abs() < 1e-6, "{gap}");
        assert!((davidson.draw.exp() - 40.0 / 1200f64.sqrt()).abs() < 1e-6);
        // Rao and Kupper: win σ(x − t) = ½, loss σ(−x − t) = 1/6: t − x = 0, t + x = ln 5.
        let rao = fit(&games, &Settings { model: Model::RaoKupper, ..settings.clone() }).unwrap();
        let gap = (rao.elo[0].unwrap() - rao.elo[1].unwrap()) * settings.unit();
        assert!((gap - 5f64.ln() / 2.0).abs() < 1e-6 && (rao.draw - gap).abs() < 1e-6);
    }

    #[test]
    fn known_ratings_are_recovered_from_drawn_games() {
        let truth = [2100.0, 2200.0, 2250.0, 2300.0, 2400.0, 2550.0];
        for (model, draw) in [(Model::Elo, 0.3), (Model::Davidson, 0.3), (Model::RaoKupper, 0.6)] {
            let fitted =
                fit(&drawn(model, &truth, 35.0, draw, 1), &Settings { model, ..Settings::default() })
                    .unwrap();
            for (got, want) in fitted.elo.iter().zip(truth) {
                assert!((got.unwrap() - want).abs() < 12.0, "{model:?} {got:?} {want}");
            }
            assert!((fitted.white - 35.0).abs() < 6.0, "{model:?} {}", fitted.white);
            assert!((fitted.draw - draw).abs() < 0.08, "{model:?} {}", fitted.draw);
        }
    }

    #[test]
    fn points_equal_expected_points_at_the_optimum() {
        let games = drawn(Model::Davidson, &[2000.0, 2300.0, 2450.0], 20.0, 0.0, 2);
        let fitted = fit(&games, &Settings::default()).unwrap();
        for player in 0..3 {
            let balance: f64 = (fitted.problem.edges.iter())
                .map(|e| {
                    let [w, d, l] = e.counts;
                    let n = w + d + l;
                    let x = fitted.problem.difference(e, &fitted.state);
                    let rest = w + d / 2.0 - n / (1.0 + (-x).exp());
                    if e.white == player {
                        rest
                    } else if e.black == player {
                        -rest
                    } else {
                        0.0
                    }
                })
                .sum();
            assert!(balance.abs() < 1e-6, "{balance}");
        }
    }

    #[test]
    fn anchors_stay_where_they_are_put() {
        let games = drawn(Model::Elo, &[2000.0, 2300.0, 2450.0], 0.0, 0.0, 3);
        let plain = fit(&games, &Settings::default()).unwrap();
        let one = fit(&games, &Settings { anchors: vec![(1, 3000.0)], ..Settings::default() }).unwrap();
        let shift = 3000.0 - plain.elo[1].unwrap();
        for (a, b) in one.elo.iter().zip(&plain.elo) {
            assert!((a.unwrap() - b.unwrap() - shift).abs() < 1e-5);
        }
        let two = Settings { anchors: vec![(0, 2000.0), (2, 2500.0)], ..Settings::default() };
        let two = fit(&games, &two).unwrap();
        assert!((two.elo[0].unwrap() - 2000.0).abs() < 1e-9 && (two.elo[2].unwrap() - 2500.0).abs() < 1e-9);
        assert!((2200.0..2400.0).contains(&two.elo[1].unwrap()));
    }

    #[test]
    fn a_prior_makes_every_rating_finite() {
        let games = results(&[("king", "a", [5, 0, 0]), ("a", "b", [1, 0, 1]), ("x", "y", [1, 0, 0])]);
        let plain = fit(&games, &Settings::default()).unwrap();
        let king = games.players.iter().position(|p| p == "king").unwrap();
        assert_eq!((plain.elo[king], plain.places[king]), (None, Place::Above));
        let fitted = fit(&games, &Settings { prior: 2.0, ..Settings::default() }).unwrap();
        let elo: Vec<f64> = fitted.elo.iter().map(|elo| elo.unwrap()).collect();
        assert!((elo.iter().sum::<f64>() / elo.len() as f64 - 2300.0).abs() < 1e-6);
        assert!((0..elo.len()).all(|i| i == king || elo[i] < elo[king]), "{elo:?}");
    }

    #[test]
    fn pools_without_common_games_have_the_average_each() {
        let games = results(&[("a", "b", [2, 0, 1]), ("x", "y", [1, 1, 0]), ("y", "x", [2, 0, 1])]);
        let fitted = fit(&games, &Settings::default()).unwrap();
        let elo: Vec<f64> = fitted.elo.iter().map(|elo| elo.unwrap()).collect();
        assert!((elo[0] + elo[1] - 4600.0).abs() < 1e-6 && (elo[2] + elo[3] - 4600.0).abs() < 1e-6);
        let none = results(&[("a", "b", [2, 0, 0])]);
        assert!(fit(&none, &Settings::default()).unwrap_err().to_string().contains("--prior"));
    }
}
