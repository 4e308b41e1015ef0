//! Scores of positions by a reference: the bundled engine or a UCI engine, searching longer than the players did.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use shakmaty::Chess;

use crate::on_demand::{FailedInRow, OnDemand, work_all};
use crate::puzzles::ready;
use patzer_chess::Line;
use patzer_chess::score::Score;
use patzer_engine::{Limits, engine};
use patzer_eval::Evaluation;
use patzer_io::error::Result;
use patzer_match::Control;
use patzer_match::participant::Participant;

/// The engine that scores positions.
pub enum Reference<'a> {
    /// The bundled engine, each position as a new game.
    Bundled { evaluation: &'a Evaluation, hash_mb: usize, limits: Limits },
    /// A UCI engine, each position as a new game.
    Program { program: &'a Participant, control: Control, threads: usize },
}

impl Reference<'_> {
    /// Scores positions in centipawns from the side to move, `None` where the engine says none, calling `done` after
    /// each; `None` if `stop` was set.
    ///
    /// # Errors
    /// The program fails on many positions in a row, or memory for the table lacks.
    pub fn scores(
        &self,
        positions: &[Chess],
        stop: &AtomicBool,
        done: &(dyn Fn() + Sync),
    ) -> Result<Option<Vec<Option<Score>>>> {
        match self {
            Reference::Bundled { evaluation, hash_mb, limits } => {
                let one = |engine: &mut _, position: &Chess| {
                    let engine = ready(engine)?;
                    engine.new_game();
                    let report = engine.search(&Line::new(position.clone()), limits, stop, &mut |_| {});
                    done();
                    Ok(report.best.is_some().then_some(report.score))
                };
                let scores = positions
                    .par_iter()
                    .map_init(|| engine(evaluation, *hash_mb), one)
                    .collect::<Result<Vec<_>>>()?;
                Ok((!stop.load(Ordering::Relaxed)).then_some(scores))
            }
            Reference::Program { program, control, threads } => {
                let failed_in_row = FailedInRow::default();
                let work = |engine: &mut OnDemand, number: usize, halt: &AtomicBool| {
                    let found = match engine.search(&positions[number], &[], control, halt) {
                        Err(patzer_match::PlayerError::Stopped) => return Ok(None),
                        found => found.map_err(|error| error.to_string()),
                    };
                    failed_in_row.note(&program.name, &found)?;
                    done();
                    Ok(Some(found.ok().and_then(|found| found.info.score)))
                };
                work_all(program, positions.len(), *threads, stop, &work)
            }
        }
    }
}
