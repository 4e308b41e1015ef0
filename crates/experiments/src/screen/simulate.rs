//! Screens of changes of known effect: coverage of the intervals, wrong decisions, games.

use rayon::prelude::*;
use serde::Serialize;

use super::{Design, Planner, Standing};
use crate::possible::possible;
use patzer_chess::rng::{Rng, mix};
use patzer_io::error::{Error, Result};
use patzer_io::{Shard, interrupt};
use patzer_stats::Z95;
use patzer_stats::plan::{Conditions, Pairs};

/// One simulated screen.
#[derive(Debug, Clone, Default)]
struct Run {
    pairs: u64,
    /// 95 % intervals at the end that hold the effect.
    covered: u64,
    /// A bound was wrong after some batch.
    missed: bool,
    /// Changes kept that do not gain, or dropped that are worth it.
    wrong: u64,
    kept: u64,
    /// Changes decided.
    decided: u64,
    /// Squared errors of the estimates, and errors in the direction of the effect.
    squares: f64,
    beyond: f64,
    /// Errors in the direction of the effect of the unbiased estimates, and their intervals that hold.
    unbiased_beyond: f64,
    unbiased_covered: u64,
    /// Effects other than 0 whose plain and unbiased estimates are farther from 0.
    too_far: [u64; 2],
}

/// Statistics of many simulated screens.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Simulated {
    pub screens: u64,
    pub games: f64,
    /// Share of 95 % intervals that hold their effect, at the end.
    pub coverage: f64,
    /// Share of screens in which a bound was wrong at some time.
    pub missed: f64,
    /// Share of screens with a wrong decision.
    pub wrong: f64,
    /// Share of the changes that gain and are kept.
    pub kept: f64,
    /// Share of the changes that are decided.
    pub decided: f64,
    /// Root mean square error of the effects, Elo.
    pub error: f64,
    /// Mean error in the direction of the effect, Elo: the bias of stopping.
    pub bias: f64,
    /// Bias of the unbiased estimates, Elo, and the share of their 95 % intervals that hold.
    pub unbiased_bias: f64,
    pub unbiased_coverage: f64,
    /// Share of effects other than 0 whose estimate is farther from 0: half, without bias.
    pub too_far: f64,
    pub unbiased_too_far: f64,
}

/// Plays a screen of switches with these effects until the budget of pairs ends or all are decided.
fn play(design: &Design, elo: &[f64], budget: u64, asked: Conditions, seed: u64) -> Result<Run> {
    let mut planner = Planner::new(Design { seed: mix(seed, 0), ..design.clone() }, Shard::WHOLE);
    let (assigned, mut rng) = (planner.assigned(), Rng::new(mix(seed, 1)));
    let (mut pairs, mut missed) = (0, false);
    while pairs < budget && !planner.is_decided() {
        let Some(assignment) = assigned.get(pairs as usize) else { break };
        let [a, b] = &assignment.levels;
        let sides = elo.iter().zip(a.iter().zip(b));
        let difference: f64 = sides.map(|(elo, (a, b))| elo * (f64::from(*a) - f64::from(*b))).sum();
        planner.add(Pairs::new(difference, possible(difference, asked))?.draw(&mut rng));
        pairs += 1;
        if pairs.is_multiple_of(design.batch as u64) {
            missed |= elo.iter().enumerate().any(|(term, truth)| {
                let [low, high] = planner.bounds(term);
                *truth < low || *truth > high
            });
        }
    }
    planner.finish();
    let mut run = Run { pairs, missed, ..Run::default() };
    for (term, truth) in elo.iter().enumerate() {
        let (estimate, error) = planner.effects().effect(term);
        run.covered += u64::from((estimate - truth).abs() <= Z95 * error);
        let standing = planner.standings()[term];
        let is_wrong = match standing {
            Standing::Open => false,
            Standing::Kept => *truth <= 0.0,
            Standing::Dropped => *truth > design.worth,
        };
        run.wrong += u64::from(is_wrong);
        run.decided += u64::from(standing != Standing::Open);
        run.kept += u64::from(standing == Standing::Kept && *truth > 0.0);
        run.squares += (estimate - truth).powi(2);
        let beyond = |elo: f64| if *truth == 0.0 { 0.0 } else { (elo - truth) * truth.signum() };
        run.beyond += beyond(estimate);
        run.too_far[0] += u64::from(beyond(estimate) > 0.0);
        if let Some(unbiased) = planner.unbiased(term) {
            run.unbiased_beyond += beyond(unbiased.elo);
            run.too_far[1] += u64::from(beyond(unbiased.elo) > 0.0);
            run.unbiased_covered += u64::from(unbiased.low <= *truth && *truth <= unbiased.high);
        }
    }
    Ok(run)
}

/// Simulates many screens of switches on all threads; the seed of the design alone decides the result.
pub fn simulate(
    design: &Design,
    elo: &[f64],
    budget: u64,
    conditions: Conditions,
    screens: u64,
) -> Result<Simulated> {
    if design.terms().len() != elo.len() || elo.iter().any(|elo| !elo.is_finite()) {
        return Err(Error::usage("write the Elo of each change, such as 10,0,-5"));
    }
    Pairs::new(0.0, conditions)?;
    let one = |number: u64| {
        interrupt::check()?;
        play(design, elo, budget, conditions, mix(design.seed, number))
    };
    let runs: Vec<Run> = (0..screens).into_par_iter().map(one).collect::<Result<_>>()?;
    let (count, changes) = (runs.len() as f64, elo.len() as f64);
    let share = |of: &dyn Fn(&Run) -> bool| runs.iter().filter(|run| of(run)).count() as f64 / count;
    let sum = |of: &dyn Fn(&Run) -> f64| runs.iter().map(of).sum::<f64>();
    let effective = count * elo.iter().filter(|elo| **elo != 0.0).count().max(1) as f64;
    let gaining = elo.iter().filter(|elo| **elo > 0.0).count() as f64;
    Ok(Simulated {
        screens,
        games: 2.0 * sum(&|run| run.pairs as f64) / count,
        coverage: sum(&|run| run.covered as f64) / (count * changes),
        missed: share(&|run| run.missed),
        wrong: share(&|run| run.wrong > 0),
        kept: sum(&|run| run.kept as f64) / (count * gaining.max(1.0)),
        decided: sum(&|run| run.decided as f64) / (count * changes),
        error: (sum(&|run| run.squares) / (count * changes)).sqrt(),
        bias: sum(&|run| run.beyond) / effective,
        unbiased_bias: sum(&|run| run.unbiased_beyond) / effective,
        too_far: sum(&|run| run.too_far[0] as f64) / effective,
        unbiased_too_far: sum(&|run| run.too_far[1] as f64) / effective,
        unbiased_coverage: sum(&|run| run.unbiased_covered as f64) / (count * changes),
    })
}
