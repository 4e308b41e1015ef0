//! SIGINT and SIGTERM, as a flag that long loops look at.
//!
//! In: a signal. Out: [`requested`] turns true, once and for all; the loop finishes what it has begun, writes
//! its state and returns. A second signal ends the process at once.

use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Starts to listen for SIGINT and SIGTERM. Calling it again does nothing.
pub fn listen() {
    // The only error is that a handler is there already, which is what is wanted.
    let _ = ctrlc::set_handler(|| {
        if REQUESTED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
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
