//! A pool of engines that search the blocks of a dataset, each engine a block at a time.
//!
//! An engine forgets everything (`ucinewgame`) before each block and searches its positions in order, so that the
//! answers do not depend on the number of engines.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use shakmaty::fen::Fen;
use shakmaty::{Chess, EnPassantMode};

use super::answer::Answer;
use super::blocks::{Blocks, Cut, checksum};
use super::journal::{Finished, Journal};
use patzer_data::{DataFile, Record};
use patzer_io::error::{Error, Hint, Result};
use patzer_match::participant::Participant;
use patzer_match::{Analyst, Control, PlayerError};

/// The engine to ask and its limit.
pub struct Teacher<'a> {
    pub participant: &'a Participant,
    pub control: Control,
    /// Start the program again, in place of `ucinewgame`, before each block.
    pub restart: bool,
    pub concurrency: usize,
}

/// Progress of the search of a block.
pub enum Event<'a> {
    /// This many positions have answers, including those from earlier runs.
    Answered(u64),
    /// A position of which the engine crashed, hung or said no legal move, and the reason.
    Trouble(&'a str),
}

const TICK: Duration = Duration::from_millis(100);

/// An engine that fails on this many positions in a row fails on all.
const HOPELESS: u32 = 16;

/// Searches the blocks that the journal lacks. Interrupted, it leaves the finished blocks in the journal.
pub fn search(
    teacher: &Teacher,
    data: DataFile<'_>,
    cut: &Cut,
    first: Analyst,
    journal: &mut Journal,
    stop: &AtomicBool,
    report: &mut dyn FnMut(Event),
) -> Result<()> {
    let finished = journal.finished();
    let halt = AtomicBool::new(false);
    let mut first = Some(first);
    std::thread::scope(|scope| {
        let (jobs, queue) = mpsc::sync_channel(2 * teacher.concurrency);
        let (results, news) = mpsc::channel();
        // Workers own the queue's end, so that the reader ends with them.
        let queue = Arc::new(Mutex::new(queue));
        let (failed, halted) = (results.clone(), &halt);
        spawn(scope, "reader", move || {
            if let Err(error) = feed(data, cut, &finished, &jobs, halted) {
                let _ = failed.send(News::Error(error));
            }
        })?;
        for number in 0..teacher.concurrency {
            let worker =
                Worker { teacher, analyst: first.take(), failed_in_row: 0, results: results.clone() };
            let queue = Arc::clone(&queue);
            let started = spawn(scope, &format!("engine-{number}"), move || work(worker, &queue, halted));
            if started.is_err() {
                halt.store(true, Ordering::Relaxed);
                return started;
            }
        }
        drop((queue, results));
        let ended = collect(&news, journal, &halt, stop, report);
        halt.store(true, Ordering::Relaxed);
        ended
    })
}

fn spawn<'s>(
    scope: &'s std::thread::Scope<'s, '_>,
    name: &str,
    work: impl FnOnce() + Send + 's,
) -> Result<()> {
    let builder = std::thread::Builder::new().name(name.to_string());
    builder.spawn_scoped(scope, work).map(drop).map_err(Error::thread)
}

type Job = (u64, Vec<Record>);

/// Reads the blocks and passes on those without answers.
fn feed(
    data: DataFile<'_>,
    cut: &Cut,
    finished: &[Option<u32>],
    jobs: &SyncSender<Job>,
    halt: &AtomicBool,
) -> Result<()> {
    let (mut blocks, mut records) = (Blocks::open(data, cut)?, Vec::new());
    while let Some(block) = blocks.next(&mut records)? {
        if halt.load(Ordering::Relaxed) {
            return Ok(());
        }
        match finished[(block - cut.blocks.start) as usize] {
            Some(known) if known != checksum(&records) => return Err(other_positions(data.path)),
            Some(_) => {}
            // A closed queue: the workers have ended.
            None if jobs.send((block, std::mem::take(&mut records))).is_err() => return Ok(()),
            None => {}
        }
    }
    Ok(())
}

pub(super) fn other_positions(data: &Path) -> Error {
    let reason = "has other positions than those that the journal has answers to";
    Error::data(data, reason).hint(Hint::Overwrite)
}

enum News {
    Finished(Finished),
    Trouble(String),
    Error(Error),
}

