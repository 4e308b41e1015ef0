//! Puzzles solved by a UCI engine.

use std::sync::atomic::AtomicBool;

use super::{Puzzle, PuzzleScore, SuiteScore};
use crate::on_demand::{FailedInRow, OnDemand, work_all};
use patzer_io::error::Result;
use patzer_match::Control;
use patzer_match::participant::Participant;

/// Lets `threads` processes of a program solve puzzles, every position as a new game, calling `done` after each
/// puzzle; `None` if `stop` was set. A position on which the program crashes or hangs twice, or says no legal move, is
/// not solved.
pub fn solve_by_program(
    puzzles: &[Puzzle],
    program: &Participant,
    control: &Control,
    threads: usize,
    stop: &AtomicBool,
    done: &(dyn Fn() + Sync),
) -> Result<Option<SuiteScore>> {
    let failed_in_row = FailedInRow::default();
    let work = |engine: &mut OnDemand, number: usize, halt: &AtomicBool| {
        let (mut moves, mut failures) = (Vec::new(), Vec::new());
        for task in &puzzles[number].tasks {
            let Some(best) = engine.best(task.line.position(), &[], control, halt) else { return Ok(None) };
            failed_in_row.note(&program.name, &best)?;
            moves.push(best.map_err(|reason| failures.push(reason)).ok());
        }
        done();
        Ok(Some((PuzzleScore::of(&puzzles[number], &moves), failures)))
    };
    let Some(scores) = work_all(program, puzzles.len(), threads, stop, &work)? else { return Ok(None) };
    let mut suite = SuiteScore::default();
    for (puzzle, (score, failures)) in puzzles.iter().zip(scores) {
        suite.add(puzzle, score);
        suite.failures.extend(failures.into_iter().map(|reason| (puzzle.name.clone(), reason)));
    }
    Ok(Some(suite))
}
