//! Rank of a move among the choices of a UCI engine.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use shakmaty::{Chess, Move, Position};

use crate::on_demand::{FailedInRow, OnDemand};
use crate::ordered_map::{self, Jobs};
use crate::participant::Participant;
use crate::{Control, PlayerError};
use patzer_io::error::{Error, Result};

/// Rank of a move, from 1, `None` if it is not among the first; or why the engine gave none.
pub type MoveRank = std::result::Result<Option<usize>, String>;

/// What a program is asked, and how.
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
        let begin = |_| OnDemand::new(self.program);
        let work = |engine: &mut OnDemand, number: usize, halt: &AtomicBool| {
            let (position, m) = moves[number];
            let Some(rank) = self.rank_one(engine, position, m, halt)? else { return Ok(None) };
            failed_in_row.note(&self.program.name, &rank)?;
            done();
            Ok(Some(rank))
        };
        let mut ranks = Vec::with_capacity(moves.len());
        let mut receive = |_, rank| {
            ranks.push(rank);
            Ok(ControlFlow::Continue(()))
        };
        let jobs = Jobs { numbers: 0..moves.len(), threads: self.threads };
        ordered_map::run(&jobs, &begin, &work, stop, &mut receive, &mut || Ok(()))?;
        Ok((!stop.load(Ordering::Relaxed)).then_some(ranks))
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
            let best = match engine.search(position, only, &self.control, halt) {
                Err(PlayerError::Stopped) => return Ok(None),
                Err(error) => return Ok(Some(Err(error.to_string()))),
                Ok(found) => match found.best {
                    Err(reason) => return Ok(Some(Err(reason.0))),
                    Ok(best) => best,
                },
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
            "{}: does not know `searchmoves`: it plays {}, which was left out; --ranks 1 counts first choices alone",
            self.program.name,
            best.to_uci(position.castles().mode()),
        ))
    }
}
