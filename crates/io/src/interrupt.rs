//! SIGINT and SIGTERM, as a flag that long loops poll.
//!
//! After a signal a loop finishes what it has begun, saves its state and returns. A second signal ends the process at
//! once, unless it comes so soon that it is the same one: a terminal signals every process of the group, and `make` and
//! `timeout` pass theirs on as well.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

static REQUESTED: AtomicBool = AtomicBool::new(false);
/// The exit code of the first signal.
static CODE: AtomicU8 = AtomicU8::new(SIGINT);
static FIRST: OnceLock<Instant> = OnceLock::new();
static LAST: OnceLock<fn()> = OnceLock::new();

/// The exit code after SIGINT, by the convention of shells: 128 and the number of the signal.
const SIGINT: u8 = 130;

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

/// Makes a panic, which is always a fault of patzer itself, end the process with exit code 2.
pub fn exit_2_on_panic() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        report(info);
        leave(2);
    }));
}

/// Starts to listen for SIGINT and SIGTERM. Calling it again does nothing.
pub fn listen() {
    static LISTENING: OnceLock<()> = OnceLock::new();
    LISTENING.get_or_init(on_signal);
}

#[cfg(unix)]
fn on_signal() {
    use signal_hook::consts::{SIGINT, SIGTERM};
    // Without a handler a signal ends the process as it would any other.
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM]) else { return };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            request(128 + signal as u8);
        }
    });
}

#[cfg(not(unix))]
fn on_signal() {
    // The only error is that a handler is there already.
    let _ = ctrlc::set_handler(|| request(SIGINT));
}

fn request(code: u8) {
    let first = *FIRST.get_or_init(Instant::now);
    if !REQUESTED.load(Ordering::SeqCst) {
        CODE.store(code, Ordering::SeqCst);
        REQUESTED.store(true, Ordering::SeqCst);
    } else if first.elapsed() > ECHO {
        leave(code.into());
    }
}

/// Whether the user has asked to stop.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// The exit code of an interrupted process, 130 after SIGINT and 143 after SIGTERM; `None` if there was no signal.
pub fn exit_code() -> Option<u8> {
    requested().then(|| CODE.load(Ordering::SeqCst))
}

/// The flag itself, for loops that take one.
pub fn flag() -> &'static AtomicBool {
    &REQUESTED
}

/// An error if the user has asked to stop, for work that then leaves nothing.
///
/// # Errors
/// [`Error::Interrupted`].
pub fn check() -> Result<()> {
    if requested() { Err(Error::Interrupted("nothing was written")) } else { Ok(()) }
}
