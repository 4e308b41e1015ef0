//! SIGINT and SIGTERM as a flag that long loops poll.
//!
//! After the first signal a loop saves its state and returns. A second signal ends the process at once, unless it comes
//! within `ECHO`: a terminal signals every process of the group, and `make` and `timeout` forward the signal too.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

static REQUESTED: AtomicBool = AtomicBool::new(false);
static CODE: AtomicU8 = AtomicU8::new(SIGINT);
static FIRST: OnceLock<Instant> = OnceLock::new();
static CLEAN_UP: OnceLock<fn()> = OnceLock::new();

/// Exit code after SIGINT: 128 plus the signal's number, as in shells.
const SIGINT: u8 = 130;

/// Signals within this time count as one.
const ECHO: Duration = Duration::from_millis(200);

/// Registers the clean-up of [`leave`], such as ending child processes. The first call counts.
pub fn before_leaving(clean_up: fn()) {
    let _ = CLEAN_UP.set(clean_up);
}

/// Exits at once, after the registered clean-up.
pub fn leave(code: i32) -> ! {
    if let Some(clean_up) = CLEAN_UP.get() {
        clean_up();
    }
    std::process::exit(code);
}

/// Makes every panic end the process with exit code 2.
pub fn exit_2_on_panic() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        report(info);
        leave(2);
    }));
}

/// Turns SIGXFSZ, which ends the process, into an error of the write that exceeds the limit (`ulimit -f`).
pub fn report_file_limits() {
    #[cfg(unix)]
    {
        // Without a handler the signal keeps its default action.
        let flag = std::sync::Arc::new(AtomicBool::new(false));
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, flag);
    }
}

/// Starts to listen for SIGINT and SIGTERM; later calls do nothing.
pub fn listen() {
    static LISTENING: OnceLock<()> = OnceLock::new();
    LISTENING.get_or_init(on_signal);
}

#[cfg(unix)]
fn on_signal() {
    use signal_hook::consts::{SIGINT, SIGTERM};
    // Without a handler the signal keeps its default action.
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM]) else { return };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            request(128 + signal as u8);
        }
    });
}

#[cfg(not(unix))]
fn on_signal() {
    // The only error is an existing handler.
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

/// A signal has come.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// Returns the exit code after a signal: 130 for SIGINT, 143 for SIGTERM.
pub fn exit_code() -> Option<u8> {
    requested().then(|| CODE.load(Ordering::SeqCst))
}

/// The flag itself, for loops that take one.
pub fn flag() -> &'static AtomicBool {
    &REQUESTED
}

/// Fails with [`Error::Interrupted`] after a signal, for work that then writes nothing.
pub fn check() -> Result<()> {
    if requested() { Err(Error::Interrupted("nothing was written")) } else { Ok(()) }
}
