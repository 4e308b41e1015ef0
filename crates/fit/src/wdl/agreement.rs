//! Agreement of an engine's own chances (`UCI_ShowWDL`) with a fitted model.

use serde::Serialize;
use shakmaty::Chess;

use super::histogram::Observation;
use super::model::WdlModel;
use super::table::WdlTable;
use patzer_chess::fen;
use patzer_chess::score::{Score, is_mate};

/// Differences of an engine's chances from a model's, in percentage points.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Agreement {
    pub positions: u64,
    /// Left out: mates, and scores or rows beyond the model's data.
    pub left_out: u64,
    /// Mean of the engine's win, draw and loss minus the model's.
    pub mean: [f64; 3],
    pub mean_distance: [f64; 3],
    pub largest: Option<LargestDifference>,
}

#[derive(Debug, Clone, Serialize)]
pub struct LargestDifference {
    pub fen: String,
    pub score: Score,
    pub engine: [f64; 3],
    pub model: [f64; 3],
    #[serde(skip)]
    distance: f64,
}

/// A search of a position by the engine.
pub struct Answer {
    pub score: Option<Score>,
    /// Win, draw and loss in thousandths.
    pub wdl: Option<[u16; 3]>,
}

impl Agreement {
    /// Compares answers to positions with a model; the means are complete once all are seen. The first error ends it,
    /// and so does an answer without chances: `None`.
    pub fn of<'a, E>(
        (model, table): (&WdlModel, &WdlTable),
        positions: impl Iterator<Item = &'a (Chess, Observation)>,
        mut ask: impl FnMut(&Chess) -> Result<Answer, E>,
    ) -> Result<Option<Agreement>, E> {
        let mut agreement = Agreement::default();
        for (position, observation) in positions {
            let answer = ask(position)?;
            if !agreement.add((model, table), position, observation, &answer) {
                return Ok(None);
            }
        }
        let count = agreement.positions.max(1) as f64;
        agreement.mean.iter_mut().chain(&mut agreement.mean_distance).for_each(|sum| *sum /= count);
        Ok(Some(agreement))
    }

    /// Adds to the sums; false if the answer has no chances.
    fn add(
        &mut self,
        (model, table): (&WdlModel, &WdlTable),
        position: &Chess,
        observation: &Observation,
        answer: &Answer,
    ) -> bool {
        let row = table.bounds.by.row(observation);
        let score = answer.score.filter(|score| !is_mate(*score) && table.seen_rows().contains(&row));
        let Some(score) = score else {
            self.left_out += 1;
            return true;
        };
        let Some(wdl) = answer.wdl else { return false };
        let cp = f64::from(score) * table.bounds.unit(observation);
        if cp.abs() > f64::from(table.largest_score()) {
            self.left_out += 1;
            return true;
        }
        let engine = wdl.map(|share| f64::from(share) / 10.0);
        let model = model.chances(row.into(), cp).map(|share| 100.0 * share);
        let off: [f64; 3] = std::array::from_fn(|i| engine[i] - model[i]);
        self.positions += 1;
        for (i, off) in off.into_iter().enumerate() {
            self.mean[i] += off;
            self.mean_distance[i] += off.abs();
        }
        let distance = off.into_iter().map(f64::abs).fold(0.0, f64::max);
        if distance > self.largest.as_ref().map_or(0.0, |largest| largest.distance) {
            let fen = fen::text(position);
            self.largest = Some(LargestDifference { fen, score, engine, model, distance });
        }
        true
    }
}
