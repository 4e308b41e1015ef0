//! Errors of ratings: 95 % intervals and the likelihood of superiority, by covariance or bootstrap.
//! [`ResultModel::Elo`] counts a draw as half a win, so its likelihood ignores that draws reduce the variance; its
//! covariance is a sandwich estimate with the variance under Davidson's model.
//!
//! The games of a pair depend on each other through their opening, so a pair is one observation: its variance is that
//! of the pairs seen. One pair more, by the model, is counted in each encounter, so that few pairs that ended alike do
//! not have an error of 0.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::fit::{Ratings, Settings, fit};
use super::likelihood::ResultModel;
use super::newton::{Edge, Problem};
use super::pool::{PoolStatus, pools, shift_to, unanchored_pools};
use super::results::{Encounter, Results};
use crate::special::normal_cdf;
use crate::{Cholesky, Z95};
use patzer_chess::rng::{Rng, mix};
use patzer_io::error::Result;
use patzer_io::interrupt;

/// Largest number of players for a covariance, which takes cubic time.
pub const MOST_PLAYERS: usize = 1_000;

#[derive(Debug, Clone, PartialEq)]
pub enum RatingErrors {
    Covariance(Covariance),
    /// Values in resampled games.
    Samples(Vec<Sample>),
}

/// Variances of the values of all games.
#[derive(Debug, Clone, PartialEq)]
pub struct Covariance {
    /// In Elo², by player and player; NaN for unrated players.
    players: Vec<Vec<f64>>,
    /// Of White's advantage, in Elo²; 0 where it is given.
    white: f64,
    /// Of the draw rate between equals.
    draw_rate: f64,
}

/// Values of one resample.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Ratings in Elo; NaN for unrated players.
    players: Vec<f64>,
    white: f64,
    draw_rate: f64,
}

impl RatingErrors {
    /// Half-width of a rating's 95 % interval in Elo.
    pub fn error(&self, player: usize) -> Option<f64> {
        self.half_width(&|all| all.players[player][player], &|sample| sample.players[player])
    }

    /// Half-width of the 95 % interval of White's advantage in Elo.
    pub fn white(&self) -> Option<f64> {
        self.half_width(&|all| all.white, &|sample| sample.white)
    }

    /// Half-width of the 95 % interval of the draw rate between equals, 0 to 1.
    pub fn draw_rate(&self) -> Option<f64> {
        self.half_width(&|all| all.draw_rate, &|sample| sample.draw_rate)
    }

    fn half_width(
        &self,
        variance: &dyn Fn(&Covariance) -> f64,
        value: &dyn Fn(&Sample) -> f64,
    ) -> Option<f64> {
        let error = match self {
            RatingErrors::Covariance(all) => Z95 * variance(all).max(0.0).sqrt(),
            RatingErrors::Samples(samples) => {
                let mut values: Vec<f64> = samples.iter().map(value).collect();
                values.sort_by(f64::total_cmp);
                let last = values.len().checked_sub(1)?;
                let at = |q: f64| values[(q * last as f64).round() as usize];
                (at(0.975) - at(0.025)) / 2.0
            }
        };
        error.is_finite().then_some(error)
    }

    /// Likelihood that the first player is stronger, given the rating difference in Elo.
    pub fn superiority(&self, first: usize, second: usize, difference: f64) -> Option<f64> {
        match self {
            RatingErrors::Covariance(Covariance { players: matrix, .. }) => {
                let variance = matrix[first][first] + matrix[second][second] - 2.0 * matrix[first][second];
                let chance =
                    if difference == 0.0 { 0.5 } else { normal_cdf(difference / variance.max(0.0).sqrt()) };
                (!variance.is_nan()).then_some(chance)
            }
            RatingErrors::Samples(samples) => {
                let points =
                    |Sample { players, .. }: &Sample| match players[first].partial_cmp(&players[second]) {
                        Some(std::cmp::Ordering::Greater) => Some(1.0),
                        Some(std::cmp::Ordering::Equal) => Some(0.5),
                        Some(std::cmp::Ordering::Less) => Some(0.0),
                        None => None,
                    };
                let sum = samples.iter().map(points).sum::<Option<f64>>()?;
                Some(sum / samples.len().max(1) as f64)
            }
        }
    }
}

