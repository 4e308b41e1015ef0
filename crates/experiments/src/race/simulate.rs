//! Races between candidates of known strength: how often the best is found, after how many games, with how much regret.

use rayon::prelude::*;
use serde::Serialize;

use super::{Planner, RaceSettings};
use crate::possible::possible;
use patzer_chess::rng::{Rng, mix};
use patzer_io::error::Result;
use patzer_io::interrupt;
use patzer_stats::interval::exact_proportion;
use patzer_stats::plan::{Conditions, Pairs};

/// Players with the distribution of the pair score of each two.
#[derive(Debug, Clone)]
pub struct Field {
    elo: Vec<f64>,
    /// Row by row, the first player's side.
    pairs: Vec<Pairs>,
}

impl Field {
    /// Candidates of these strengths, and an anchor of strength 0 after them if the race has one.
    ///
    /// # Errors
    /// Players are too far apart for the draws.
    pub fn new(elo: &[f64], anchor: bool, conditions: Conditions) -> Result<Field> {
        Field::of(elo, anchor, |_| conditions)
    }

    /// [`Field::new`] with fewer draws between players that are too far apart for them.
    pub(super) fn fitting(elo: &[f64], anchor: bool, conditions: Conditions) -> Result<Field> {
        Field::of(elo, anchor, |difference| possible(difference, conditions))
    }

    fn of(elo: &[f64], anchor: bool, conditions: impl Fn(f64) -> Conditions) -> Result<Field> {
        let elo: Vec<f64> = elo.iter().copied().chain(anchor.then_some(0.0)).collect();
        let differences = elo.iter().flat_map(|a| elo.iter().map(move |b| a - b));
        let pairs = differences
            .map(|difference| Pairs::new(difference, conditions(difference)))
            .collect::<Result<_>>()?;
        Ok(Field { elo, pairs })
    }

    /// Candidates that win a pair outright with these probabilities against the anchor: Bernoulli arms.
    #[cfg(test)]
    pub fn bernoulli(chances: &[f64]) -> Field {
        use patzer_stats::elo::elo_of;
        let coin = |p: f64| Pairs { chance: [1.0 - p, 0.0, 0.0, 0.0, p], elo: elo_of(p) };
        let elo: Vec<f64> = chances.iter().map(|p| elo_of(*p)).chain([0.0]).collect();
        let players = elo.len();
        let pairs =
            (0..players * players).map(|at| coin(*chances.get(at / players).unwrap_or(&0.5))).collect();
        Field { elo, pairs }
    }

    /// A copy with the candidates in another order, so that none wins ties by its place.
    fn shuffled(&self, candidates: usize, seed: u64) -> Field {
        let players = self.elo.len();
        let mut order: Vec<usize> = (0..candidates).collect();
        Rng::new(seed).shuffle(&mut order);
        order.extend(candidates..players);
        let pair = |at: usize| *self.pair([order[at / players], order[at % players]]);
        Field {
            elo: order.iter().map(|player| self.elo[*player]).collect(),
            pairs: (0..players * players).map(pair).collect(),
        }
    }

    pub(super) fn pair(&self, [a, b]: [usize; 2]) -> &Pairs {
        &self.pairs[a * self.elo.len() + b]
    }

    fn best(&self, candidates: usize) -> usize {
        super::strengths::argmax(self.elo[..candidates].iter().copied())
    }

    /// Score lost by a pair of this candidate against what the best candidate would have scored.
    fn regret(&self, settings: &RaceSettings, [a, b]: [usize; 2]) -> f64 {
        let best = self.best(settings.candidates);
        let mean = |pair: &Pairs| (0..5).map(|i| pair.chance[i] * i as f64 / 4.0).sum::<f64>();
        match settings.anchor() {
            Some(anchor) => mean(self.pair([best, anchor])) - mean(self.pair([a, anchor])),
            // Both play below the best, which scores one half against its like.
            None => 0.5 * (mean(self.pair([best, a])) + mean(self.pair([best, b]))) - 0.5,
        }
    }
}

/// One simulated race.
#[derive(Debug, Clone)]
pub struct Run {
    pub pairs: u64,
    /// The leader at the end is the best candidate, or within [`RaceSettings::within`] of it.
    pub found: bool,
    /// A bound of some difference was wrong after some batch.
    pub missed: bool,
    /// Pairs of each candidate.
    pub pulls: Vec<u64>,
    /// Leader right and regret after each number of pairs asked for.
    pub curve: Vec<(bool, f64)>,
}

