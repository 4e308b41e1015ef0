//! Fits over several seeds, with standard errors, spreads and remarks on what the data cannot identify.

use super::fit::{Epoch, Outcome, fit};
use super::model::Model;
use super::objective::Objective;
use super::settings::{LARGEST_MATRIX, Settings};
use super::standard_errors::{StandardErrors, describe, seen, standard_errors};
use super::traces::SplitTraces;
use super::values::TunedValues;
use patzer_io::error::{Error, Result};

#[derive(Debug, Clone, PartialEq)]
pub struct RunSettings {
    /// The first seed is that of these settings.
    pub fit: Settings,
    /// Fits with consecutive seeds, for the spread of the values.
    pub seeds: u64,
    pub standard_errors: bool,
}

pub enum RunEvent<'a> {
    Loaded { seed: u64, traces: &'a SplitTraces },
    Epoch { seed: u64, epoch: &'a Epoch },
    Fitted { seed: u64, outcome: &'a Outcome },
}

pub struct FittedRuns {
    pub outcome: Outcome,
    pub positions: usize,
    pub validation_positions: usize,
    pub values: TunedValues,
    pub remarks: Vec<String>,
}

pub fn fit_seeds(
    model: &Model,
    settings: &RunSettings,
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
        let outcome = fit(model, space, train, validation, &fitting, &mut |epoch| {
            progress(RunEvent::Epoch { seed, epoch });
        })?;
        progress(RunEvent::Fitted { seed, outcome: &outcome });
        runs.push(outcome.values.clone());
        if first.is_none() {
            first = Some(examine(model, &fitting, settings.standard_errors, &traces, outcome));
        }
    }
    let mut fitted = first.ok_or_else(|| Error::usage("--seeds has to be above 0"))?;
    if runs.len() > 1 {
        fitted.values.spread = Some(spread(&runs));
    }
    Ok(fitted)
}

/// Positions per parameter below which standard errors are meaningless, unless the parameters are few.
const ENOUGH: usize = 10;

/// Parameters that are few enough for their errors to cost nothing.
const FEW: usize = 500;

fn examine(
    model: &Model,
    settings: &Settings,
    with_errors: bool,
    traces: &SplitTraces,
    outcome: Outcome,
) -> FittedRuns {
    let SplitTraces { space, train, validation } = traces;
    let counts = seen(model, space, &train.seen(space.kept.len()));
    let parameters = space.parameters();
    let enough = parameters <= FEW || train.positions >= ENOUGH * parameters;
    let errors = (with_errors && enough && parameters <= LARGEST_MATRIX).then(|| {
        let objective = Objective { traces: train, model, space, k: outcome.k, l2: settings.l2_prior(train) };
        standard_errors(&objective, &space.parameters_of(&outcome.values))
    });
    let mut remarks = remarks(model, &counts, errors.as_ref());
    if with_errors && errors.is_none() {
        remarks.push("no standard errors: too many weights, or too few positions for them".to_string());
    }
    FittedRuns {
        positions: train.positions,
        validation_positions: validation.positions,
        values: TunedValues {
            before: model.start(),
            after: outcome.values.clone(),
            errors: errors.map(|found| found.errors),
            spread: None,
            seen: counts,
        },
        outcome,
        remarks,
    }
}

const NAMED: usize = 8;

fn remarks(model: &Model, counts: &[u64], errors: Option<&StandardErrors>) -> Vec<String> {
    let mut remarks = Vec::new();
    let dead: Vec<&str> = (model.slots.iter().zip(counts))
        .filter(|(slot, count)| !slot.fixed && **count == 0)
        .map(|(slot, _)| slot.name.as_str())
        .collect();
    if !dead.is_empty() {
        let more = if dead.len() > NAMED { ", …" } else { "" };
        let names = dead[..dead.len().min(NAMED)].join(", ");
        remarks.push(format!("{} weights are never counted and keep their start: {names}{more}", dead.len()));
    }
    let Some(errors) = errors else { return remarks };
    for combination in errors.nullspace.iter().take(NAMED) {
        remarks.push(format!("the data cannot tell: {}", describe(model, combination)));
    }
    if errors.nullspace.len() > NAMED {
        remarks.push(format!("and {} more combinations", errors.nullspace.len() - NAMED));
    }
    remarks
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
