//! Tuning: from traces to the values of least validation loss, or of least training loss where no positions
//! are held out.

use std::time::Instant;

use super::evidence::{self, Evidence};
use super::model::{EvalPart, Model, Space};
use super::objective::Objective;
use super::settings::{LARGEST_MATRIX, Optimizer, Settings};
use super::support::{Support, support};
use super::traces::Traces;
use super::tracker::{FitEvent, Losses, Tracker};
use super::{first_order, lbfgs, second_order};
use crate::wdl;
use patzer_io::error::{Error, Hint, Result};
use patzer_io::interrupt;

/// Rescaling of the values to the mean absolute evaluation of the start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scale {
    /// Nobody asked.
    Fitted,
    /// Values times this factor, K divided by it.
    Kept(f64),
    /// The reason.
    Impossible(&'static str),
}

#[derive(Debug, Clone, PartialEq)]
pub struct TuneOutcome {
    pub values: Vec<f64>,
    pub k: f64,
    pub optimizer: Optimizer,
    pub before: Losses,
    pub exact: Losses,
    /// At the best values rounded to whole centipawns.
    pub rounded: Losses,
    pub epochs: usize,
    /// 0 if no epoch improved on the start.
    pub best_epoch: usize,
    /// Passes over the training positions for a gradient or matrix.
    pub passes: usize,
    pub parameters: usize,
    pub seconds: f64,
    /// Support by parameter.
    pub support: Vec<Support>,
    /// The L2 prior that the data set.
    pub evidence: Option<Evidence>,
    /// Share of the way from the start to the optimum that was taken, see [`Settings::start_positions`].
    pub share: f64,
    pub scale: Scale,
    /// Mean absolute evaluation of the fitted values over that of the start, if the scale was to be kept.
    pub stretch: Option<f64>,
    /// Change of the validation loss by the rounded values, and its standard error over games.
    pub validation_change: Option<[f64; 2]>,
    /// Training positions per second over all passes.
    pub positions_per_second: f64,
}

