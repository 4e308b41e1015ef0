//! Judge of a fit: the loss against the engine's own scores, on positions of its own games. The loss on the fit's own
//! data falls whenever there are enough of them, whichever games they come from; this one rises where the evaluation
//! fits the engine's search and its positions worse.

use serde::Serialize;

use super::fit::change;
use super::model::Model;
use super::objective::Objective;
use super::traces::SplitTraces;
use crate::wdl;

/// Losses of the evaluation before and after a fit, each under the K that suits it best, so that no scale is favoured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Judgement {
    pub positions: usize,
    pub loss_before: f64,
    pub loss_after: f64,
    /// Standard error of the change over clusters of games.
    pub error: f64,
}

impl Judgement {
    /// The change of the loss is beyond two standard errors.
    pub fn verdict(&self) -> Verdict {
        match self.loss_after - self.loss_before {
            change if change > 2.0 * self.error => Verdict::Worse,
            change if change < -2.0 * self.error => Verdict::Better,
            _ => Verdict::Undecided,
        }
    }
}

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
    Judgement {
        positions: traces.train.positions,
        loss_before: before.loss(&start),
        loss_after: after.loss(&values),
        error,
    }
}
