//! Scores of positions by an engine, in order, the same for any number of threads.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use shakmaty::{Chess, Position};

use crate::on_demand::{FailedInRow, OnDemand};
use patzer_chess::score::Score;
use patzer_io::error::Result;
use patzer_match::ordered_map::{self, Jobs};
use patzer_match::participant::Participant;
use patzer_match::{Control, InProcess, PlayerError, TimeSettings, score_position};

/// An engine that scores positions, each as a new game.
pub struct Scorer<'a> {
    pub participant: &'a Participant,
    /// `None` for the static evaluation, which only engines in this process have.
    pub control: Option<Control>,
    pub threads: usize,
}

/// A position with its score from White's side, or why it has none.
pub struct Scored<T> {
    pub item: T,
    pub score: std::result::Result<Score, String>,
}

enum Seat<'a> {
    InProcess(std::result::Result<Box<InProcess>, PlayerError>),
    Program(OnDemand<'a>),
}

/// Scores the positions of numbered items until `receive` breaks. An item without a position is skipped.
pub fn score_all<T: Send>(
    scorer: &Scorer,
    numbers: Range<usize>,
    item: &(dyn Fn(usize) -> Option<(T, Chess)> + Sync),
    stop: &AtomicBool,
    receive: &mut dyn FnMut(Scored<T>) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let failed_in_row = FailedInRow::default();
    let begin = |_| match scorer.participant.in_process() {
        Some(player) => Seat::InProcess(player.map(Box::new)),
        None => Seat::Program(OnDemand::new(scorer.participant)),
    };
    let work = |seat: &mut Seat, number: usize, halt: &AtomicBool| {
        let Some((item, position)) = item(number) else { return Ok(Some(None)) };
        let score = match scorer.score(seat, &position, halt) {
            Err(PlayerError::Stopped) => return Ok(None),
            score => score.map_err(|error| error.to_string()),
        };
        failed_in_row.note(&scorer.participant.name, &score)?;
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
            (Seat::InProcess(Err(error)), _) => return Err(error.clone()),
            (Seat::InProcess(Ok(player)), None) => player.evaluate(position),
            (Seat::InProcess(Ok(player)), Some(control)) => {
                let settings = TimeSettings { control, margin: Duration::ZERO };
                scored(score_position(&mut **player, position, &settings, halt)?)?
            }
            (Seat::Program(_), None) => return Err(PlayerError::Unable("a program needs a limit".into())),
            (Seat::Program(engine), Some(control)) => {
                scored(engine.search(position, &[], &control, halt)?.info.score)?
            }
        };
        Ok(position.turn().fold_wb(score, -score))
    }
}

fn scored(score: Option<Score>) -> std::result::Result<Score, PlayerError> {
    score.ok_or_else(|| PlayerError::Unable("said no score".into()))
}
