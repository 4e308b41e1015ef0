//! A network as the teacher of another: its evaluation of the position that a fit sees, in place of the record's score.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use serde::Serialize;

use crate::leaf::{fit_target, halfmoves_at};
use patzer_data::{Record, flags};
use patzer_eval::nnue::{Network, Nnue};
use patzer_eval::stockfish::{self, Stockfish};
use patzer_eval::{BoardEvaluator, Evaluation};
use patzer_io::error::{Error, Result};

/// A large network, say, for the scores that a small one learns.
#[derive(Debug, Clone, Serialize)]
pub struct NetworkTeacher {
    #[serde(serialize_with = "patzer_io::path_text")]
    path: PathBuf,
    sha256: String,
    #[serde(skip)]
    network: TeacherNetwork,
}

#[derive(Debug, Clone)]
enum TeacherNetwork {
    Own(Arc<Network>),
    Stockfish(Arc<stockfish::Network>),
}

/// Positions that a thread evaluates at a time.
const CHUNK: usize = 1 << 10;

impl NetworkTeacher {
    /// A teacher by the evaluation of a file with its SHA-256, or built in and named.
    ///
    /// # Errors
    /// The evaluation is not a network.
    pub fn new(path: &Path, evaluation: Evaluation, sha256: String) -> Result<NetworkTeacher> {
        let network = match evaluation {
            Evaluation::Nnue(network) => TeacherNetwork::Own(network),
            Evaluation::Stockfish(network) => TeacherNetwork::Stockfish(network),
            Evaluation::Hce(_) => {
                return Err(Error::data(path, "is not a network, which a teacher has to be"));
            }
        };
        Ok(NetworkTeacher { path: path.to_path_buf(), sha256, network })
    }

    /// Replaces the scores: by the evaluation of the leaf where the records are resolved, else of the position itself,
    /// in centipawns for the side to move of the record. Records without a position to fit keep theirs.
    pub fn score(&self, records: &mut [Record], resolved: bool) {
        match &self.network {
            TeacherNetwork::Own(network) => score_by(records, resolved, || Nnue::new(network.clone())),
            TeacherNetwork::Stockfish(network) => {
                score_by(records, resolved, || Stockfish::new(network.clone()));
            }
        }
    }
}

fn score_by<E: BoardEvaluator>(records: &mut [Record], resolved: bool, new: impl Fn() -> E + Send + Sync) {
    records.par_chunks_mut(CHUNK).for_each_init(new, |evaluator, chunk| {
        chunk.iter_mut().for_each(|record| score(evaluator, record, resolved));
    });
}

fn score(evaluator: &mut impl BoardEvaluator, record: &mut Record, resolved: bool) {
    let Ok((packed, turn)) = fit_target(record, resolved) else { return };
    let Some(board) = packed.board() else { return };
    let score = evaluator.evaluate_board(&board, halfmoves_at(record, &packed), turn, 0) as i16;
    record.score = Some(if turn == record.turn { score } else { -score });
    record.depth = None;
    record.flags &= !(flags::MATE_SCORE | flags::PLACEHOLDER);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labelled_cache::qsearch;
    use crate::leaf::label;
    use patzer_chess::PackedBoard;
    use patzer_chess::packed::NO_EP;
    use patzer_chess::testing::along_random_games;
    use patzer_eval::Evaluator;
    use patzer_formats::native::columns::EMPTY;
    use shakmaty::{Chess, FromSetup, Position};
    use std::sync::atomic::AtomicBool;

    #[test]
    fn scores_are_the_evaluations_of_what_a_fit_sees() {
        let mut records = Vec::new();
        along_random_games(6, 3, 80, |position| {
            let board = PackedBoard::pack(position);
            let flags = flags::MATE_SCORE;
            let score = Some(31_990);
            let turn = position.turn();
            records.push(Record { board, turn, ep: NO_EP, score, flags, ..EMPTY });
        });
        label(&mut records, &qsearch(), &AtomicBool::new(false), &|_| {}).unwrap();
        let network = Arc::new(Network::embedded());
        let teacher =
            NetworkTeacher::new(Path::new(""), Evaluation::Nnue(network.clone()), String::new()).unwrap();
        for resolved in [false, true] {
            let (mut scored, mut other) = (records.clone(), 0);
            teacher.score(&mut scored, resolved);
            for (before, record) in records.iter().zip(&scored) {
                let Ok((board, turn)) = fit_target(before, resolved) else {
                    assert_eq!(record, before);
                    continue;
                };
                let mut setup = shakmaty::Setup::empty();
                (setup.board, setup.turn) = (board.board().unwrap(), turn);
                let position = Chess::from_setup(setup, shakmaty::CastlingMode::Standard).unwrap();
                let score = Nnue::new(network.clone()).evaluate(&position, 0) as i16;
                assert_eq!(record.score, Some(if turn == before.turn { score } else { -score }));
                assert!(!record.has(flags::MATE_SCORE));
                other += usize::from(board != before.board);
            }
            assert_eq!(other > 20, resolved, "{other}");
        }
    }
}
