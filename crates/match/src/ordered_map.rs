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

/// Takes the results of jobs by their numbers.
pub trait Receiver<T> {
    /// Results are received in the order of their numbers, and not in that in which they arrive.
    fn in_order(&self) -> bool {
        true
    }

    /// Takes a result in its turn; breaks to end the run.
    fn receive(&mut self, number: usize, result: T) -> Result<ControlFlow<()>>;

    /// Receives a result that arrives before that of an earlier job.
    fn arrived_ahead(&mut self, _number: usize, _result: &T) -> Result<()> {
        Ok(())
    }

    /// Takes, in order, the results that follow an unfinished job when the run was stopped or a job failed.
    fn left_over(&mut self, _number: usize, _result: T) -> Result<()> {
        Ok(())
    }

    fn idle(&mut self) -> Result<()>;
}

struct Closures<'a, T> {
    receive: &'a mut dyn FnMut(usize, T) -> Result<ControlFlow<()>>,
    idle: &'a mut dyn FnMut() -> Result<()>,
}

impl<T> Receiver<T> for Closures<'_, T> {
    fn receive(&mut self, number: usize, result: T) -> Result<ControlFlow<()>> {
        (self.receive)(number, result)
    }

    fn idle(&mut self) -> Result<()> {
        (self.idle)()
    }
}

/// Runs until all jobs are done, `receive` breaks, or `stop` is set; returns the number of results not received.
pub fn run<W, T: Send>(
    crew: &Jobs,
    begin: &(dyn Fn(usize) -> W + Sync),
    work: &Work<'_, W, T>,
    stop: &AtomicBool,
    receive: &mut dyn FnMut(usize, T) -> Result<ControlFlow<()>>,
    idle: &mut dyn FnMut() -> Result<()>,
) -> Result<usize> {
    run_into(crew, begin, work, stop, &mut Closures { receive, idle })
}

/// Runs jobs like [`run`], with a receiver that also gets results before their turn.
pub fn run_into<W, T: Send>(
    crew: &Jobs,
    begin: &(dyn Fn(usize) -> W + Sync),
    work: &Work<'_, W, T>,
    stop: &AtomicBool,
    receiver: &mut dyn Receiver<T>,
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
                return Err(Error::thread(error));
            }
        }
        drop(sender);
        let ended = collect(crew.numbers.start, &news, &halt, stop, receiver);
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
    receiver: &mut dyn Receiver<T>,
) -> Result<usize> {
    let mut waiting = BTreeMap::new();
    let mut failed = None;
    loop {
        match news.recv_timeout(TICK) {
            Ok(Ok((number, result))) if !receiver.in_order() => {
                if receiver.receive(number, result)?.is_break() {
                    return Ok(0);
                }
            }
            Ok(Ok((number, result))) => {
                if number > next {
                    receiver.arrived_ahead(number, &result)?;
                }
                waiting.insert(number, result);
            }
            Ok(Err(error)) => {
                halt.store(true, Ordering::Relaxed);
                failed.get_or_insert(error);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let count = waiting.len();
                let left = waiting.into_iter();
                let left = left.map(|(number, result)| receiver.left_over(number, result));
                let left = left.collect::<Result<()>>();
                return failed.map_or(left.map(|()| count), Err);
            }
        }
        while let Some(result) = waiting.remove(&next) {
            next += 1;
            if receiver.receive(next - 1, result)?.is_break() {
                return Ok(waiting.len());
            }
        }
        if stop.load(Ordering::Relaxed) {
            halt.store(true, Ordering::Relaxed);
        }
        receiver.idle()?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Results in the order in which the receiver got them.
    #[derive(Default)]
    struct Seen {
        received: Vec<usize>,
        ahead: Vec<usize>,
        left: Vec<usize>,
        unordered: bool,
    }

    impl Receiver<usize> for Seen {
        fn in_order(&self) -> bool {
            !self.unordered
        }

        fn receive(&mut self, number: usize, _: usize) -> Result<ControlFlow<()>> {
            self.received.push(number);
            Ok(ControlFlow::Continue(()))
        }

        fn arrived_ahead(&mut self, number: usize, _: &usize) -> Result<()> {
            self.ahead.push(number);
            Ok(())
        }

        fn left_over(&mut self, number: usize, _: usize) -> Result<()> {
            self.left.push(number);
            Ok(())
        }

        fn idle(&mut self) -> Result<()> {
            Ok(())
        }
    }

    /// Runs eight jobs on two threads, of which job 2 ends after all others as `end` says.
    fn run_with_slow(
        end: impl Fn() -> Result<Option<usize>> + Sync,
        mut seen: Seen,
    ) -> (Result<usize>, Seen) {
        let ended = Mutex::new(0);
        let work = |(): &mut (), number: usize, _: &AtomicBool| {
            if number == 2 {
                while *ended.lock().unwrap() < 7 {
                    std::thread::yield_now();
                }
                return end();
            }
            *ended.lock().unwrap() += 1;
            Ok(Some(number))
        };
        let jobs = Jobs { numbers: 0..8, threads: 2 };
        let result = run_into(&jobs, &|_| (), &work, &AtomicBool::new(false), &mut seen);
        (result, seen)
    }

    #[test]
    fn results_are_seen_as_they_arrive_and_received_in_order() {
        let (result, seen) = run_with_slow(|| Ok(Some(2)), Seen::default());
        assert_eq!((result.unwrap(), seen.left), (0, vec![]));
        assert_eq!(seen.received, (0..8).collect::<Vec<_>>());
        assert!((3..8).all(|number| seen.ahead.contains(&number)), "{:?}", seen.ahead);
    }

    #[test]
    fn a_slow_job_holds_back_no_other_where_order_does_not_count() {
        let (result, seen) = run_with_slow(|| Ok(Some(2)), Seen { unordered: true, ..Seen::default() });
        assert_eq!((result.unwrap(), seen.ahead.len(), seen.received.last()), (0, 0, Some(&2)));
        let mut all = seen.received;
        all.sort_unstable();
        assert_eq!(all, (0..8).collect::<Vec<_>>());
    }

    #[test]
    fn results_after_an_unfinished_job_are_left_over_in_order() {
        for fails in [false, true] {
            let end = || if fails { Err(Error::usage("failed")) } else { Ok(None) };
            let (result, seen) = run_with_slow(end, Seen::default());
            assert_eq!(result.ok(), (!fails).then_some(5));
            assert_eq!((seen.received, seen.left), (vec![0, 1], vec![3, 4, 5, 6, 7]));
        }
    }
}