/// Covariance of the ratings, for up to `MOST_PLAYERS` players; relative to the average of a pool without anchors.
pub fn covariance(ratings: &Ratings, settings: &Settings) -> Option<RatingErrors> {
    let (problem, state) = (&ratings.problem, &ratings.state);
    let players = ratings.elo.len();
    let mut free = 0;
    let mut take = |is_free: &bool| {
        free += usize::from(*is_free);
        is_free.then(|| free - 1)
    };
    let index: Vec<Option<usize>> = problem.free.iter().map(&mut take).collect();
    if free > MOST_PLAYERS {
        return None;
    }
    // Parameters: players, White's advantage, draw parameter.
    let size = free + 2;
    let (mut information, mut score_variance) = (vec![vec![0.0; size]; size], vec![vec![0.0; size]; size]);
    for edge in &problem.edges {
        let x = problem.difference(edge, state);
        let e = problem.model.expand_counts(edge.counts, x, state.draw);
        let games: f64 = edge.counts.iter().sum();
        let [xx, xd, dd] = e.hessian;
        let noise = match problem.model {
            ResultModel::Elo => [games * ResultModel::Elo.variance(x, state.draw), 0.0, 0.0],
            _ => [xx, xd, dd],
        };
        let white = problem.white_free.then_some(free);
        let direction = [(index[edge.white], 1.0), (index[edge.black], -1.0), (white, 1.0)];
        add(&mut information, &direction, [xx, xd, dd], problem);
        add(&mut score_variance, &direction, noise, problem);
        add_pairs(&mut score_variance, &direction, edge, ratings);
    }
    pin(&mut information, ratings, problem, &index, free);
    let inverse = invert(&information)?;
    let spread = multiply(&multiply(&inverse, &score_variance), &inverse);
    let unit = settings.unit();
    let anchored = |i: usize| ratings.elo[i].is_some() && index[i].is_none();
    let entry = |i: usize, j: usize| match (index[i], index[j]) {
        (Some(i), Some(j)) => spread[i][j] / (unit * unit),
        _ if (anchored(i) || index[i].is_some()) && (anchored(j) || index[j].is_some()) => 0.0,
        _ => f64::NAN,
    };
    let mut matrix: Vec<Vec<f64>> =
        (0..players).map(|i| (0..players).map(|j| entry(i, j)).collect()).collect();
    for members in unanchored_pools(&ratings.status, &settings.anchors) {
        centre(&mut matrix, &members);
    }
    let white = if problem.white_free { spread[free][free] / (unit * unit) } else { 0.0 };
    let draw = match problem.model {
        ResultModel::Elo => problem.davidson_variance(state),
        _ => spread[free + 1][free + 1],
    };
    let draw_rate = draw * ratings.draw_rate_slope().powi(2);
    Some(RatingErrors::Covariance(Covariance { players: matrix, white, draw_rate }))
}

/// Makes the covariance of a pool's members relative to their average, as their ratings are.
fn centre(matrix: &mut [Vec<f64>], members: &[usize]) {
    let count = members.len() as f64;
    let means: Vec<f64> =
        members.iter().map(|&i| members.iter().map(|&j| matrix[i][j]).sum::<f64>() / count).collect();
    let mean = means.iter().sum::<f64>() / count;
    for (&i, row) in members.iter().zip(&means) {
        for (&j, column) in members.iter().zip(&means) {
            matrix[i][j] += mean - row - column;
        }
    }
}

