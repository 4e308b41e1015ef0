//! Scores of positions by an engine, in order, the same for any number of threads.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use shakmaty::{Chess, Position};

use crate::ordered_map::{self, Jobs};
use crate::participant::Participant;
use crate::{Analyst, Control, InProcess, PlayerError, TimeSettings, score_position};
use patzer_chess::score::Score;
use patzer_io::error::{Error, Result};

/// An engine that scores positions, each as a new game.
pub struct Scorer<'a> {
    pub participant: &'a Participant,
    /// `None` for the static evaluation, which only engines in this process have.
    pub control: Option<Control>,
    pub threads: usize,
}

/// Positions in a row on which an engine crashes or hangs, after which it counts as broken.
const HOPELESS: u32 = 16;

/// A position with its score from White's side, or why it has none.
pub struct Scored<T> {
    pub item: T,
    pub score: std::result::Result<Score, String>,
}

enum Seat {
    InProcess(Box<InProcess>),
    Program(Option<Box<Analyst>>),
}

/// Scores the positions of numbered items until `receive` breaks. An item without a position is skipped.
pub fn score_all<T: Send>(
    scorer: &Scorer,
    numbers: Range<usize>,
    item: &(dyn Fn(usize) -> Option<(T, Chess)> + Sync),
    stop: &AtomicBool,
    receive: &mut dyn FnMut(Scored<T>) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let failed_in_row = AtomicU32::new(0);
    let begin = |_| match scorer.participant.in_process() {
        Some(player) => Seat::InProcess(Box::new(player)),
        None => Seat::Program(None),
    };
    let work = |seat: &mut Seat, number: usize, halt: &AtomicBool| {
        let Some((item, position)) = item(number) else { return Ok(Some(None)) };
        let score = match scorer.score(seat, &position, halt) {
            Err(PlayerError::Stopped) => return Ok(None),
            score => score.map_err(|error| error.to_string()),
        };
        let failed = if score.is_ok() { 0 } else { failed_in_row.load(Ordering::Relaxed) + 1 };
        failed_in_row.store(failed, Ordering::Relaxed);
        if let (Err(reason), true) = (&score, failed >= HOPELESS) {
            let name = &scorer.participant.name;
            return Err(Error::input(format!("{name} failed on {failed} positions in a row: {reason}")));
        }
        Ok(Some(Some(Scored { item, score })))
    };
    let mut receive =
        |_, scored: Option<Scored<T>>| scored.map_or(Ok(ControlFlow::Continue(())), &mut *receive);
    let jobs = Jobs { numbers, threads: scorer.threads };
    ordered_map::run(&jobs, &begin, &work, stop, &mut receive, &mut || Ok(())).map(drop)
}

impl Scorer<'_> {
    /// Scores a position from White's side; a program that crashes or hangs is asked once more.
    fn score(
        &self,
        seat: &mut Seat,
        position: &Chess,
        halt: &AtomicBool,
    ) -> std::result::Result<Score, PlayerError> {
        let score = match (seat, self.control) {
            (Seat::InProcess(player), None) => player.evaluate(position),
            (Seat::InProcess(player), Some(control)) => {
                let settings = TimeSettings { control, margin: Duration::ZERO };
                scored(score_position(&mut **player, position, &settings, halt)?)?
            }
            (Seat::Program(_), None) => return Err(PlayerError::Unable("a program needs a limit".into())),
            (Seat::Program(analyst), Some(control)) => {
                let asked = self.ask(analyst, position, control, halt);
                match asked {
                    Err(PlayerError::Crash(_) | PlayerError::Stall(_)) => {
                        *analyst = None;
                        self.ask(analyst, position, control, halt).inspect_err(|_| *analyst = None)?
                    }
                    asked => asked?,
                }
            }
        };
        Ok(position.turn().fold_wb(score, -score))
    }

    fn ask(
        &self,
        analyst: &mut Option<Box<Analyst>>,
        position: &Chess,
        control: Control,
        halt: &AtomicBool,
    ) -> std::result::Result<Score, PlayerError> {
        let running = match analyst {
            Some(running) => running,
            none => {
                let started = self.participant.analyst(halt);
                let started = started.unwrap_or_else(|| Err(PlayerError::Unable("is no program".into())));
                none.insert(Box::new(started?))
            }
        };
        let answer = running.search(position, &control, true, halt)?;
        scored(answer.info.score)
    }
}

fn scored(score: Option<Score>) -> std::result::Result<Score, PlayerError> {
    score.ok_or_else(|| PlayerError::Unable("said no score".into()))
}
