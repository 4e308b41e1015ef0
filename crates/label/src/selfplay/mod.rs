//! Self-play games as training data, of engines in this process or of UCI programs. Seed and index decide a game: the
//! number of boards and interruptions change none, if the engines search alike from a cleared table.

pub mod batch;
mod board;
mod config;
mod finished;
pub mod genfens;
mod outputs;
pub mod sampler;
pub mod start;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use batch::{GAMES, GameTotals};
use board::Board;
use config::HOPELESS;
pub use config::{SelfplayConditions, SelfplayConfig};
pub use finished::FinishedGame;
pub use outputs::Outputs;
use patzer_io::error::{Error, Result};
use patzer_match::ordered_map::{self, Jobs};
use patzer_match::pgn::Header;

/// Evaluations that a pool argument names: a file, or those of a folder in order of name.
pub fn pool_members(name: &str) -> Result<Vec<String>> {
    let folder = Path::new(name);
    if !folder.is_dir() {
        return Ok(vec![name.to_string()]);
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|e| Error::io(folder, e))? {
        let path = entry.map_err(|e| Error::io(folder, e))?.path();
        let name = path.to_string_lossy().into_owned();
        if name.ends_with(".nnue") || name.ends_with(".hce.toml") {
            files.push(name);
        }
    }
    files.sort_unstable();
    if files.is_empty() {
        return Err(Error::data(folder, "is a folder without .nnue or .hce.toml files"));
    }
    Ok(files)
}

#[derive(Debug, Clone, PartialEq)]
pub struct SelfplaySummary {
    pub counts: GameTotals,
    pub positions: u64,
    pub seconds: f64,
    pub complete: bool,
}

/// Progress of a run.
pub enum Event<'a> {
    /// Totals, and the positions of this run.
    Played(&'a GameTotals, u64),
    /// A player's failure.
    Trouble(&'a str),
}

const PROGRESS: Duration = Duration::from_millis(200);

/// Plays until all games are written or `stop` is set. All finished games are written, whatever the end.
pub fn run(
    config: &SelfplayConfig,
    header: &Header,
    outputs: &mut Outputs,
    stop: &AtomicBool,
    report: &mut dyn FnMut(Event),
) -> Result<SelfplaySummary> {
    let (first, ahead) = outputs.played();
    let mut counts = GameTotals::default();
    outputs.done.iter().for_each(|batch| counts += &batch.counts);
    let (begin, before) = (Instant::now(), counts.positions);
    let crew = Jobs { numbers: first..config.games.max(first), threads: config.concurrency };
    let writer = BatchWriter { config, header, outputs, counts, waiting: Vec::new(), failed_in_row: 0 };
    let shared = RefCell::new((writer, report, None::<Instant>));
    // Not passed through the ordered map, which drops results after a missing one.
    let finished = Mutex::new(BTreeMap::new());
    let games = || finished.lock().unwrap_or_else(PoisonError::into_inner);
    let work = |board: &mut Board, index, halt: &AtomicBool| {
        if ahead.contains(&index) {
            return Ok(Some(()));
        }
        let played = board.play(index, halt)?;
        Ok(played.map(|game| drop(games().insert(index, game))))
    };
    let mut receive = |index, ()| {
        let Some(game) = games().remove(&index) else { return Ok(ControlFlow::Continue(())) };
        let (writer, report, _) = &mut *shared.borrow_mut();
        game.troubles.iter().for_each(|trouble| report(Event::Trouble(trouble)));
        writer.take(game)?;
        Ok(ControlFlow::Continue(()))
    };
    let mut idle = || {
        let (writer, report, last) = &mut *shared.borrow_mut();
        // The first report comes with the first game.
        if last.map_or(writer.counts.positions > before, |last| last.elapsed() >= PROGRESS) {
            *last = Some(Instant::now());
            // Batches that are shown as done survive a power cut.
            writer.outputs.sync()?;
            report(Event::Played(&writer.counts, writer.counts.positions - before));
        }
        Ok(())
    };
    let board = |_| Board::new(config);
    let ended = ordered_map::run(&crew, &board, &work, stop, &mut receive, &mut idle);
    let mut writer = shared.into_inner().0;
    let late = finished.into_inner().unwrap_or_else(PoisonError::into_inner);
    writer.finish(late.into_values().collect())?;
    ended?;
    let counts = writer.counts;
    Ok(SelfplaySummary {
        positions: counts.positions - before,
        seconds: begin.elapsed().as_secs_f64(),
        complete: counts.games >= config.games as u64,
        counts,
    })
}

struct BatchWriter<'a> {
    config: &'a SelfplayConfig<'a>,
    header: &'a Header,
    outputs: &'a mut Outputs,
    /// Counts of the run, games that wait included.
    counts: GameTotals,
    waiting: Vec<FinishedGame>,
    failed_in_row: usize,
}

impl BatchWriter<'_> {
    fn take(&mut self, finished: FinishedGame) -> Result<()> {
        self.counts.add(&finished);
        self.failed_in_row = if finished.game.reason.is_failure() { self.failed_in_row + 1 } else { 0 };
        self.waiting.push(finished);
        if self.waiting.len() == GAMES || self.counts.games == self.config.games as u64 {
            self.write(self.waiting.len())?;
        }
        if self.failed_in_row == HOPELESS {
            let reason = "games in a row were ended by failures of a player, the reasons above";
            return Err(Error::input(format!("{HOPELESS} {reason}; the games before are kept")));
        }
        Ok(())
    }

    /// Writes the games that wait; those from `ahead` on do not follow the others.
    fn write(&mut self, ahead: usize) -> Result<()> {
        self.outputs.append(&self.waiting, ahead, self.header)?;
        self.waiting.clear();
        Ok(())
    }

    /// Writes what is left at the end of a run; `late` games come after one that is missing.
    fn finish(&mut self, late: Vec<FinishedGame>) -> Result<()> {
        let ahead = self.waiting.len();
        late.iter().for_each(|finished| self.counts.add(finished));
        self.waiting.extend(late);
        if self.waiting.is_empty() { Ok(()) } else { self.write(ahead) }
    }
}

#[cfg(test)]
mod tests;
