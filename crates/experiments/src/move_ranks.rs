//! Rank of a move among the choices of a UCI engine.

use std::sync::atomic::AtomicBool;

use shakmaty::{Chess, Move, Position};

use crate::on_demand::{FailedInRow, OnDemand, work_all};
use patzer_io::error::{Error, Hint, Result};
use patzer_match::Control;
use patzer_match::participant::Participant;

/// Rank of a move, from 1, `None` if it is not among the first; or why the engine gave none.
pub type MoveRank = std::result::Result<Option<usize>, String>;

/// Request to rank the moves of positions.
pub struct Ranking<'a> {
    pub program: &'a Participant,
    pub control: Control,
    /// Ranks to find; from the second on the program is asked again without its earlier choices.
    pub most: usize,
    /// Processes at the same time.
    pub threads: usize,
}

impl Ranking<'_> {
    /// Ranks each move in its position, calling `done` after each; `None` if `stop` was set.
    ///
    /// # Errors
    /// The program fails on many positions in a row, or plays a move that was left out.
    pub fn rank(
        &self,
        moves: &[(&Chess, Move)],
        stop: &AtomicBool,
        done: &(dyn Fn() + Sync),
    ) -> Result<Option<Vec<MoveRank>>> {
        let failed_in_row = FailedInRow::default();
        let work = |engine: &mut OnDemand, number: usize, halt: &AtomicBool| {
            let (position, m) = moves[number];
            let Some(rank) = self.rank_one(engine, position, m, halt)? else { return Ok(None) };
            failed_in_row.note(&self.program.name, &rank)?;
            done();
            Ok(Some(rank))
        };
        work_all(self.program, moves.len(), self.threads, stop, &work)
    }

    /// `None` if it was halted.
    fn rank_one(
        &self,
        engine: &mut OnDemand,
        position: &Chess,
        m: Move,
        halt: &AtomicBool,
    ) -> Result<Option<MoveRank>> {
        let legal = position.legal_moves();
        let mut left: Vec<Move> = legal.iter().copied().collect();
        for nth in 1..=self.most.min(legal.len()) {
            let only = if nth == 1 { &[] } else { &left[..] };
            let best = match engine.best(position, only, &self.control, halt) {
                None => return Ok(None),
                Some(Err(reason)) => return Ok(Some(Err(reason))),
                Some(Ok(best)) => best,
            };
            if !left.contains(&best) {
                return Err(self.plays_what_is_left_out(position, best));
            }
            if best == m {
                return Ok(Some(Ok(Some(nth))));
            }
            left.retain(|other| *other != best);
        }
        Ok(Some(Ok(None)))
    }

    fn plays_what_is_left_out(&self, position: &Chess, best: Move) -> Error {
        Error::input(format!(
            "{}: does not know `searchmoves`: it plays {}, which was left out",
            self.program.name,
            best.to_uci(position.castles().mode()),
        ))
        .hint(Hint::FirstRank)
    }
}
