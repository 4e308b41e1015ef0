//! SIGINT and SIGTERM, as a flag that long loops look at.
//!
//! In: a signal. Out: [`requested`] turns true, once and for all; the loop finishes what it has begun, writes
//! its state and returns. A second signal ends the process at once, unless it comes so soon that it is the same
//! one: from a terminal signals go to every process of the group, and `make` and `timeout` pass theirs on as well.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

static REQUESTED: AtomicBool = AtomicBool::new(false);
static FIRST: OnceLock<Instant> = OnceLock::new();
static LAST: OnceLock<fn()> = OnceLock::new();

/// Signals within this time are one.
const ECHO: Duration = Duration::from_millis(200);

/// Names what has to be done when the process is left at once: child processes must not outlive it. The first
/// call counts.
pub fn before_leaving(last: fn()) {
    let _ = LAST.set(last);
}

/// Ends the process at once.
pub fn leave(code: i32) -> ! {
    if let Some(last) = LAST.get() {
        last();
    }
    std::process::exit(code);
}

/// Starts to listen for SIGINT and SIGTERM. Calling it again does nothing.
pub fn listen() {
    // The only error is that a handler is there already, which is what is wanted.
    let _ = ctrlc::set_handler(|| {
        let first = *FIRST.get_or_init(Instant::now);
        if REQUESTED.swap(true, Ordering::SeqCst) && first.elapsed() > ECHO {
            leave(130);
        }
    });
}

/// Whether the user has asked to stop.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// The flag itself, for loops that take one.
pub fn flag() -> &'static AtomicBool {
    &REQUESTED
}

/// An error if the user has asked to stop, for work that then leaves nothing behind.
///
/// # Errors
/// If so.
pub fn check() -> crate::error::Result<()> {
    match requested() {
        true => Err(crate::error::Error::usage("interrupted; nothing was written")),
        false => Ok(()),
    }
}
