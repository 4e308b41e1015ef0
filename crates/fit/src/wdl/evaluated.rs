//! Scores by static evaluation, for fitting K to an evaluation.

use rayon::prelude::*;

use super::source::Scored;
use patzer_chess::packed::NO_EP;
use patzer_data::Record;
use patzer_eval::{Evaluation, Evaluator, with_evaluator};
use patzer_prepare::leaf::fit_target;

/// Static evaluations of the positions, or of their leaves if `resolved`; none where the game is over.
pub fn evaluated(records: &[Record], evaluation: &Evaluation, resolved: bool) -> Vec<Scored> {
    with_evaluator!(evaluation, evaluator => evaluated_by(records, &evaluator, resolved))
}

fn evaluated_by<E: Evaluator + Sync>(records: &[Record], evaluator: &E, resolved: bool) -> Vec<Scored> {
    const CHUNK: usize = 4096;
    let of_chunk = |chunk: &[Record]| -> Vec<Scored> {
        let mut evaluator = evaluator.clone();
        let evaluate = |record: &Record| {
            let (board, turn) = fit_target(record, resolved).ok()?;
            let score = evaluator.evaluate(&board.unpack(turn, NO_EP, 0, 1)?, 0);
            Scored::of(record, turn, score)
        };
        chunk.iter().filter_map(evaluate).collect()
    };
    records.par_chunks(CHUNK).flat_map_iter(of_chunk).collect()
}
