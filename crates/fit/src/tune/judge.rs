//! Judge of a fit: the loss against the engine's own scores, on positions of its own games. The loss on the fit's own
//! data falls whenever there are enough of them, whichever games they come from; this one rises where the evaluation
//! fits the engine's search and its positions worse.

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
    pub verdict: Verdict,
}

/// Worse or better is a change of the loss beyond two standard errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Better,
    Undecided,
    Worse,
}

/// Compares values with the start on the training side of `traces`, whose targets are scores alone.
pub fn judge(model: &Model, traces: &SplitTraces, values: &[f64]) -> Judgement {
    let [start, values] = [&model.start(), values].map(|values| traces.space.parameters_of(values));
    let objective = |parameters: &[f64]| {
        let objective =
            Objective { traces: &traces.train, model, space: &traces.space, k: 1.0, l2: 0.0, prior: &[] };
        Objective { k: wdl::best_k(&objective.scored(parameters)), ..objective }
    };
    let (before, after) = (objective(&start), objective(&values));
    let [_, error] = change(&before, &start, &after, &values);
    let (loss_before, loss_after) = (before.loss(&start), after.loss(&values));
    let verdict = match loss_after - loss_before {
        change if change > 2.0 * error => Verdict::Worse,
        change if change < -2.0 * error => Verdict::Better,
        _ => Verdict::Undecided,
    };
    Judgement { positions: traces.train.positions, loss_before, loss_after, error, verdict }
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Judgement { positions, loss_before, loss_after, error, verdict } = self;
        let verdict = match verdict {
            Verdict::Better => "better than the initial weights",
            Verdict::Undecided => "no difference beyond doubt",
            Verdict::Worse => "worse than the initial weights",
        };
        let (change, positions) = (loss_after - loss_before, grouped(*positions as u64));
        write!(
            f,
            "{loss_before:.7} → {loss_after:.7} ({change:+.7} ± {error:.7}) on {positions} positions of own games, \
             against their scores: {verdict}"
        )
    }
}