/// Adds what the variance of pairs has more than that of their games by the model.
fn add_pairs(
    score_variance: &mut [Vec<f64>],
    &[white, black, advantage]: &[(Option<usize>, f64); 3],
    edge: &Edge,
    Ratings { problem, state, .. }: &Ratings,
) {
    let pairs = edge.pairs.as_flattened().iter().sum::<u64>() as f64;
    if pairs == 0.0 {
        return;
    }
    let swapped = Edge { white: edge.black, black: edge.white, ..*edge };
    // Chance and slope of the likelihood of each result, in the games of either colour.
    let games = [edge, &swapped].map(|edge| {
        let x = problem.difference(edge, state);
        let slope = |result: [f64; 3]| problem.model.expand_counts(result, x, state.draw).gradient;
        let slopes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(slope);
        (problem.model.chances(x, state.draw), slopes)
    });
    let [(first_chances, first_slopes), (second_chances, second_slopes)] = games;
    for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
        let seen = edge.pairs[i][j] as f64 - pairs * first_chances[i] * second_chances[j];
        let weight = seen * pairs / (pairs + 1.0);
        let ([first, draw], [second, second_draw]) = (first_slopes[i], second_slopes[j]);
        let (by_player, by_white, by_draw) = (first - second, first + second, draw + second_draw);
        let direction = [(white.0, by_player), (black.0, -by_player), (advantage.0, by_white)];
        add(score_variance, &direction, [weight, weight * by_draw, weight * by_draw * by_draw], problem);
    }
}

fn add(
    matrix: &mut [Vec<f64>],
    direction: &[(Option<usize>, f64); 3],
    [xx, xd, dd]: [f64; 3],
    problem: &Problem,
) {
    let draw = matrix.len() - 1;
    for &(i, a) in direction {
        let Some(i) = i else { continue };
        for &(j, b) in direction {
            if let Some(j) = j {
                matrix[i][j] += a * b * xx;
            }
        }
        if problem.model.has_draws() {
            matrix[i][draw] += a * xd;
            matrix[draw][i] += a * xd;
        }
    }
    if problem.model.has_draws() {
        matrix[draw][draw] += dd;
    }
}

/// Makes the matrix regular: 1 for fixed parameters, and a weight on the sum of each pool without an anchor.
fn pin(
    information: &mut [Vec<f64>],
    ratings: &Ratings,
    problem: &Problem,
    index: &[Option<usize>],
    free: usize,
) {
    if !problem.white_free {
        information[free][free] = 1.0;
    }
    if !problem.model.has_draws() {
        information[free + 1][free + 1] = 1.0;
    }
    for pool in 0..pools(&ratings.status) {
        let of_pool = |i: &usize| ratings.status[*i] == PoolStatus::Pool(pool);
        let members: Vec<usize> = (0..ratings.status.len()).filter(of_pool).collect();
        let moving: Vec<usize> = members.iter().filter_map(|&i| index[i]).collect();
        // An anchor, or the fixed virtual player, is enough.
        if moving.len() < members.len() || index.get(ratings.status.len()) == Some(&None) || moving.is_empty()
        {
            continue;
        }
        let weight =
            moving.iter().map(|&i| information[i][i]).sum::<f64>() / (moving.len() * moving.len()) as f64;
        for &i in &moving {
            for &j in &moving {
                information[i][j] += weight;
            }
        }
    }
}

fn invert(matrix: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let n = matrix.len();
    let factor = Cholesky::new(matrix.concat(), n)?;
    let column = |k: usize| {
        let mut unit = vec![0.0; n];
        unit[k] = 1.0;
        factor.solve(&unit)
    };
    Some((0..n).into_par_iter().map(column).collect())
}

fn multiply(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let row = |a: &Vec<f64>| {
        let mut out = vec![0.0; b.len()];
        for (factor, row) in a.iter().zip(b) {
            out.iter_mut().zip(row).for_each(|(out, b)| *out += factor * b);
        }
        out
    };
    a.par_iter().map(row).collect()
}

