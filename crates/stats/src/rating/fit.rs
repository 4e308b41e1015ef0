//! Maximum-likelihood ratings. The likelihood is concave, so there is one optimum up to a constant per pool,
//! which the pool's average or its anchors fix.

use super::likelihood::ResultModel;
use super::newton::{Edge, Problem, State, davidson_draw, newton};
use super::pool::{PoolStatus, pool_status, shift_to, unanchored_pools};
use super::results::Results;
use patzer_io::error::{Error, Hint, Result};

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum White {
    Fitted,
    /// Known, in Elo.
    Fixed(f64),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    pub model: ResultModel,
    /// Rating difference at which 76 % of the points are expected: 200.24 by Elo's formula, 202 in Ordo. Models of
    /// draws expect the same score of nearly equal players.
    pub scale: f64,
    pub average: f64,
    pub anchors: Vec<(usize, f64)>,
    pub white: White,
    /// Games of every player against a virtual one, half won and half lost, so that all ratings are finite; 0 for none.
    pub prior: f64,
}

impl Settings {
    /// Checks numbers that a person gave.
    pub fn check(&self) -> Result<()> {
        if !(self.scale.is_finite() && self.scale > 0.0) {
            return Err(Error::setting("scale", self.scale, "must be above 0"));
        }
        if !(self.prior.is_finite() && self.prior >= 0.0) {
            return Err(Error::setting("prior", self.prior, "must be 0 or more"));
        }
        if !self.average.is_finite() {
            return Err(Error::setting("average", self.average, "must be a number"));
        }
        Ok(())
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            model: ResultModel::Elo,
            scale: 202.0,
            average: 2300.0,
            anchors: Vec::new(),
            white: White::Fitted,
            prior: 0.0,
        }
    }
}

