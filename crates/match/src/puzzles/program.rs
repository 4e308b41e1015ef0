//! Puzzles solved by a UCI engine.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Puzzle, PuzzleScore, SuiteScore};
use crate::on_demand::{FailedInRow, OnDemand};
use crate::ordered_map::{self, Jobs};
use crate::participant::Participant;
use crate::{Control, PlayerError};
use patzer_io::error::Result;

/// Lets `threads` processes of a program solve puzzles, every position as a new game, calling `done` after each puzzle;
/// `None` if `stop` was set. A position on which the program crashes or hangs twice, or says no legal move, is not solved.
pub fn solve_by_program(
    puzzles: &[Puzzle],
    program: &Participant,
    control: &Control,
    threads: usize,
    stop: &AtomicBool,
    done: &(dyn Fn() + Sync),
) -> Result<Option<SuiteScore>> {
    let failed_in_row = FailedInRow::default();
    let begin = |_| OnDemand::new(program);
    let work = |engine: &mut OnDemand, number: usize, halt: &AtomicBool| {
        let (mut moves, mut failures) = (Vec::new(), Vec::new());
        for task in &puzzles[number].tasks {
            let best = match engine.search(task.line.position(), &[], control, halt) {
                Err(PlayerError::Stopped) => return Ok(None),
                Err(error) => Err(error.to_string()),
                Ok(found) => found.best.map_err(|reason| reason.0),
            };
            failed_in_row.note(&program.name, &best)?;
            moves.push(best.map_err(|reason| failures.push(reason)).ok());
        }
        done();
        Ok(Some((PuzzleScore::of(&puzzles[number], &moves), failures)))
    };
    let mut suite = SuiteScore::default();
    let mut receive = |number: usize, (score, failures): (PuzzleScore, Vec<String>)| {
        let puzzle = &puzzles[number];
        suite.add(puzzle, score);
        suite.failures.extend(failures.into_iter().map(|reason| (puzzle.name.clone(), reason)));
        Ok(ControlFlow::Continue(()))
    };
    let jobs = Jobs { numbers: 0..puzzles.len(), threads };
    ordered_map::run(&jobs, &begin, &work, stop, &mut receive, &mut || Ok(()))?;
    Ok((!stop.load(Ordering::Relaxed)).then_some(suite))
}
