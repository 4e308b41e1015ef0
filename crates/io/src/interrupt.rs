//! SIGINT, SIGTERM and SIGHUP as a flag that long loops poll.
//!
//! After the first signal a loop saves its state and returns. A second signal ends the process at once, unless it comes
//! within `ECHO`: a terminal signals every process of the group, and `make` and `timeout` forward the signal too.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

static REQUESTED: AtomicBool = AtomicBool::new(false);
static STREAMED: AtomicBool = AtomicBool::new(false);
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

/// Starts to listen for SIGINT, SIGTERM and, unless it is ignored as by `nohup`, SIGHUP; later calls do nothing.
///
/// # Errors
/// There is no thread to listen with.
pub fn listen() -> Result<()> {
    static LISTENING: AtomicBool = AtomicBool::new(false);
    if LISTENING.swap(true, Ordering::SeqCst) { Ok(()) } else { on_signal() }
}

#[cfg(unix)]
fn on_signal() -> Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    // Without a handler the signal keeps its default action.
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM]) else { return Ok(()) };
    let about = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if ignores(&about, SIGHUP) == Some(false) {
        let _ = signals.add_signal(SIGHUP);
    }
    let work = move || signals.forever().for_each(|signal| request(128 + signal as u8));
    std::thread::Builder::new().spawn(work).map(drop).map_err(Error::thread)
}

/// Tests whether a process ignores a signal, by the text of its `/proc/PID/status`.
#[cfg(unix)]
fn ignores(about: &str, signal: i32) -> Option<bool> {
    let mask = about.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    let mask = u64::from_str_radix(mask.trim(), 16).ok()?;
    Some(mask >> (signal - 1) & 1 == 1)
}

#[cfg(not(unix))]
fn on_signal() -> Result<()> {
    // The only error is an existing handler.
    let _ = ctrlc::set_handler(|| request(SIGINT));
    Ok(())
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

/// Returns the exit code after a signal: 130 for SIGINT, 143 for SIGTERM, 129 for SIGHUP.
pub fn exit_code() -> Option<u8> {
    requested().then(|| CODE.load(Ordering::SeqCst))
}

/// The flag itself, for loops that take one.
pub fn flag() -> &'static AtomicBool {
    &REQUESTED
}

/// Notes that bytes have gone to a stream, which takes nothing back.
pub(crate) fn note_stream() {
    STREAMED.store(true, Ordering::Relaxed);
}

/// The error of work that a signal ended before it completed its output.
pub fn error() -> Error {
    Error::Interrupted(match STREAMED.load(Ordering::Relaxed) {
        true => "what was written is not whole",
        false => "nothing was written",
    })
}

/// Fails with [`error`] after a signal, for work that then writes nothing.
pub fn check() -> Result<()> {
    if requested() { Err(error()) } else { Ok(()) }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_ignored_where_its_bit_is_set() {
        let about = "Name:\tpatzer\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000001001\nSigCgt:\t0\n";
        let found = [1, 2, 13].map(|signal| ignores(about, signal));
        assert_eq!(found, [Some(true), Some(false), Some(true)]);
        assert_eq!(ignores("Name:\tpatzer\n", 1), None);
    }
}