impl Settings {
    /// Natural units of Elo's scale per Elo.
    pub fn unit(&self) -> f64 {
        (0.76f64 / 0.24).ln() / self.scale
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Ratings {
    /// Elo by player; `None` without a finite rating.
    pub elo: Vec<Option<f64>>,
    pub status: Vec<PoolStatus>,
    pub white: f64,
    /// Draw parameter; for [`ResultModel::Elo`] that of Davidson's model, fitted after the ratings.
    pub draw: f64,
    pub steps: u32,
    pub(super) problem: Problem,
    pub(super) state: State,
}

impl Ratings {
    /// White's expected score; `None` if a player is unrated.
    pub fn expected(&self, white: usize, black: usize) -> Option<f64> {
        self.elo[white].and(self.elo[black])?;
        let edge = Edge { white, black, ..Edge::default() };
        Some(self.problem.model.score(self.problem.difference(&edge, &self.state), self.state.draw))
    }

    /// Probability of a draw between equal players, without White's advantage.
    pub fn draw_rate(&self) -> f64 {
        self.problem.model.chances(0.0, self.draw)[1]
    }

    /// Change of the draw rate by the draw parameter.
    pub(super) fn draw_rate_slope(&self) -> f64 {
        const STEP: f64 = 1e-5;
        let at = |draw: f64| self.problem.model.chances(0.0, draw)[1];
        (at(self.draw + STEP) - at(self.draw - STEP)) / (2.0 * STEP)
    }
}

pub fn fit(results: &Results, settings: &Settings) -> Result<Ratings> {
    let n = results.players.len();
    let status = if settings.prior > 0.0 { vec![PoolStatus::Pool(0); n] } else { pool_status(results) };
    let rated: Vec<bool> = status.iter().map(|status| matches!(status, PoolStatus::Pool(_))).collect();
    if !rated.contains(&true) {
        let reason = "no two players have both scored against each other, so no rating is finite";
        return Err(Error::input(reason).hint(Hint::Prior));
    }
    for &(player, _) in &settings.anchors {
        if !rated[player] {
            let name = &results.players[player];
            let reason = "has no finite rating in these games, so it cannot be an anchor";
            return Err(Error::setting("anchor", "", format!("\"{name}\" {reason}")));
        }
    }
    let counted = results.only(|player| rated[player]);
    let mut edges: Vec<Edge> = (counted.encounters.iter())
        .map(|e| Edge {
            white: e.white,
            black: e.black,
            counts: [e.wins as f64, e.draws as f64, e.losses as f64],
            pairs: e.pairs,
        })
        .collect();
    let unit = settings.unit();
    let mut free = rated.clone();
    // Far from the anchors the likelihood is flat.
    let elo: f64 = settings.anchors.iter().map(|(_, elo)| elo - settings.average).sum();
    let mut start = vec![elo / settings.anchors.len().max(1) as f64 * unit; n];
    for &(player, elo) in &settings.anchors {
        free[player] = false;
        start[player] = (elo - settings.average) * unit;
    }
    // The draw parameter stays finite where draws or decided games are missing, and as ratings do with a prior.
    let seen = |i: usize| edges.iter().any(|e| e.counts[i] > 0.0);
    let bounded = settings.prior == 0.0 && seen(1) && (seen(0) || seen(2));
    let unseen = if bounded { [0.0; 3] } else { [0.5; 3] };
    if settings.prior > 0.0 {
        // The virtual player meets everyone; with anchors its rating is free.
        // Draws would say that players draw with the average, and leave the draw parameter without a bound.
        let half = [settings.prior / 4.0, 0.0, settings.prior / 4.0];
        let edge = |white, black| Edge { white, black, counts: half, ..Edge::default() };
        edges.extend((0..n).map(|player| edge(player, n)));
        edges.extend((0..n).map(|player| edge(n, player)));
        free.push(!settings.anchors.is_empty());
        start.push(0.0);
    }
    let (white, white_free) = match settings.white {
        White::Fitted => (0.0, true),
        White::Fixed(elo) => (elo * unit, false),
    };
    let held = if settings.prior > 0.0 { Vec::new() } else { one_a_pool(&counted, &status, &free) };
    let problem = Problem { model: settings.model, edges, free, held, white_free, unseen };
    if white_free && problem.hides_white() {
        let reason = "these pairings and colours do not separate White's advantage from the ratings";
        return Err(Error::setting("white", "auto", reason).hint(Hint::WithoutWhite));
    }
    let start = State { players: start, white, draw: settings.model.start() };
    let (mut state, steps) = newton(&problem, start)?;
    settle(&mut state, &status, settings);
    if settings.model == ResultModel::Elo {
        state.draw = davidson_draw(&problem, &state);
    }
    let elo = (0..n).map(|i| rated[i].then(|| settings.average + state.players[i] / unit)).collect();
    let (white, draw) = (state.white / unit, state.draw);
    Ok(Ratings { elo, status, white, draw, steps, problem, state })
}

/// The most active player of every pool without anchors, held fixed.
fn one_a_pool(results: &Results, status: &[PoolStatus], free: &[bool]) -> Vec<usize> {
    let games: Vec<u64> = results.scores().iter().map(|s| s.iter().sum()).collect();
    let mut of_pool = std::collections::BTreeMap::<usize, Option<usize>>::new();
    for (player, status) in status.iter().enumerate() {
        let PoolStatus::Pool(pool) = status else { continue };
        let best = of_pool.entry(*pool).or_insert(Some(player));
        *best = match *best {
            Some(known) if free[player] => Some(if games[player] > games[known] { player } else { known }),
            _ => None,
        };
    }
    of_pool.into_values().flatten().collect()
}

/// Shifts every pool without an anchor to the average.
fn settle(state: &mut State, status: &[PoolStatus], settings: &Settings) {
    for of_pool in unanchored_pools(status, &settings.anchors) {
        let shift = shift_to(&mut state.players, &of_pool, 0.0);
        // The virtual player, if any, moves along.
        state.players[status.len()..].iter_mut().for_each(|x| *x += shift);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::rng::Rng;
    use std::collections::BTreeMap;

    /// Games of players with known ratings, drawn from a model.
    fn drawn(model: ResultModel, true_elo: &[f64], white: f64, draw: f64, seed: u64) -> Results {
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
        let games = Results::of(&[("a", "b", [30, 20, 10]), ("b", "a", [10, 20, 30])]);
        // 80 of 120 points on both sides alike: ln 2 natural units, and White has no advantage.
        let settings = Settings { scale: 200.24, ..Settings::default() };
        let fitted = fit(&games, &settings).unwrap();
        let [a, b] = [fitted.elo[0].unwrap(), fitted.elo[1].unwrap()];
        assert!((a - b - 2f64.ln() / settings.unit()).abs() < 1e-6 && (a + b - 4600.0).abs() < 1e-6);
        assert!(fitted.white.abs() < 1e-6, "{}", fitted.white);
        // Davidson: wins to losses 60 to 20, draws 40 = ν √(60·20) of the same 120; scaled by 1 less the draws of
        // equals.
        let davidson = fit(&games, &Settings { model: ResultModel::Davidson, ..settings.clone() }).unwrap();
        let gap = (davidson.elo[0].unwrap() - davidson.elo[1].unwrap()) * settings.unit();
        assert!((gap - 3f64.ln() * (1.0 - davidson.draw_rate())).abs() < 1e-6, "{gap}");
        assert!((davidson.draw.exp() - 40.0 / 1200f64.sqrt()).abs() < 1e-6);
        // Rao and Kupper: win σ(x − t) = ½, loss σ(−x − t) = 1/6: t − x = 0, t + x = ln 5; scaled by 4 p (1 − p), where
        // p = σ(−t) = 1 / (1 + √5).
        let rao = fit(&games, &Settings { model: ResultModel::RaoKupper, ..settings.clone() }).unwrap();
        let gap = (rao.elo[0].unwrap() - rao.elo[1].unwrap()) * settings.unit();
        let (half, p) = (5f64.ln() / 2.0, 1.0 / (1.0 + 5f64.sqrt()));
        assert!((gap - 4.0 * p * (1.0 - p) * half).abs() < 1e-6 && (rao.draw - half).abs() < 1e-6, "{gap}");
    }

    #[test]
    fn models_of_draws_rate_on_the_scale_of_elo() {
        let games = Results::of(&[("a", "b", [75, 400, 25]), ("b", "a", [25, 400, 75])]);
        let gap = |settings: &Settings| {
            let fitted = fit(&games, settings).unwrap();
            fitted.elo[0].unwrap() - fitted.elo[1].unwrap()
        };
        let elo = gap(&Settings::default());
        for model in [ResultModel::Davidson, ResultModel::RaoKupper] {
            let plain = Settings { model, ..Settings::default() };
            assert!((gap(&plain) / elo - 1.0).abs() < 0.05, "{model:?}: {} {elo}", gap(&plain));
            // Anchors and White's advantage are on the same scale: at what would be fitted they change nothing.
            let two = Settings { anchors: vec![(0, 2800.0), (1, 2800.0 - gap(&plain))], ..plain.clone() };
            let fitted = fit(&games, &Settings { white: White::Fixed(0.0), ..two.clone() }).unwrap();
            assert!((fitted.draw - fit(&games, &plain).unwrap().draw).abs() < 1e-6);
            assert!(fit(&games, &two).unwrap().white.abs() < 1e-6);
        }
    }

    #[test]
    fn known_ratings_are_recovered_from_drawn_games() {
        let truth = [2100.0, 2200.0, 2250.0, 2300.0, 2400.0, 2550.0];
        for (model, draw) in
            [(ResultModel::Elo, 0.3), (ResultModel::Davidson, 0.3), (ResultModel::RaoKupper, 0.6)]
        {
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
        let games = drawn(ResultModel::Davidson, &[2000.0, 2300.0, 2450.0], 20.0, 0.0, 2);
        let fitted = fit(&games, &Settings::default()).unwrap();
        for player in 0..3 {
            let balance: f64 = (fitted.problem.edges.iter())
                .map(|e| {
                    let [w, d, l] = e.counts;
                    let n = w + d + l;
                    let x = fitted.problem.difference(e, &fitted.state);
                    let rest = w + d / 2.0 - n * patzer_chess::score::logistic(x);
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
        let games = drawn(ResultModel::Elo, &[2000.0, 2300.0, 2450.0], 0.0, 0.0, 3);
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
        let games = Results::of(&[("king", "a", [5, 0, 0]), ("a", "b", [1, 0, 1]), ("x", "y", [1, 0, 0])]);
        let plain = fit(&games, &Settings { white: White::Fixed(0.0), ..Settings::default() }).unwrap();
        let king = games.players.iter().position(|p| p == "king").unwrap();
        assert_eq!((plain.elo[king], plain.status[king]), (None, PoolStatus::Above));
        let fitted = fit(&games, &Settings { prior: 2.0, ..Settings::default() }).unwrap();
        let elo: Vec<f64> = fitted.elo.iter().map(|elo| elo.unwrap()).collect();
        assert!((elo.iter().sum::<f64>() / elo.len() as f64 - 2300.0).abs() < 1e-6);
        assert!((0..elo.len()).all(|i| i == king || elo[i] < elo[king]), "{elo:?}");
    }

    #[test]
    fn a_prior_bounds_the_models_of_draws_too() {
        for model in [ResultModel::Davidson, ResultModel::RaoKupper] {
            for prior in [0.05, 2.0] {
                let white = White::Fixed(0.0);
                let settings = Settings { model, prior, white, ..Settings::default() };
                for counts in [[40, 0, 0], [39, 1, 0], [35, 5, 0], [39, 0, 1]] {
                    let fitted = fit(&Results::of(&[("a", "b", counts)]), &settings).unwrap();
                    let gap = fitted.elo[0].unwrap() - fitted.elo[1].unwrap();
                    assert!((350.0..1_700.0).contains(&gap), "{model:?} {prior} {counts:?}: {gap}");
                }
            }
        }
    }

    #[test]
    fn an_anchor_far_from_the_average_moves_all_ratings_alike() {
        // A ladder of which the anchor meets one end.
        let names: Vec<String> = (0..8).map(|i| format!("p{i}")).collect();
        let mut counts = BTreeMap::new();
        for pair in names.windows(2) {
            counts.insert((pair[0].clone(), pair[1].clone()), [10, 6, 84]);
        }
        counts.insert(("anchor".to_owned(), names[0].clone()), [9, 0, 1]);
        let games = Results::new(counts);
        let anchor = games.players.iter().position(|name| name == "anchor").unwrap();
        let free = fit(&games, &Settings { white: White::Fixed(0.0), ..Settings::default() }).unwrap();
        for elo in [-2_000.0, 100.0, 1350.0, 6_000.0] {
            let settings =
                Settings { anchors: vec![(anchor, elo)], white: White::Fixed(0.0), ..Settings::default() };
            let fitted = fit(&games, &settings).unwrap();
            for (at, free_elo) in free.elo.iter().enumerate() {
                let expected = elo + free_elo.unwrap() - free.elo[anchor].unwrap();
                assert!((fitted.elo[at].unwrap() - expected).abs() < 1e-3, "{elo}: {:?}", fitted.elo);
            }
        }
    }

    #[test]
    fn whites_advantage_is_refused_where_colours_do_not_show_it() {
        let fitted = |games: &[_], anchors: &[(usize, f64)], prior: f64| {
            fit(&Results::of(games), &Settings { anchors: anchors.to_vec(), prior, ..Settings::default() })
        };
        // Each player has one colour, or one against the player before and the other against the next.
        let one_colour = [("a", "c", [5, 3, 2]), ("b", "c", [2, 3, 5]), ("a", "d", [3, 3, 3])];
        let ladder = [("a", "b", [5, 3, 2]), ("b", "c", [2, 3, 5])];
        for games in [&one_colour[..], &ladder] {
            for anchors in [&[][..], &[(0, 2500.0)]] {
                let error = fitted(games, anchors, 0.0).unwrap_err();
                assert!(matches!(error, Error::Hinted(_, Hint::WithoutWhite)), "{error:?}");
            }
            assert!(fitted(games, &[], 2.0).is_ok(), "games against the average have both colours");
            assert!(fitted(games, &[(0, 2500.0), (2, 2400.0)], 0.0).is_ok());
            assert!(fitted(&[games, &[("b", "a", [1, 1, 1])]].concat(), &[], 0.0).is_ok());
            assert!(
                fitted(&[games, &[("x", "y", [1, 1, 1]), ("y", "x", [1, 1, 1])]].concat(), &[], 0.0).is_ok()
            );
        }
    }

    #[test]
    fn pools_without_common_games_have_the_average_each() {
        let games = Results::of(&[("a", "b", [2, 0, 1]), ("x", "y", [1, 1, 0]), ("y", "x", [2, 0, 1])]);
        let fitted = fit(&games, &Settings::default()).unwrap();
        let elo: Vec<f64> = fitted.elo.iter().map(|elo| elo.unwrap()).collect();
        assert!((elo[0] + elo[1] - 4600.0).abs() < 1e-6 && (elo[2] + elo[3] - 4600.0).abs() < 1e-6);
        let none = Results::of(&[("a", "b", [2, 0, 0])]);
        let error = fit(&none, &Settings::default()).unwrap_err();
        assert!(matches!(error, Error::Hinted(_, Hint::Prior)), "{error:?}");
    }
}
