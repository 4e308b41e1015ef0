//! Two static evaluations on the same scored positions.

use rayon::prelude::*;
use serde::Serialize;
use shakmaty::{Chess, EnPassantMode, FromSetup, Position, Setup};

use super::games::MatchMove;
use super::sample::{ScoredMove, circumstances};
use patzer_chess::score::{Score, is_mate};
use patzer_eval::{Evaluation, Evaluator, with_evaluator};
use patzer_pgn::{MoveInfo, Record, flags};

/// Mean distance of an evaluation from itself on an equal position, centipawns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Symmetry {
    /// With the colours exchanged: 0 for any right evaluation.
    pub colours: f64,
    /// Mirrored from left to right, castling lost: 0 for a network with mirrored inputs.
    pub mirror: f64,
}

/// Tests for a position whose static evaluation can agree with its score: quiet, and no mate.
pub fn is_comparable(record: &Record) -> bool {
    let noisy = flags::CAPTURE | flags::PROMOTION | flags::IN_CHECK;
    record.flags & noisy == 0 && record.score.is_some_and(|score| !is_mate(score.into()))
}

/// Evaluates records with scores by two evaluations, which take the places of the two players.
pub fn evaluated_moves(records: &[Record], evaluations: [&Evaluation; 2]) -> Vec<ScoredMove> {
    let chunk = |records: &[Record]| -> Vec<ScoredMove> {
        let scores =
            evaluations.map(|evaluation| with_evaluator!(evaluation, evaluator => all(evaluator, records)));
        let both = |(index, record): (usize, &Record)| {
            let (position, reference) = record.position().zip(record.score)?;
            let played = MatchMove { record: *record, info: MoveInfo::default() };
            let circumstances = circumstances(&position, &played, reference.into());
            Some([0, 1].map(|player: usize| ScoredMove {
                game: record.game as usize,
                number: record.ply.into(),
                player,
                reference: reference.into(),
                score: scores[player][index],
                loss: None,
                speed: None,
                circumstances,
            }))
        };
        records.iter().enumerate().filter_map(both).flatten().collect()
    };
    records.par_chunks(1024).map(chunk).collect::<Vec<_>>().into_iter().flatten().collect()
}

fn all(mut evaluator: impl Evaluator, records: &[Record]) -> Vec<Option<Score>> {
    records.iter().map(|record| Some(evaluator.evaluate(&record.position()?, 0))).collect()
}

/// Measures the symmetries of an evaluation.
pub fn symmetry(records: &[Record], evaluation: &Evaluation) -> Symmetry {
    with_evaluator!(evaluation, mut evaluator => {
        let mut apart = |changed: &dyn Fn(&Record, &Chess) -> Option<Chess>| {
            let distances: Vec<f64> = records
                .iter()
                .filter_map(|record| {
                    let position = record.position()?;
                    let changed = changed(record, &position)?;
                    let difference = evaluator.evaluate(&position, 0) - evaluator.evaluate(&changed, 0);
                    Some(f64::from(difference.abs()))
                })
                .collect();
            distances.iter().sum::<f64>() / distances.len().max(1) as f64
        };
        Symmetry { colours: apart(&exchanged), mirror: apart(&mirrored) }
    })
}

/// The position with the colours exchanged.
fn exchanged(_: &Record, position: &Chess) -> Option<Chess> {
    let setup: Setup = position.to_setup(EnPassantMode::Legal).into_mirrored();
    Chess::from_setup(setup, position.castles().mode()).ok()
}

/// The position mirrored from left to right; none where somebody may castle.
fn mirrored(record: &Record, _: &Chess) -> Option<Chess> {
    let board = record.board.mirrored()?;
    board.unpack(record.turn, patzer_chess::packed::NO_EP, record.halfmove.into(), record.fullmove.into())
}
