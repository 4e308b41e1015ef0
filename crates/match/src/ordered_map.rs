//! Ordered parallel map: results arrive in order, the same for any number of threads.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use patzer_io::error::{Error, Result};

#[derive(Debug, Clone)]
pub struct Jobs {
    pub numbers: Range<usize>,
    pub threads: usize,
}

const TICK: Duration = Duration::from_millis(50);

/// Runs the job of a number; `None` if it was aborted because the flag was set.
pub type Work<'a, W, T> = dyn Fn(&mut W, usize, &AtomicBool) -> Result<Option<T>> + Sync + 'a;

/// Runs until all jobs are done, `receive` breaks, or `stop` is set; returns the number of results not received.
pub fn run<W, T: Send>(
    crew: &Jobs,
    begin: &(dyn Fn(usize) -> W + Sync),
    work: &Work<'_, W, T>,
    stop: &AtomicBool,
    receive: &mut dyn FnMut(usize, T) -> Result<ControlFlow<()>>,
    idle: &mut dyn FnMut() -> Result<()>,
) -> Result<usize> {
    let halt = AtomicBool::new(false);
    let next = AtomicUsize::new(crew.numbers.start);
    let (sender, news) = mpsc::channel();
    std::thread::scope(|scope| {
        for thread in 0..crew.threads.min(crew.numbers.len()) {
            let (sender, halt, next) = (sender.clone(), &halt, &next);
            // Searches recurse deeply, and test builds use more stack.
            let builder = std::thread::Builder::new().name(format!("games-{thread}")).stack_size(32 << 20);
            let worker = move || {
                let _guard = HaltOnPanic(halt);
                let mut own = begin(thread);
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= crew.numbers.end || halt.load(Ordering::Relaxed) {
                        return;
                    }
                    let Some(news) = work(&mut own, number, halt).transpose() else { return };
                    let news = news.map(|result| (number, result));
                    let ends = news.is_err();
                    if sender.send(news).is_err() || ends {
                        return;
                    }
                }
            };
            if let Err(error) = builder.spawn_scoped(scope, worker) {
                halt.store(true, Ordering::Relaxed);
                return Err(Error::internal(format!("no thread for game {thread}: {error}")));
            }
        }
        drop(sender);
        let ended = collect(crew.numbers.start, &news, &halt, stop, receive, idle);
        halt.store(true, Ordering::Relaxed);
        let late = news.iter().filter(|news| news.is_ok()).count();
        ended.map(|discarded| discarded + late)
    })
}

struct HaltOnPanic<'a>(&'a AtomicBool);

impl Drop for HaltOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

fn collect<T>(
    mut next: usize,
    news: &mpsc::Receiver<Result<(usize, T)>>,
    halt: &AtomicBool,
    stop: &AtomicBool,
    receive: &mut dyn FnMut(usize, T) -> Result<ControlFlow<()>>,
    idle: &mut dyn FnMut() -> Result<()>,
) -> Result<usize> {
    let mut waiting = BTreeMap::new();
    let mut failed = None;
    loop {
        match news.recv_timeout(TICK) {
            Ok(Ok((number, result))) => {
                waiting.insert(number, result);
            }
            Ok(Err(error)) => {
                halt.store(true, Ordering::Relaxed);
                failed.get_or_insert(error);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return failed.map_or(Ok(waiting.len()), Err),
        }
        while let Some(result) = waiting.remove(&next) {
            next += 1;
            if receive(next - 1, result)?.is_break() {
                return Ok(waiting.len());
            }
        }
        if stop.load(Ordering::Relaxed) {
            halt.store(true, Ordering::Relaxed);
        }
        idle()?;
    }
}