/// Plays one race until its budget ends or its winner is known. Looks at it after these numbers of pairs.
pub fn play(settings: &RaceSettings, field: &Field, looks: &[u64], seed: u64) -> Run {
    let settings = RaceSettings { seed, ..*settings };
    let field = &field.shuffled(settings.candidates, mix(seed, 2));
    let mut planner = Planner::new(settings);
    let (plan, mut rng) = (planner.plan(), Rng::new(mix(seed, 1)));
    let truth = |i: usize, j: usize| field.elo[i] - field.elo[j];
    let bounded = settings.until_known || super::policy::needs_bounds(settings.policy);
    let best = field.best(settings.candidates);
    let right = |planner: &Planner| truth(best, planner.evidence().leader()) <= settings.within;
    let (mut pairs, mut regret, mut missed) = (0, 0.0, false);
    let mut pulls = vec![0; settings.players()];
    let mut curve = Vec::with_capacity(looks.len());
    while pairs < settings.budget && !planner.is_decided() {
        let Some(players) = plan.get(pairs as usize) else { break };
        planner.add(players, field.pair(players).draw(&mut rng));
        pairs += 1;
        regret += field.regret(&settings, players);
        players.iter().for_each(|player| pulls[*player] += 1);
        if bounded && pairs.is_multiple_of(settings.batch as u64) {
            let all = (0..settings.players()).flat_map(|i| (0..settings.players()).map(move |j| [i, j]));
            missed |= all.into_iter().any(|[i, j]| truth(i, j) > planner.evidence().upper([i, j]) + 1e-9);
        }
        while looks.get(curve.len()) == Some(&pairs) {
            curve.push((right(&planner), regret));
        }
    }
    Run { pairs, found: right(&planner), missed, pulls, curve }
}

/// Statistics of many simulated races.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Simulated {
    pub races: u64,
    /// Share of races whose winner is the best candidate, with its exact 95 % interval.
    pub found: f64,
    pub found_low: f64,
    pub found_high: f64,
    pub games: f64,
    pub games_median: u64,
    /// 95 % quantile of the number of games.
    pub games_95: u64,
    /// Share of races in which a bound was wrong at some time.
    pub missed: f64,
    /// Races over the budget without a known winner.
    pub undecided: u64,
    /// Games, share of races with the right leader, and mean regret in points.
    pub curve: Vec<(u64, f64, f64)>,
}

impl Simulated {
    /// Games from which on the leader is right with this probability, by interpolation.
    pub fn games_until(&self, probability: f64) -> Option<f64> {
        let last = self.curve.iter().rposition(|(_, found, _)| *found < probability)?;
        let (before, less, _) = self.curve[last];
        let (games, found, _) = *self.curve.get(last + 1)?;
        let part = (probability - less) / (found - less);
        Some(before as f64 + part * (games - before) as f64)
    }
}

/// Simulates many races on all threads; the seed alone decides the result.
pub fn simulate(settings: &RaceSettings, field: &Field, looks: &[u64], races: u64) -> Result<Simulated> {
    let one = |number: u64| {
        let stopped = interrupt::requested();
        (!stopped).then(|| play(settings, field, looks, mix(settings.seed, number)))
    };
    let runs: Option<Vec<Run>> = (0..races).into_par_iter().map(one).collect();
    let runs = runs.filter(|runs| !runs.is_empty()).ok_or_else(interrupt::error)?;
    let count = runs.len() as f64;
    let share = |of: &dyn Fn(&Run) -> bool| runs.iter().filter(|run| of(run)).count() as f64 / count;
    let found = share(&|run| run.found);
    let winners = runs.iter().filter(|run| run.found).count() as u64;
    let (found_low, found_high) = exact_proportion(winners, runs.len() as u64, 0.95);
    let mut pairs: Vec<u64> = runs.iter().map(|run| run.pairs).collect();
    pairs.sort_unstable();
    let quantile = |q: f64| 2 * pairs[((count * q) as usize).min(pairs.len() - 1)];
    let look = |(at, pairs): (usize, &u64)| {
        let reached: Vec<(bool, f64)> = runs.iter().filter_map(|run| run.curve.get(at).copied()).collect();
        let all = reached.len() as f64;
        let right = reached.iter().filter(|(right, _)| *right).count() as f64;
        // A pair has two points.
        let points = 2.0 * reached.iter().map(|(_, regret)| regret).sum::<f64>();
        (!reached.is_empty()).then_some((2 * pairs, right / all, points / all))
    };
    Ok(Simulated {
        races,
        found,
        found_low,
        found_high,
        games: 2.0 * pairs.iter().map(|pairs| *pairs as f64).sum::<f64>() / count,
        games_median: quantile(0.5),
        games_95: quantile(0.95),
        missed: share(&|run| run.missed),
        undecided: runs.iter().filter(|run| settings.until_known && run.pairs >= settings.budget).count()
            as u64,
        curve: looks.iter().enumerate().filter_map(look).collect(),
    })
}
