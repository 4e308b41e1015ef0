//! Long work that Ctrl-C ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use patzer_io::error::Result;
use pyo3::prelude::*;

use crate::error::python;

/// Time between two looks for signals.
const TICK: Duration = Duration::from_millis(50);

/// Runs work on a thread of its own, without the interpreter's lock. The exception of a signal handler, such as
/// `KeyboardInterrupt`, sets the work's flag and is raised once the work has ended.
pub fn interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> Result<T> + Send,
) -> PyResult<T> {
    let stop = &AtomicBool::new(false);
    let (raised, result) = py.detach(|| {
        std::thread::scope(|scope| {
            let (sender, ended) = sync_channel::<()>(1);
            let worker = scope.spawn(move || {
                // Dropped at the end, and by a panic.
                let _sender = sender;
                work(stop)
            });
            let mut raised = Ok(());
            while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                if raised.is_ok() {
                    raised = Python::attach(|py| py.check_signals());
                    stop.store(raised.is_err(), Ordering::Relaxed);
                }
            }
            (raised, worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })
    });
    raised?;
    result.map_err(python)
}
