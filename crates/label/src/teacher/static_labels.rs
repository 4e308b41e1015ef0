//! Labels by a static evaluation, of a network or by hand, or by the quiescence search with it.

use std::sync::atomic::Ordering;

use super::answer::Answer;
use super::blocks::{legal, not_legal};
use super::pool::{Block, Labeller, Labels};
use patzer_chess::score::Score;
use patzer_data::{Record, Wdl};
use patzer_engine::{LeafSearch, leaf_search};
use patzer_eval::hce::Hce;
use patzer_eval::nnue::Nnue;
use patzer_eval::stockfish::Stockfish;
use patzer_eval::{BoardEvaluator, Evaluation, Evaluator};
use patzer_io::error::Result;
use shakmaty::Board;

/// Positions of a block: a fraction of a millisecond of work, and small enough for many pieces of a small dataset.
pub const STATIC_BLOCK: usize = 256;

/// A static evaluation that answers without a search.
pub struct StaticTeacher<'a> {
    pub evaluation: &'a Evaluation,
    /// Answer with the score of the quiescence search in place of the evaluation of the position itself.
    pub resolve: bool,
}

impl StaticTeacher<'_> {
    /// A labeller with accumulators of its own; the weights are shared.
    pub fn labeller(&self) -> impl Labeller + use<> {
        StaticLabeller::new(self)
    }
}

enum StaticLabeller {
    Hce(Box<Hce>),
    Nnue(Box<Nnue>),
    Stockfish(Box<Stockfish>),
    Quiescence(Box<dyn LeafSearch>),
}

impl StaticLabeller {
    fn new(teacher: &StaticTeacher) -> StaticLabeller {
        match teacher.evaluation {
            evaluation if teacher.resolve => StaticLabeller::Quiescence(leaf_search(evaluation)),
            Evaluation::Hce(weights) => StaticLabeller::Hce(Box::new(Hce::new(weights.clone()))),
            Evaluation::Nnue(network) => StaticLabeller::Nnue(Box::new(Nnue::new(network.clone()))),
            Evaluation::Stockfish(network) => {
                StaticLabeller::Stockfish(Box::new(Stockfish::new(network.clone())))
            }
        }
    }

    fn answer(&mut self, record: &Record) -> Result<Answer> {
        Ok(match self {
            StaticLabeller::Hce(hce) => of_score(hce.evaluate(&legal(record)?, 0)),
            StaticLabeller::Quiescence(search) => of_score(search.quiescence_score(&legal(record)?)),
            StaticLabeller::Stockfish(stockfish) => {
                of_score(stockfish.evaluate_board(&board(record)?, record.halfmove, record.turn, 0))
            }
            StaticLabeller::Nnue(nnue) => {
                let board = board(record)?;
                let (score, chances) = nnue.evaluate_with_chances(&board, record.halfmove, record.turn);
                Answer { wdl: chances.map(in_thousandths), ..of_score(score) }
            }
        })
    }
}

impl Labeller for StaticLabeller {
    fn label(&mut self, block: &Block) -> Result<Option<Labels>> {
        if block.halt.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let answers: Vec<Answer> =
            block.records.iter().map(|record| self.answer(record)).collect::<Result<_>>()?;
        Ok(Some(answers.into()))
    }
}

fn board(record: &Record) -> Result<Board> {
    record.board.board().ok_or_else(|| not_legal(record))
}

fn of_score(score: Score) -> Answer {
    Answer { score: Some(score), failed: false, ..Answer::FAILED }
}

/// Shares that are 1,000 together.
fn in_thousandths([win, _, loss]: [f64; 3]) -> Wdl {
    let [win, loss] = [win, loss].map(|share| (1000.0 * share).round() as u16);
    Wdl { win, draw: 1000u16.saturating_sub(win + loss) }
}
