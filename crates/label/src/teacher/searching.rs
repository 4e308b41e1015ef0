//! Labels by the searches of a UCI engine.
//!
//! An engine forgets everything (`ucinewgame`) before each block and searches its positions in order, so that the
//! answers do not depend on the number of engines.

use std::sync::atomic::{AtomicBool, Ordering};

use shakmaty::fen::Fen;
use shakmaty::{Chess, EnPassantMode};

use super::answer::Answer;
use super::blocks::legal;
use super::pool::{Block, Labeller, Labels};
use patzer_io::error::{Error, Result};
use patzer_match::participant::Participant;
use patzer_match::{Analyst, Control, PlayerError};

/// An engine that fails on this many positions in a row fails on all.
const HOPELESS: u32 = 16;

/// The engine to ask and its limit.
#[derive(Clone, Copy)]
pub struct Teacher<'a> {
    pub participant: &'a Participant,
    pub control: Control,
    /// Start the program again, in place of `ucinewgame`, before each block.
    pub restart: bool,
}

impl<'a> Teacher<'a> {
    /// A labeller with an engine, which is started when it is needed unless it is given.
    pub fn labeller(self, analyst: Option<Analyst>) -> impl Labeller + use<'a> {
        SearchLabeller { teacher: self, analyst, failed_in_row: 0 }
    }
}

struct SearchLabeller<'a> {
    teacher: Teacher<'a>,
    analyst: Option<Analyst>,
    failed_in_row: u32,
}

impl Labeller for SearchLabeller<'_> {
    fn label(&mut self, block: &Block) -> Result<Option<Labels>> {
        let (mut answers, mut restarts) = (Vec::with_capacity(block.records.len()), 0);
        if self.teacher.restart && block.number > 0 {
            self.analyst = None;
        }
        let mut fresh = true;
        for record in block.records {
            let mut asked = Asked { position: legal(record)?, fresh: &mut fresh, block };
            let Some(answer) = self.answer(&mut asked, &mut restarts)? else {
                return Ok(None);
            };
            answers.push(answer);
        }
        Ok(Some(Labels { answers, restarts }))
    }
}

/// A question to an engine.
struct Asked<'a> {
    position: Chess,
    /// The engine has forgotten everything.
    fresh: &'a mut bool,
    block: &'a Block<'a>,
}

impl SearchLabeller<'_> {
    /// Searches a position, and once more after a crash or a hang; `None` if it was halted.
    fn answer(&mut self, asked: &mut Asked, restarts: &mut u32) -> Result<Option<Answer>> {
        let halt = asked.block.halt;
        for attempt in [1, 2] {
            if halt.load(Ordering::Relaxed) {
                return Ok(None);
            }
            if self.analyst.is_none() {
                match start(self.teacher.participant, halt) {
                    Ok(analyst) => self.analyst = Some(analyst),
                    Err(PlayerError::Stopped) => return Ok(None),
                    Err(error) => return Err(self.broken(&error)),
                }
                *asked.fresh = true;
            }
            let Some(analyst) = &mut self.analyst else { return Err(Error::internal("no engine")) };
            let error = match analyst.search(&asked.position, &self.teacher.control, *asked.fresh, halt) {
                Ok(analysis) => {
                    (*asked.fresh, self.failed_in_row) = (false, 0);
                    if let Err(no) = &analysis.best {
                        self.note(asked, &format!("no legal move, but `{}`", no.0));
                    }
                    return Ok(Some(Answer::of(&analysis)));
                }
                Err(PlayerError::Stopped) => return Ok(None),
                Err(error) => error,
            };
            if let PlayerError::Unable(note) = &error {
                self.note(asked, note);
                break;
            }
            self.analyst = None;
            *restarts += 1;
            let after = if attempt == 1 { "it is asked once more" } else { "the position has no score" };
            self.note(asked, &format!("{error}; {after}"));
            self.failed_in_row += u32::from(attempt == 2);
            if self.failed_in_row >= HOPELESS {
                return Err(self.broken(&error));
            }
        }
        Ok(Some(Answer::FAILED))
    }

    fn broken(&self, error: &PlayerError) -> Error {
        let name = &self.teacher.participant.name;
        let row = match self.failed_in_row {
            0 => String::new(),
            failed => format!(" on {failed} positions in a row; the last time:"),
        };
        Error::input(format!("{name}{}{row} {error}", if row.is_empty() { ":" } else { " failed" }))
    }

    fn note(&self, asked: &Asked, reason: &str) {
        let fen = Fen::from_position(&asked.position, EnPassantMode::Legal);
        (asked.block.trouble)(format!("{}: {fen}: {reason}", self.teacher.participant.name));
    }
}

/// Starts the engine for single positions.
pub fn start(participant: &Participant, stop: &AtomicBool) -> std::result::Result<Analyst, PlayerError> {
    participant
        .analyst(stop)
        .unwrap_or_else(|| Err(PlayerError::Unable("is an evaluation, not a program".to_string())))
}
