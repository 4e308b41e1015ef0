//! Judge of a fit: the loss against the engine's own scores, on positions of its own games. The loss on the fit's own
//! data falls whenever there are enough of them, whichever games they come from; this one rises where the evaluation
//! fits the engine's search and its positions worse. Scores know nothing that the evaluation before did not, so a change
//! that they do not like counts as worse only if the results of these games do not like it either.

use std::fmt;

use serde::Serialize;

use super::fit::change;
use super::model::Model;
use super::objective::Objective;
use super::traces::SplitTraces;
use crate::wdl;
use patzer_io::number::grouped;

/// Losses of the evaluation before and after a fit, each under the K that suits it best, so that no scale is favoured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Judgement {
    pub positions: usize,
    pub loss_before: f64,
    pub loss_after: f64,
    /// Standard error of the change over clusters of games.
    pub error: f64,
    /// Change of the loss against the results of the games.
    pub results_change: f64,
    pub results_error: f64,
    pub verdict: Verdict,
}

/// Positions of an engine's own games on the training sides: with their scores as targets, and with their results.
pub struct OwnPositions {
    pub scores: SplitTraces,
    pub results: SplitTraces,
}

/// Better is a loss against scores that falls by more than two standard errors. Worse is one that rises by more than 0.001
/// and two standard errors, while that against results does not fall.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Better,
    Undecided,
    Worse,
}

/// Rise of the loss against scores that says something: an evaluation that is stronger than the one that made the scores
/// differs from them, too. Below it, fits of VICE were worth -8, +98 and +108 Elo (docs/engines.md).
const NOTED: f64 = 0.001;

/// Compares values with the start.
pub fn judge(model: &Model, own: &OwnPositions, values: &[f64]) -> Judgement {
    let [loss_before, loss_after, error] = compared(model, &own.scores, values);
    let [results_before, results_after, results_error] = compared(model, &own.results, values);
    let results_change = results_after - results_before;
    let verdict = match loss_after - loss_before {
        change if change > NOTED.max(2.0 * error) && results_change >= 0.0 => Verdict::Worse,
        change if change < -2.0 * error => Verdict::Better,
        _ => Verdict::Undecided,
    };
    let positions = own.scores.train.positions;
    Judgement { positions, loss_before, loss_after, error, results_change, results_error, verdict }
}

/// Losses of the start and of values, each under its best K, and the standard error of the change.
fn compared(model: &Model, traces: &SplitTraces, values: &[f64]) -> [f64; 3] {
    let [start, values] = [&model.start(), values].map(|values| traces.space.parameters_of(values));
    let objective = |parameters: &[f64]| {
        let objective =
            Objective { traces: &traces.train, model, space: &traces.space, k: 1.0, l2: 0.0, prior: &[] };
        Objective { k: wdl::best_k(&objective.scored(parameters)), ..objective }
    };
    let (before, after) = (objective(&start), objective(&values));
    let [_, error] = change(&before, &start, &after, &values);
    [before.loss(&start), after.loss(&values), error]
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Judgement { positions, loss_before, loss_after, error, results_change, results_error, verdict } =
            self;
        let verdict = match verdict {
            Verdict::Better => "better than the initial weights",
            Verdict::Undecided => "no difference beyond doubt",
            Verdict::Worse => "worse than the initial weights",
        };
        let (change, positions) = (loss_after - loss_before, grouped(*positions as u64));
        write!(
            f,
            "{loss_before:.7} → {loss_after:.7} ({change:+.7} ± {error:.7}) on {positions} positions of own games, \
             against their scores, and {results_change:+.7} ± {results_error:.7} against their results: {verdict}"
        )
    }
}