/// Ratings of `samples` resamples, drawn from the fitted model, or of the pairs, on the same schedule; `stop` ends it.
pub fn bootstrap(
    results: &Results,
    ratings: &Ratings,
    settings: &Settings,
    samples: u32,
    seed: u64,
    stop: &AtomicBool,
    progress: impl Fn() + Sync,
) -> Result<RatingErrors> {
    // Small enough to matter only where a player wins every resampled game.
    const FINITE: f64 = 0.05;
    let settings = Settings { prior: settings.prior.max(FINITE), ..settings.clone() };
    let rated = results.only(|player| ratings.elo[player].is_some());
    let apart = unanchored_pools(&ratings.status, &settings.anchors);
    let one = |number: u32| -> Result<Sample> {
        if stop.load(Ordering::Relaxed) {
            return Err(interrupt::error());
        }
        let sample = resample(&rated, ratings, &mut Rng::new(mix(seed, u64::from(number))));
        let fitted = fit(&sample, &settings)?;
        progress();
        let rating = |i: usize| ratings.elo[i].and(fitted.elo[i]).unwrap_or(f64::NAN);
        let mut sampled: Vec<f64> = (0..results.players.len()).map(rating).collect();
        // The prior joins all players in one pool.
        for members in &apart {
            shift_to(&mut sampled, members, settings.average);
        }
        Ok(Sample { players: sampled, white: fitted.white, draw_rate: fitted.draw_rate() })
    };
    (0..samples).into_par_iter().map(one).collect::<Result<Vec<_>>>().map(RatingErrors::Samples)
}

