//! Fits over several seeds, with standard errors, spreads and remarks on what the data cannot identify.

use super::fit::{Scale, TuneOutcome, fit};
use super::judge::{Judgement, OwnPositions, judge};
use super::model::{Model, Slot};
use super::objective::Objective;
use super::remarks;
use super::settings::{LARGEST_MATRIX, Settings};
use super::standard_errors::{standard_errors, table};
use super::support::Support;
use super::traces::SplitTraces;
use super::tracker::{Epoch, FitEvent};
use super::values::TunedValues;
use patzer_io::error::{Error, Result};
use patzer_io::interrupt;

#[derive(Debug, Clone, PartialEq)]
pub struct RunSettings {
    /// The first seed is that of these settings.
    pub fit: Settings,
    /// Fits with consecutive seeds, for the spread of the values.
    pub seeds: u64,
    pub standard_errors: bool,
}

pub enum RunEvent<'a> {
    Loaded {
        seed: u64,
        traces: &'a SplitTraces,
    },
    Epoch {
        seed: u64,
        epoch: &'a Epoch,
    },
    /// The epochs of a fit begin again, with another L2 prior.
    Restart {
        seed: u64,
    },
    /// Name of a fit's present stage.
    Stage(&'static str),
    Fitted {
        seed: u64,
        outcome: &'a TuneOutcome,
    },
}

pub struct FittedRuns {
    pub outcome: TuneOutcome,
    pub positions: usize,
    pub validation_positions: usize,
    pub values: TunedValues,
    pub remarks: Vec<String>,
    /// Warning of a result from few data.
    pub warning: Option<String>,
    pub judgement: Option<Judgement>,
}

/// Fits by each seed and keeps the first fit; `own` are positions of the engine's own games to judge it by, whose
/// targets are scores alone.
pub fn fit_seeds(
    model: &Model,
    settings: &RunSettings,
    own: Option<&OwnPositions>,
    load: &mut dyn FnMut(u64) -> Result<SplitTraces>,
    progress: &mut dyn FnMut(RunEvent<'_>),
) -> Result<FittedRuns> {
    let mut first: Option<FittedRuns> = None;
    let mut runs: Vec<Vec<f64>> = Vec::new();
    for seed in settings.fit.seed..settings.fit.seed + settings.seeds {
        let traces = load(seed)?;
        progress(RunEvent::Loaded { seed, traces: &traces });
        let fitting = Settings { seed, ..settings.fit.clone() };
        let SplitTraces { space, train, validation } = &traces;
        let outcome = fit(model, space, train, validation, &fitting, &mut |event| {
            progress(match event {
                FitEvent::Epoch(epoch) => RunEvent::Epoch { seed, epoch },
                FitEvent::Restart => RunEvent::Restart { seed },
                FitEvent::Stage(name) => RunEvent::Stage(name),
            });
        })?;
        runs.push(outcome.values.clone());
        if first.is_some() {
            progress(RunEvent::Fitted { seed, outcome: &outcome });
            continue;
        }
        progress(RunEvent::Stage("standard errors"));
        let judgement = own.map(|own| judge(model, own, &outcome.values));
        let fitted = examine(model, &fitting, settings.standard_errors, &traces, outcome, judgement);
        progress(RunEvent::Fitted { seed, outcome: &fitted.outcome });
        first = Some(fitted);
    }
    // An interrupt cuts the passes over the positions short.
    interrupt::check()?;
    let mut fitted = first.ok_or_else(|| Error::usage("the number of seeds has to be above 0"))?;
    if runs.len() > 1 {
        fitted.values.spread = Some(spread(&runs));
    }
    Ok(fitted)
}

/// Positions per parameter below which a fit needs a warning, and standard errors are meaningless unless the
/// parameters are few.
const ENOUGH: usize = 10;

/// Parameters that are few enough for their errors to cost nothing.
const FEW: usize = 500;

fn examine(
    model: &Model,
    settings: &Settings,
    with_errors: bool,
    traces: &SplitTraces,
    outcome: TuneOutcome,
    judgement: Option<Judgement>,
) -> FittedRuns {
    let SplitTraces { space, train, validation } = traces;
    let parameters = space.parameters();
    let enough = parameters <= FEW || train.positions >= ENOUGH * parameters;
    let wanted = with_errors && enough && parameters <= LARGEST_MATRIX;
    let errors = wanted.then(|| {
        let factor = if let Scale::Kept(factor) = outcome.scale { factor } else { 1.0 };
        let strengths = outcome.evidence.iter().flat_map(|evidence| &evidence.prior);
        let prior: Vec<f64> = strengths.map(|strength| strength / (factor * factor)).collect();
        let l2 = settings.l2 / (factor * factor);
        let objective = Objective { traces: train, model, space, k: outcome.k, l2, prior: &prior };
        standard_errors(&objective, &space.parameters_of(&outcome.values))
    });
    let errors = errors.flatten();
    let mut support = vec![Support::default(); model.slots.len()];
    space.free.iter().zip(&outcome.support).for_each(|(&slot, found)| support[slot] = *found);
    let deviation = |slot: &Slot| outcome.evidence.as_ref()?.deviations.get(&table(&slot.name)).copied();
    let values = TunedValues {
        before: model.start(),
        after: outcome.values.clone(),
        errors: errors
            .as_ref()
            .map(|found| found.errors.iter().map(|error| error.map(|error| error * outcome.share)).collect()),
        spread: None,
        prior: model.slots.iter().map(deviation).collect(),
        support,
    };
    let mut remarks = remarks::remarks(model, &values, &outcome, errors.as_ref());
    if with_errors && errors.is_none() {
        remarks.push("no standard errors: too many weights, or too few positions for them".to_string());
    }
    let warning =
        (train.positions < ENOUGH * parameters).then(|| remarks::few_data(traces, &outcome, judgement));
    FittedRuns {
        positions: train.positions,
        validation_positions: validation.positions,
        values,
        outcome,
        remarks,
        warning,
        judgement,
    }
}

fn spread(runs: &[Vec<f64>]) -> Vec<f64> {
    let count = runs.len() as f64;
    (0..runs[0].len())
        .map(|slot| {
            let mean = runs.iter().map(|run| run[slot]).sum::<f64>() / count;
            (runs.iter().map(|run| (run[slot] - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt()
        })
        .collect()
}