/// Tunes the free values of a model until no step helps, `epochs` are over or the validation loss has not fallen for
/// `patience` epochs; keeps the best values, which do not depend on the number of threads.
pub fn fit(
    model: &Model,
    space: &Space,
    train: &Traces,
    validation: &Traces,
    settings: &Settings,
    progress: &mut dyn FnMut(FitEvent<'_>),
) -> Result<TuneOutcome> {
    settings.validate()?;
    if train.positions == 0 {
        return Err(Error::input("there are no positions to tune on"));
    }
    if space.parameters() == 0 {
        return Err(Error::usage("every term is fixed, so there is nothing to tune"));
    }
    let bounded = space.is_bounded(model);
    let optimizer = settings.optimizer.resolve(space.parameters(), train.positions, bounded);
    if optimizer == Optimizer::Lbfgs && bounded {
        return Err(Error::usage("lbfgs cannot hold bounds; take gauss-newton or adam"));
    }
    let start = space.parameters_of(&model.start());
    let mut objective = Objective { traces: train, model, space, k: 1.0, l2: settings.l2, prior: &[] };
    objective.k = match settings.k {
        Some(k) => k,
        None => {
            let scored = objective.scored(&start);
            // After an interrupt the scores are 0, of which no K is to be fitted.
            interrupt::check()?;
            let fitted = wdl::fit_k(&scored);
            fitted.map_err(|e| Error::input(e.to_string()).hint(Hint::GiveK))?.k
        }
    };
    let validation =
        (validation.positions > 0).then_some(Objective { traces: validation, l2: 0.0, ..objective });
    let losses = |k: f64, parameters: &[f64]| Losses {
        train: Objective { k, ..objective }.loss(parameters),
        validation: validation.map(|validation| Objective { k, ..validation }.loss(parameters)),
    };
    let before = losses(objective.k, &start);
    let mut tracker = Tracker {
        validation,
        progress,
        patience: settings.patience,
        limit: settings.epochs.unwrap_or(optimizer.epochs()),
        best: start.clone(),
        best_loss: before.validation.unwrap_or(before.train),
        best_epoch: 0,
        epochs: 0,
        passes: 0,
    };
    let begun = Instant::now();
    let support = support(train, model, space);
    let evidence = if settings.evidence {
        let first = evidence::first(&objective, &support, before.train);
        Some(descend_by_evidence(&objective, &start, first, &support, optimizer, settings, &mut tracker)?)
    } else {
        descend(&objective, start.clone(), (optimizer, false), settings, &mut tracker)?;
        None
    };
    interrupt::check()?;
    let seconds = begun.elapsed().as_secs_f64();
    let (mut best, mut k) = (std::mem::take(&mut tracker.best), objective.k);
    let share = if settings.evidence { settings.share_of_new(train.positions) } else { 1.0 };
    best.iter_mut().zip(&start).for_each(|(value, start)| *value = start + share * (*value - start));
    let sizes =
        settings.keep_scale.then(|| [&start, &best].map(|values| objective.mean_absolute_score(values)));
    let scale = sizes.map_or(Scale::Fitted, |sizes| kept_scale(&objective, &best, sizes));
    if let Scale::Kept(factor) = scale {
        best.iter_mut().for_each(|value| *value *= factor);
        k /= factor;
    }
    let exact = losses(k, &best);
    let mut values = space.values(model, &best);
    if let Scale::Kept(factor) = scale {
        uncounted(model, space).for_each(|slot| values[slot] *= factor);
    }
    let rounded: Vec<f64> = best.iter().map(|value| value.round()).collect();
    Ok(TuneOutcome {
        k,
        optimizer,
        before,
        exact,
        rounded: losses(k, &rounded),
        validation_change: validation
            .map(|validation| change(&validation, &start, &Objective { k, ..validation }, &rounded)),
        values,
        epochs: tracker.epochs,
        best_epoch: tracker.best_epoch,
        passes: tracker.passes,
        parameters: space.parameters(),
        seconds,
        positions_per_second: (tracker.passes * train.positions) as f64 / seconds.max(1e-9),
        support,
        evidence,
        share,
        scale,
        stretch: sizes.map(|[before, after]| after / before),
    })
}

fn descend(
    objective: &Objective<'_>,
    start: Vec<f64>,
    (optimizer, rough): (Optimizer, bool),
    settings: &Settings,
    tracker: &mut Tracker<'_>,
) -> Result<Vec<f64>> {
    match optimizer {
        Optimizer::Auto | Optimizer::GaussNewton | Optimizer::Newton => {
            let newton = optimizer == Optimizer::Newton;
            return Ok(second_order::run(objective, start, (newton, rough), tracker));
        }
        Optimizer::Lbfgs => lbfgs::run(objective, start, tracker)?,
        Optimizer::Adam | Optimizer::Adagrad | Optimizer::Sgd => {
            first_order::run(objective, start, optimizer, settings, tracker)?;
        }
    }
    Ok(tracker.best.clone())
}

/// Fits with a first L2 prior, estimates the one that suits the values, and fits with it. An estimate needs an
/// optimum, so that a matrix method finds it for first-order ones too; these then go on from the start.
fn descend_by_evidence(
    objective: &Objective<'_>,
    start: &[f64],
    first: Evidence,
    support: &[Support],
    optimizer: Optimizer,
    settings: &Settings,
    tracker: &mut Tracker<'_>,
) -> Result<Evidence> {
    let (mut evidence, mut here) = (first, start.to_vec());
    let start_loss = tracker.best_loss;
    let small = start.len() <= LARGEST_MATRIX;
    let method = match optimizer {
        Optimizer::Newton => Optimizer::Newton,
        _ if small => Optimizer::GaussNewton,
        other => other,
    };
    let mut limit = tracker.limit;
    if !method.first_order() {
        let with_prior = Objective { prior: &evidence.prior, ..*objective };
        if method != optimizer {
            tracker.limit = method.epochs();
        }
        here = descend(&with_prior, here, (method, true), settings, tracker)?;
        if tracker.is_done() {
            return Ok(evidence);
        }
        tracker.stage("prior");
        let found = evidence::estimate(&with_prior, &here, support);
        if interrupt::requested() {
            return Ok(evidence);
        }
        evidence = found;
    }
    if method == optimizer {
        limit -= tracker.epochs;
    } else {
        here = start.to_vec();
    }
    let with_prior = Objective { prior: &evidence.prior, ..*objective };
    tracker.restart(start, start_loss, limit);
    here = descend(&with_prior, here, (optimizer, false), settings, tracker)?;
    if tracker.epochs == 0 {
        // The last fit was at the optimum of this prior already.
        tracker.epoch(&here, with_prior.gradient(&here).0, 0.0);
    }
    Ok(evidence)
}

/// Largest share of an evaluation that fixed terms and constants may have where its scale is kept: the remainders of
/// numeric traces, a tempo.
const OUTSIDE: f64 = 0.05;

/// The factor between the mean absolute evaluations of the best values and of the start, if it changes the loss little.
fn kept_scale(objective: &Objective<'_>, best: &[f64], [before, after]: [f64; 2]) -> Scale {
    let (model, space) = (objective.model, objective.space);
    if model.features.iter().any(|feature| feature.part == EvalPart::Safety) {
        return Scale::Impossible("a non-linear part does not scale");
    }
    let outside = objective.mean_absolute_score(&vec![0.0; best.len()]);
    if outside > OUTSIDE * after {
        return Scale::Impossible("fixed terms and constants do not scale");
    }
    let factor = (after / before).recip();
    if !(factor.is_finite() && factor > 0.0) {
        return Scale::Impossible("the evaluation before or after is 0 everywhere");
    }
    let counted = space.free.iter().copied().zip(best.iter().copied());
    let mut all = counted.chain(uncounted(model, space).map(|slot| (slot, model.slots[slot].start)));
    let within = |(slot, value): (usize, f64)| {
        let [low, high] = model.slots[slot].bounds;
        (low..=high).contains(&(value * factor))
    };
    if !all.all(within) {
        return Scale::Impossible("a weight would pass its bound");
    }
    Scale::Kept(factor)
}

/// Slots that are not fixed and that no position counts; a kept scale is theirs too.
fn uncounted<'a>(model: &'a Model, space: &'a Space) -> impl Iterator<Item = usize> + 'a {
    (0..model.slots.len())
        .filter(|&slot| !model.slots[slot].fixed && space.free.binary_search(&slot).is_err())
}

/// Change of the loss between two sets of values, and its standard error over clusters of games.
pub(super) fn change(
    before: &Objective<'_>,
    start: &[f64],
    after: &Objective<'_>,
    values: &[f64],
) -> [f64; 2] {
    let total = before.traces.total_weight().max(f64::MIN_POSITIVE);
    let (a, b) = (before.group_losses(start), after.group_losses(values));
    let changes: Vec<f64> = a.iter().zip(&b).map(|(a, b)| (b - a) / total).collect();
    let (sum, clusters) = (changes.iter().sum::<f64>(), before.traces.clusters() as f64);
    let squares = changes.iter().map(|change| change * change).sum::<f64>() - sum * sum / clusters;
    [sum, (squares.max(0.0) * clusters / (clusters - 1.0).max(1.0)).sqrt()]
}
