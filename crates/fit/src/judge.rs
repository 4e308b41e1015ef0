//! Evaluations in an order without games: their losses against the scores and the results of the same positions, best of
//! an engine's own games, each under the K that suits it best, so that no scale is favoured.

use rayon::prelude::*;
use serde::Serialize;

use crate::wdl;
use patzer_chess::score::expected_score;
use patzer_eval::{Evaluation, Evaluator, with_evaluator};
use patzer_io::error::{Error, Result};
use patzer_pgn::Record;

/// Losses of an evaluation: mean squared errors of expected scores.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Losses {
    /// Against the scores.
    pub loss: f64,
    /// Less the loss of the first evaluation, and the standard error of that over games.
    pub change: f64,
    pub error: f64,
    /// Against the results, likewise.
    pub results_loss: f64,
    pub results_change: f64,
    pub results_error: f64,
    /// K at which the evaluation fits the results best.
    pub k: f64,
}

/// Positions with scores and results by which evaluations are judged.
pub struct Measure {
    records: Vec<Record>,
    /// Expected score of each position's score.
    scores: Vec<f32>,
    results: Vec<f32>,
    /// K of the scores.
    pub k: f64,
}

impl Measure {
    /// # Errors
    /// No record has both a score and a result.
    pub fn new(records: Vec<Record>) -> Result<Measure> {
        let mut records = records;
        records.retain(|record| record.score.is_some());
        if records.is_empty() {
            return Err(Error::input("no position has a score"));
        }
        records.sort_by_key(|record| record.game);
        let result =
            |record: &Record| 0.5 + 0.5 * f32::from(record.turn.fold_wb(record.result, -record.result));
        let results: Vec<f32> = records.iter().map(result).collect();
        let scores: Vec<f32> = records.iter().filter_map(|record| record.score).map(f32::from).collect();
        let k = wdl::best_k(&joined(&scores, &results));
        let scores = scores.into_iter().map(|score| expected_score(score.into(), k) as f32).collect();
        Ok(Measure { records, scores, results, k })
    }

    pub fn positions(&self) -> usize {
        self.records.len()
    }

    /// Judges evaluations; the first is the base of the changes.
    pub fn judge(&self, evaluations: &[Evaluation]) -> Vec<Losses> {
        let all: Vec<[Errors; 2]> = evaluations.iter().map(|evaluation| self.errors(evaluation)).collect();
        let Some([base_scores, base_results]) = all.first() else { return Vec::new() };
        let judged = |[scores, results]: &[Errors; 2]| {
            let ([change, error], [results_change, results_error]) =
                (self.change(base_scores, scores), self.change(base_results, results));
            let (loss, results_loss) = (scores.mean(), results.mean());
            Losses { loss, change, error, results_loss, results_change, results_error, k: results.k }
        };
        all.iter().map(judged).collect()
    }

    /// Squared errors against scores and results.
    fn errors(&self, evaluation: &Evaluation) -> [Errors; 2] {
        let chunk = |records: &[Record]| -> Vec<f32> {
            with_evaluator!(evaluation, evaluator => values(evaluator, records))
        };
        let values: Vec<f32> = self.records.par_chunks(1024).map(chunk).flatten_iter().collect();
        [&self.scores, &self.results].map(|targets| {
            let pairs = joined(&values, targets);
            let k = wdl::best_k(&pairs);
            let square =
                |&(value, target): &(f32, f32)| (expected_score(value.into(), k) - f64::from(target)).powi(2);
            Errors { k, squares: pairs.iter().map(square).collect() }
        })
    }

    /// Mean change of squared errors, and its standard error with a game as one observation.
    fn change(&self, base: &Errors, other: &Errors) -> [f64; 2] {
        let count = self.records.len() as f64;
        let changes = base.squares.iter().zip(&other.squares).map(|(base, other)| (other - base) / count);
        let changes: Vec<f64> = changes.collect();
        let sum: f64 = changes.iter().sum();
        let (mut games, mut squares, mut at) = (0.0, 0.0, 0);
        for game in self.records.chunk_by(|a, b| a.game == b.game) {
            let of_game: f64 = changes[at..at + game.len()].iter().sum();
            squares += of_game * of_game;
            at += game.len();
            games += 1.0;
        }
        let squares: f64 = squares - sum * sum / games;
        [sum, (squares.max(0.0) * games / (games - 1.0_f64).max(1.0)).sqrt()]
    }
}

struct Errors {
    k: f64,
    squares: Vec<f64>,
}

impl Errors {
    fn mean(&self) -> f64 {
        self.squares.iter().sum::<f64>() / self.squares.len() as f64
    }
}

fn joined(values: &[f32], targets: &[f32]) -> Vec<(f32, f32)> {
    values.iter().copied().zip(targets.iter().copied()).collect()
}

/// Centipawns for the side to move.
fn values(mut evaluator: impl Evaluator, records: &[Record]) -> Vec<f32> {
    let value =
        |record: &Record| record.position().map_or(0.0, |position| evaluator.evaluate(&position, 0) as f32);
    records.iter().map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::packed::{NO_EP, PackedBoard};
    use patzer_chess::rng::Rng;
    use patzer_eval::nnue::material;
    use patzer_formats::EMPTY;
    use shakmaty::Position;

    /// Games of random moves, scored by an evaluation with noise, and with results that it predicts.
    fn scored(evaluation: &Evaluation, noise: f64) -> Vec<Record> {
        let mut rng = Rng::new(5);
        let mut records = Vec::new();
        for game in 0..200 {
            let first = records.len();
            let mut position = shakmaty::Chess::default();
            for ply in 0..60 {
                let moves = position.legal_moves();
                let Some(m) = (!moves.is_empty()).then(|| moves[rng.below(moves.len())]) else { break };
                position.play_unchecked(m);
                let board = PackedBoard::pack(&position);
                let mut record = Record { board, turn: position.turn(), ep: NO_EP, game, ply, ..EMPTY };
                let value = with_evaluator!(evaluation, evaluator => values(evaluator, &[record]))[0];
                record.score = Some((f64::from(value) + noise * rng.normal()) as i16);
                records.push(record);
            }
            let last = &records[records.len() - 1];
            let white = last.turn.fold_wb(1, -1) * i32::from(last.score.unwrap_or(0));
            let result = i8::from(rng.unit() < expected_score(white.into(), 1.5)) * 2 - 1;
            records[first..].iter_mut().for_each(|record| record.result = result);
        }
        records
    }

    #[test]
    fn the_evaluation_that_made_the_scores_is_first_and_its_scale_does_not_matter() {
        let right = Evaluation::default();
        let wrong = Evaluation::Nnue(material::network(16).unwrap().into());
        let measure = Measure::new(scored(&right, 20.0)).unwrap();
        let judged = measure.judge(&[right.clone(), wrong, right]);
        assert!(judged[0].change == 0.0 && judged[2].change == 0.0, "{judged:?}");
        assert!(judged[1].change > 5.0 * judged[1].error && judged[1].error > 0.0, "{judged:?}");
        assert!(judged[1].results_change > 0.0, "{judged:?}");
        assert!(Measure::new(Vec::new()).is_err());
    }
}
