//! A pool of labellers that answer the blocks of a dataset, each a block at a time and in a thread of its own.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::answer::Answer;
use super::blocks::{Blocks, Cut, checksum};
use super::journal::{Finished, Journal};
use patzer_data::{DataFile, Record};
use patzer_io::error::{Error, Hint, Result};

/// Answers the positions of one block after another. The answers of a block depend on its positions alone, so not on
/// the number of labellers.
pub trait Labeller: Send {
    /// Answers a block; `None` if it was halted.
    fn label(&mut self, block: &Block) -> Result<Option<Labels>>;
}

impl<L: Labeller + ?Sized> Labeller for Box<L> {
    fn label(&mut self, block: &Block) -> Result<Option<Labels>> {
        (**self).label(block)
    }
}

/// Positions to answer.
#[derive(Clone, Copy)]
pub struct Block<'a> {
    pub number: u64,
    pub records: &'a [Record],
    pub halt: &'a AtomicBool,
    /// Gets the positions on which a labeller fails, with the reason.
    pub trouble: &'a dyn Fn(String),
}

/// Answers to the positions of a block.
pub struct Labels {
    pub answers: Vec<Answer>,
    pub restarts: u32,
}

impl From<Vec<Answer>> for Labels {
    fn from(answers: Vec<Answer>) -> Labels {
        Labels { answers, restarts: 0 }
    }
}

/// Progress of a labelling.
pub enum Event<'a> {
    /// This many positions have answers, including those from earlier runs.
    Answered(u64),
    /// A position of which the engine crashed, hung or said no legal move, and the reason.
    Trouble(&'a str),
}

const TICK: Duration = Duration::from_millis(100);

/// Labels the blocks that the journal lacks. Interrupted, it leaves the finished blocks in the journal.
pub fn label<L: Labeller>(
    labellers: Vec<L>,
    data: DataFile<'_>,
    cut: &Cut,
    journal: &mut Journal,
    stop: &AtomicBool,
    report: &mut dyn FnMut(Event),
) -> Result<()> {
    let finished = journal.finished();
    let halt = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (jobs, queue) = mpsc::sync_channel(2 * labellers.len());
        let (results, news) = mpsc::channel();
        // Workers own the queue's end, so that the reader ends with them.
        let queue = Arc::new(Mutex::new(queue));
        let (failed, halted) = (results.clone(), &halt);
        spawn(scope, "reader", move || {
            if let Err(error) = feed(data, cut, &finished, &jobs, halted) {
                let _ = failed.send(News::Error(error));
            }
        })?;
        for (labeller, number) in labellers.into_iter().zip(0..) {
            let (queue, results) = (Arc::clone(&queue), results.clone());
            let work = move || work(labeller, &queue, &results, halted);
            let started = spawn(scope, &format!("labeller-{number}"), work);
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

fn work(
    mut labeller: impl Labeller,
    queue: &Mutex<Receiver<Job>>,
    results: &Sender<News>,
    halt: &AtomicBool,
) {
    // A collector that has ended needs no more reports.
    let trouble = |text| _ = results.send(News::Trouble(text));
    loop {
        let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((number, records)) = job else { return };
        let block = Block { number, records: &records, halt, trouble: &trouble };
        let (news, ends) = match labeller.label(&block) {
            Ok(Some(Labels { answers, restarts })) => {
                let positions = checksum(&records);
                (News::Finished(Finished { block: number, positions, restarts, answers }), false)
            }
            Ok(None) => return,
            Err(error) => (News::Error(error), true),
        };
        if results.send(news).is_err() || ends {
            return;
        }
    }
}