fn collect(
    news: &Receiver<News>,
    journal: &mut Journal,
    halt: &AtomicBool,
    stop: &AtomicBool,
    report: &mut dyn FnMut(Event),
) -> Result<()> {
    let mut failed = None;
    loop {
        match news.recv_timeout(TICK) {
            Ok(News::Finished(finished)) => journal.append(&finished)?,
            Ok(News::Trouble(text)) => report(Event::Trouble(&text)),
            Ok(News::Error(error)) => {
                halt.store(true, Ordering::Relaxed);
                failed.get_or_insert(error);
            }
            Err(RecvTimeoutError::Timeout) => journal.sync_if_due()?,
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if stop.load(Ordering::Relaxed) {
            halt.store(true, Ordering::Relaxed);
        }
        report(Event::Answered(journal.answered()));
    }
    match failed {
        Some(error) => Err(error),
        None if stop.load(Ordering::Relaxed) => {
            Err(Error::Interrupted("the finished positions are kept").hint(Hint::Resume))
        }
        None => Ok(()),
    }
}

fn work(mut worker: Worker, queue: &Mutex<Receiver<Job>>, halt: &AtomicBool) {
    loop {
        let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((block, records)) = job else { return };
        let (news, ends) = match worker.block(block, &records, halt) {
            Ok(Some(finished)) => (News::Finished(finished), false),
            Ok(None) => return,
            Err(error) => (News::Error(error), true),
        };
        if worker.results.send(news).is_err() || ends {
            return;
        }
    }
}

struct Worker<'a> {
    teacher: &'a Teacher<'a>,
    analyst: Option<Analyst>,
    failed_in_row: u32,
    results: Sender<News>,
}

impl Worker<'_> {
    /// Searches a block; `None` if it was halted.
    fn block(&mut self, block: u64, records: &[Record], halt: &AtomicBool) -> Result<Option<Finished>> {
        let (mut answers, mut restarts) = (Vec::with_capacity(records.len()), 0);
        if self.teacher.restart && block > 0 {
            self.analyst = None;
        }
        let mut fresh = true;
        for record in records {
            let Some(position) = record.position() else {
                let place = format!("game {}, ply {}", record.game, record.ply);
                return Err(Error::input(format!("{place}: the dataset's record is not a legal position")));
            };
            let Some(answer) = self.answer(&position, &mut fresh, &mut restarts, halt)? else {
                return Ok(None);
            };
            answers.push(answer);
        }
        Ok(Some(Finished { block, positions: checksum(records), restarts, answers }))
    }

    /// Searches a position, and once more after a crash or a hang; `None` if it was halted.
    fn answer(
        &mut self,
        position: &Chess,
        fresh: &mut bool,
        restarts: &mut u32,
        halt: &AtomicBool,
    ) -> Result<Option<Answer>> {
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
                *fresh = true;
            }
            let Some(analyst) = &mut self.analyst else { return Err(Error::internal("no engine")) };
            let error = match analyst.search(position, &self.teacher.control, *fresh, halt) {
                Ok(analysis) => {
                    (*fresh, self.failed_in_row) = (false, 0);
                    if let Err(no) = &analysis.best {
                        self.note(position, &format!("no legal move, but `{}`", no.0));
                    }
                    return Ok(Some(Answer::of(&analysis)));
                }
                Err(PlayerError::Stopped) => return Ok(None),
                Err(error) => error,
            };
            if let PlayerError::Unable(note) = &error {
                self.note(position, note);
                break;
            }
            self.analyst = None;
            *restarts += 1;
            let after = if attempt == 1 { "it is asked once more" } else { "the position has no score" };
            self.note(position, &format!("{error}; {after}"));
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

    fn note(&self, position: &Chess, reason: &str) {
        let fen = Fen::from_position(position, EnPassantMode::Legal);
        let text = format!("{}: {fen}: {reason}", self.teacher.participant.name);
        // A collector that has ended needs no more reports.
        let _ = self.results.send(News::Trouble(text));
    }
}

/// Starts the engine for single positions.
pub fn start(participant: &Participant, stop: &AtomicBool) -> std::result::Result<Analyst, PlayerError> {
    participant
        .analyst(stop)
        .unwrap_or_else(|| Err(PlayerError::Unable("is an evaluation, not a program".to_string())))
}
