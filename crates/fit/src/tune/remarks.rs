//! Remarks on a fit: its prior, its scale, and the weights that its data do not determine.

use super::evidence::Evidence;
use super::fit::{Scale, TuneOutcome};
use super::judge::{Judgement, Verdict};
use super::model::{Model, Slot};
use super::standard_errors::{StandardErrors, describe};
use super::support::Support;
use super::traces::SplitTraces;
use super::values::TunedValues;
use patzer_io::number::{counted, grouped};

/// Weights named in a remark.
const NAMED: usize = 8;

/// Games below which a weight is weakly seen.
const WEAK: u64 = 10;

pub fn remarks(
    model: &Model,
    values: &TunedValues,
    outcome: &TuneOutcome,
    errors: Option<&StandardErrors>,
) -> Vec<String> {
    let mut remarks = Vec::new();
    remarks.extend(outcome.evidence.as_ref().map(|evidence| prior(evidence, outcome.parameters)));
    if outcome.share < 1.0 {
        remarks.push(format!(
            "the start has learnt from many more positions: weights take {:.1} % of the way to the optimum of these; \
             a given l2 loss takes all of it",
            100.0 * outcome.share
        ));
    }
    match outcome.scale {
        Scale::Fitted => {}
        Scale::Kept(factor) => remarks.push(format!(
            "scale kept: the tuned weights times {factor:.4} have the mean absolute evaluation of the initial ones"
        )),
        Scale::Impossible(reason) => {
            let about = |stretch: f64| {
                format!(
                    "; evaluations are {stretch:.3} times the start's in the mean, and a K of {:.4} about keeps them",
                    outcome.k * stretch
                )
            };
            let about = outcome.stretch.filter(|stretch| (stretch - 1.0).abs() > 0.02 && stretch.is_finite()).map(about);
            remarks.push(format!("scale not kept: {reason}{}", about.unwrap_or_default()));
        }
    }
    let free = |of: &dyn Fn(usize, &Slot) -> bool| -> Vec<usize> {
        let slots = model.slots.iter().enumerate();
        slots.filter(|(i, slot)| !slot.fixed && of(*i, slot)).map(|(i, _)| i).collect()
    };
    let name = |i: usize| model.slots[i].name.clone();
    let seen = |i: usize| values.support[i].positions;
    let dead = free(&|i, _| seen(i) == 0);
    if !dead.is_empty() {
        let names = named(&dead, name);
        let start = if matches!(outcome.scale, Scale::Kept(_)) { "start in that scale" } else { "start" };
        remarks.push(format!(
            "{} weights are never counted and keep their {start}: {names}",
            grouped(dead.len() as u64)
        ));
    }
    let weak = free(&|i, _| seen(i) > 0 && values.support[i].games < WEAK);
    if !weak.is_empty() {
        let names = named(&weak, |i| {
            let Support { positions, games, .. } = values.support[i];
            format!("{} ({})", name(i), seen_in(positions, games))
        });
        remarks.push(format!(
            "{} weights are seen in fewer than {WEAK} games: {names}",
            grouped(weak.len() as u64)
        ));
    }
    let bound = free(&|i, slot| slot.at_bound(values.after[i]).is_some());
    if !bound.is_empty() {
        let names = named(&bound, |i| format!("{} = {:.0}", name(i), values.after[i]));
        remarks.push(format!("{} weights are at a bound: {names}", bound.len()));
    }
    let moved = free(&|i, slot| is_implausible(slot.start, values.after[i]));
    if !moved.is_empty() {
        let names =
            named(&moved, |i| format!("{} {:.0} → {:.0}", name(i), model.slots[i].start, values.after[i]));
        remarks.push(format!(
            "large values change by more than 40 %: {names}: so do fits to other engines' games and to too few games; \
             a match decides"
        ));
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

/// Tests whether a value of the size of a piece, 100 and more, changes by more than 40 % of it.
fn is_implausible(start: f64, after: f64) -> bool {
    start.abs() >= 100.0 && (after - start).abs() > 0.4 * start.abs()
}

fn prior(evidence: &Evidence, parameters: usize) -> String {
    let mut deviations: Vec<f64> = evidence.deviations.values().copied().collect();
    deviations.sort_by(f64::total_cmp);
    let [first, middle, last] = [0, deviations.len() / 2, deviations.len() - 1].map(|i| deviations[i]);
    if evidence.effective == 0.0 {
        return format!(
            "L2 prior: a standard deviation of {first:.0} centipawns for every weight, as the fit ended before its data \
             could set it"
        );
    }
    let effective = evidence.effective;
    format!(
        "L2 prior by evidence: standard deviations of {first:.1} to {last:.1} centipawns by term, the median \
         {middle:.1}; the data determine {} of {} weights",
        grouped(effective.round() as u64),
        grouped(parameters as u64)
    )
}

fn named(slots: &[usize], name: impl Fn(usize) -> String) -> String {
    let names: Vec<String> = slots.iter().take(NAMED).map(|&i| name(i)).collect();
    names.join(", ") + if slots.len() > NAMED { ", …" } else { "" }
}

/// `1 position of 1 game`.
fn seen_in(positions: u64, games: u64) -> String {
    format!("{} of {}", counted(positions, "position"), counted(games, "game"))
}

/// Remark on a fit of many weights to few positions, by its held-out games.
pub fn few_data(traces: &SplitTraces, outcome: &TuneOutcome, judgement: Option<Judgement>) -> String {
    let SplitTraces { train, validation, .. } = traces;
    let games =
        |games: usize| if games > 0 { format!(" of {} games", grouped(games as u64)) } else { String::new() };
    let evidence = match outcome.validation_change {
        None => "no games are held out that could show what the weights are worth".to_string(),
        Some([change, error]) => format!(
            "{} positions{} that were held out: validation loss {change:+.5} ± {error:.5}, {}",
            grouped(validation.positions as u64),
            games(validation.games),
            match judgement.map(|judgement| judgement.verdict) {
                Some(Verdict::Worse) => "but worse on the engine's own games",
                _ if change + 2.0 * error < 0.0 => "better than before",
                _ => "no better than before beyond doubt",
            }
        ),
    };
    let positions = grouped(train.positions as u64);
    format!(
        "{} weights are tuned on {positions} positions{}; {evidence}",
        grouped(outcome.parameters as u64),
        games(train.games)
    )
}
