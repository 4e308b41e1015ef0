//! A UCI engine for single positions, started when it is first asked and again after a crash or a hang.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use shakmaty::{Chess, Move};

use patzer_io::error::{Error, Result};
use patzer_match::ordered_map::{self, Jobs, Work};
use patzer_match::participant::Participant;
use patzer_match::{Analysis, Analyst, Control, PlayerError};

pub(crate) struct OnDemand<'a> {
    participant: &'a Participant,
    analyst: Option<Box<Analyst>>,
}

impl OnDemand<'_> {
    pub fn new(participant: &Participant) -> OnDemand<'_> {
        OnDemand { participant, analyst: None }
    }

    /// Searches a position as a new game, these moves alone as [`Analyst::search_moves`] does; after a crash or a hang
    /// once more.
    pub fn search(
        &mut self,
        position: &Chess,
        only: &[Move],
        control: &Control,
        halt: &AtomicBool,
    ) -> std::result::Result<Analysis, PlayerError> {
        match self.ask(position, only, control, halt) {
            Err(PlayerError::Crash(_) | PlayerError::Stall(_)) => self.ask(position, only, control, halt),
            asked => asked,
        }
    }

    /// Best move by [`OnDemand::search`], or the reason for none; `None` if it was halted.
    pub fn best(
        &mut self,
        position: &Chess,
        only: &[Move],
        control: &Control,
        halt: &AtomicBool,
    ) -> Option<std::result::Result<Move, String>> {
        match self.search(position, only, control, halt) {
            Err(PlayerError::Stopped) => None,
            Err(error) => Some(Err(error.to_string())),
            Ok(found) => Some(found.best.map_err(|reason| reason.0)),
        }
    }

    fn ask(
        &mut self,
        position: &Chess,
        only: &[Move],
        control: &Control,
        halt: &AtomicBool,
    ) -> std::result::Result<Analysis, PlayerError> {
        let running = match &mut self.analyst {
            Some(running) => running,
            none => {
                let started = self.participant.analyst(halt);
                let started = started.unwrap_or_else(|| Err(PlayerError::Unable("is no program".into())));
                none.insert(Box::new(started?))
            }
        };
        running.search_moves(position, only, control, true, halt).inspect_err(|error| {
            self.participant.restarts.note(error, position);
            self.analyst = None;
        })
    }
}

/// Lets `threads` processes of a program work on numbers below `count`; the results in order, `None` if `stop` was set.
pub(crate) fn work_all<'a, T: Send>(
    program: &'a Participant,
    count: usize,
    threads: usize,
    stop: &AtomicBool,
    work: &Work<'_, OnDemand<'a>, T>,
) -> Result<Option<Vec<T>>> {
    let mut results = Vec::with_capacity(count);
    let mut receive = |_, result| {
        results.push(result);
        Ok(ControlFlow::Continue(()))
    };
    let jobs = Jobs { numbers: 0..count, threads };
    ordered_map::run(&jobs, &|_| OnDemand::new(program), work, stop, &mut receive, &mut || Ok(()))?;
    Ok((!stop.load(Ordering::Relaxed)).then_some(results))
}

/// Positions in a row on which an engine fails, after which it counts as broken.
const HOPELESS: u32 = 16;

/// Counts the positions in a row on which an engine fails.
#[derive(Default)]
pub(crate) struct FailedInRow(AtomicU32);

impl FailedInRow {
    /// Notes an answer, or why there is none; an error if the engine is broken.
    pub fn note<T>(&self, name: &str, answer: &std::result::Result<T, String>) -> Result<()> {
        let failed = if answer.is_ok() { 0 } else { self.0.load(Ordering::Relaxed) + 1 };
        self.0.store(failed, Ordering::Relaxed);
        match answer {
            Err(reason) if failed >= HOPELESS => {
                Err(Error::input(format!("{name} failed on {failed} positions in a row: {reason}")))
            }
            _ => Ok(()),
        }
    }
}