/// Games of the same encounters: single ones by the model, pairs as those seen.
fn resample(results: &Results, ratings: &Ratings, rng: &mut Rng) -> Results {
    let (problem, state) = (&ratings.problem, &ratings.state);
    let chances = |e: &Encounter| {
        let edge = Edge { white: e.white, black: e.black, ..Edge::default() };
        problem.model.chances(problem.difference(&edge, state), state.draw)
    };
    let game = |[w, d, _]: [f64; 3], rng: &mut Rng| {
        let u = rng.unit();
        usize::from(u >= w) + usize::from(u >= w + d)
    };
    let mut counts = Vec::with_capacity(results.encounters.len());
    for e in &results.encounters {
        let swapped = results.swapped(e).map_or(0, |at| results.encounters[at].pairs());
        let (mut drawn, chances) = ([0; 3], chances(e));
        (0..e.games() - e.pairs() - swapped).for_each(|_| drawn[game(chances, rng)] += 1);
        counts.push(drawn);
    }
    for (at, e) in results.encounters.iter().enumerate() {
        let Some(swapped) = results.swapped(e).filter(|_| e.pairs() > 0) else { continue };
        let chances = [e, &results.encounters[swapped]].map(chances);
        for _ in 0..e.pairs() {
            let mut number = rng.below(e.pairs() as usize + 1) as u64;
            let seen = e.pairs.as_flattened().iter().position(|&pairs| {
                let is_here = number < pairs;
                number = number.saturating_sub(pairs);
                is_here
            });
            let [first, second] = match seen {
                Some(seen) => [seen / 3, seen % 3],
                None => chances.map(|chances| game(chances, rng)),
            };
            counts[at][first] += 1;
            counts[swapped][second] += 1;
        }
    }
    let mut sample = results.clone();
    for (encounter, drawn) in sample.encounters.iter_mut().zip(counts) {
        [encounter.wins, encounter.draws, encounter.losses] = drawn;
    }
    sample
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::rating::{EncounterCounts, White};

    fn games() -> Results {
        Results::of(&[
            ("a", "b", [60, 90, 50]),
            ("b", "a", [70, 80, 50]),
            ("b", "c", [40, 40, 20]),
            ("c", "a", [30, 30, 40]),
        ])
    }

    #[test]
    fn the_error_of_two_players_is_that_of_their_match() {
        let games = Results::of(&[("a", "b", [68, 55, 48]), ("b", "a", [48, 56, 68])]);
        let settings = Settings {
            scale: 200.24,
            white: White::Fixed(0.0),
            anchors: vec![(1, 0.0)],
            ..Settings::default()
        };
        let ratings = fit(&games, &settings).unwrap();
        let errors = covariance(&ratings, &settings).unwrap();
        // W 136, D 111, L 96: 40.70 ± 30.43 by trinomial variance; here the variance is that of the model at that
        // score.
        assert!((ratings.elo[0].unwrap() - 40.70).abs() < 0.05, "{:?}", ratings.elo);
        assert!((errors.error(0).unwrap() - 30.43).abs() < 0.5, "{:?}", errors.error(0));
        assert_eq!(errors.error(1), Some(0.0));
        let los = errors.superiority(0, 1, ratings.elo[0].unwrap()).unwrap();
        assert!((los - 0.9960).abs() < 1e-3, "{los}");
    }

    /// Pairs of games between players of these ratings; half of the openings win for White, or for Black.
    fn pairs(true_elo: &[f64], pairs: usize, seed: u64) -> Results {
        let (mut rng, mut counts) = (Rng::new(seed), BTreeMap::<_, EncounterCounts>::new());
        for (i, j) in (0..true_elo.len()).flat_map(|i| (i + 1..true_elo.len()).map(move |j| (i, j))) {
            for _ in 0..pairs {
                let bias = [-400.0, 0.0, 0.0, 400.0][rng.below(4)];
                let mut game = |white: usize, black: usize| {
                    let x = (true_elo[white] - true_elo[black] + bias) * Settings::default().unit();
                    let [w, d, _] = ResultModel::Davidson.chances(x, 0.5);
                    let u = rng.unit();
                    let result = usize::from(u >= w) + usize::from(u >= w + d);
                    counts.entry((white.to_string(), black.to_string())).or_default().games[result] += 1;
                    result
                };
                let (first, second) = (game(i, j), game(j, i));
                counts.entry((i.to_string(), j.to_string())).or_default().pairs[first][second] += 1;
            }
        }
        Results::new(counts)
    }

    #[test]
    fn errors_of_pairs_are_the_spread_of_ratings() {
        let settings = Settings { white: White::Fixed(0.0), ..Settings::default() };
        let truth = [2250.0, 2290.0, 2310.0, 2350.0];
        let stated = |results: &Results| {
            let ratings = fit(results, &settings).unwrap();
            let error = covariance(&ratings, &settings).unwrap().error(0).unwrap();
            (ratings.elo[0].unwrap(), error)
        };
        let (mut elo, mut error, mut single) = (Vec::new(), 0.0, 0.0);
        const POOLS: u64 = 400;
        for seed in 0..POOLS {
            let mut results = pairs(&truth, 50, seed);
            let (rating, of_pairs) = stated(&results);
            elo.push(rating);
            error += of_pairs / POOLS as f64;
            results.encounters.iter_mut().for_each(|e| e.pairs = [[0; 3]; 3]);
            single += stated(&results).1 / POOLS as f64;
        }
        let mean = elo.iter().sum::<f64>() / POOLS as f64;
        let spread = Z95 * (elo.iter().map(|elo| (elo - mean).powi(2)).sum::<f64>() / POOLS as f64).sqrt();
        assert!((error / spread - 1.0).abs() < 0.1, "{error} {spread}");
        assert!(single > 1.2 * spread, "{single} {spread}");
        for model in [ResultModel::Elo, ResultModel::Davidson, ResultModel::RaoKupper] {
            agreeing(&pairs(&truth, 50, 1), &Settings { model, ..settings.clone() }, 600, 4);
        }
    }

    #[test]
    fn pairs_that_ended_alike_have_an_error() {
        let mut games = EncounterCounts { games: [8, 0, 0], ..EncounterCounts::default() };
        games.pairs[0][0] = 8;
        let names = |white: &str, black: &str| (white.to_string(), black.to_string());
        let results = Results::new([(names("a", "b"), games), (names("b", "a"), [8, 0, 0].into())].into());
        let settings = Settings { white: White::Fixed(0.0), ..Settings::default() };
        let ratings = fit(&results, &settings).unwrap();
        let error = covariance(&ratings, &settings).unwrap().error(0).unwrap();
        // A ninth of the games' variance: of 16 games, of 1/4 each, it is 85.9 Elo.
        assert!((error - 85.9 / 3.0).abs() < 1.0, "{error}");
    }

    /// Ratings with both kinds of errors, which agree for the first `players`.
    fn agreeing(
        games: &Results,
        settings: &Settings,
        samples: u32,
        players: usize,
    ) -> (Ratings, RatingErrors, RatingErrors) {
        let ratings = fit(games, settings).unwrap();
        let by_formula = covariance(&ratings, settings).unwrap();
        let seen = bootstrap(games, &ratings, settings, samples, 1, &AtomicBool::new(false), || {}).unwrap();
        for player in 0..players {
            let (a, b) = (by_formula.error(player).unwrap(), seen.error(player).unwrap());
            assert!((a / b - 1.0).abs() < 0.15, "{:?} {player}: {a} {b}", settings.model);
        }
        let both = |of: &dyn Fn(&RatingErrors) -> Option<f64>| {
            [&by_formula, &seen].map(|errors| of(errors).unwrap())
        };
        let ([white, white_seen], [draw, draw_seen]) =
            (both(&RatingErrors::white), both(&RatingErrors::draw_rate));
        match settings.white {
            White::Fitted => {
                assert!((white / white_seen - 1.0).abs() < 0.15, "{settings:?}: {white} {white_seen}")
            }
            White::Fixed(_) => assert_eq!([white, white_seen], [0.0; 2]),
        }
        // The openings of pairs make draws dependent, which the draw parameter of Elo's model does not see.
        let near = if games.pairs() > 0 && settings.model == ResultModel::Elo { 0.4 } else { 0.15 };
        assert!((draw / draw_seen - 1.0).abs() < near, "{settings:?}: {draw} {draw_seen}");
        (ratings, by_formula, seen)
    }

    #[test]
    fn covariance_and_bootstrap_agree() {
        for model in [ResultModel::Elo, ResultModel::Davidson, ResultModel::RaoKupper] {
            let settings = Settings { model, ..Settings::default() };
            let (ratings, by_formula, seen) = agreeing(&games(), &settings, 600, 3);
            let gap = ratings.elo[0].unwrap() - ratings.elo[2].unwrap();
            let (a, b) = (by_formula.superiority(0, 2, gap).unwrap(), seen.superiority(0, 2, gap).unwrap());
            assert!((a - b).abs() < 0.05, "{model:?}: {a} {b}");
        }
    }

    #[test]
    fn errors_with_a_prior_are_relative_to_the_average() {
        for model in [ResultModel::Elo, ResultModel::Davidson] {
            let settings = Settings { model, prior: 2.0, ..Settings::default() };
            agreeing(&games(), &settings, 600, 3);
        }
    }

    #[test]
    fn the_bootstrap_keeps_pools_and_players_without_a_rating_apart() {
        let games = Results::of(&[
            ("a", "b", [60, 90, 50]),
            ("b", "a", [70, 80, 50]),
            ("king", "a", [5, 0, 0]),
            ("x", "y", [3, 2, 1]),
            ("y", "x", [2, 3, 1]),
        ]);
        let (.., seen) = agreeing(&games, &Settings::default(), 400, 2);
        let RatingErrors::Samples(samples) = seen else { unreachable!() };
        for Sample { players: sample, .. } in samples {
            assert!((sample[0] + sample[1] - 4600.0).abs() < 1e-6 && sample[2].is_nan(), "{sample:?}");
            assert!((sample[3] + sample[4] - 4600.0).abs() < 1e-6, "{sample:?}");
        }
    }

    #[test]
    fn the_bootstrap_does_not_depend_on_threads() {
        let settings = Settings::default();
        let ratings = fit(&games(), &settings).unwrap();
        let sampled =
            || bootstrap(&games(), &ratings, &settings, 20, 9, &AtomicBool::new(false), || {}).unwrap();
        assert_eq!(crate::on_threads(1, sampled), crate::on_threads(2, sampled));
    }

    #[test]
    fn ratings_relative_to_the_average_have_errors_that_cancel() {
        let settings = Settings::default();
        let ratings = fit(&games(), &settings).unwrap();
        let RatingErrors::Covariance(all) = covariance(&ratings, &settings).unwrap() else { unreachable!() };
        for row in all.players {
            assert!(row.iter().sum::<f64>().abs() < 1e-6, "{row:?}");
        }
    }
}
