//! The child processes that are alive, so that none outlives patzer.
//!
//! In: programs as they start and end. Out: on the way out of the process (a second interrupt, a fault of ours)
//! all of them are ended with their groups. In the ordinary course each is ended by whoever started it.

use std::process::Child;
use std::sync::{Mutex, MutexGuard, PoisonError};

use patzer_io::interrupt;

static ALIVE: Mutex<Vec<u32>> = Mutex::new(Vec::new());

fn alive() -> MutexGuard<'static, Vec<u32>> {
    ALIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes a program that leads a process group of its own.
pub fn add(id: u32) {
    interrupt::before_leaving(end_all);
    alive().push(id);
}

/// Ends a program with its group, waits for it, and forgets it.
pub fn end(child: &mut Child) {
    let id = child.id();
    // Until the child is waited for, its number belongs to nobody else: it is forgotten before that.
    kill_group(id);
    alive().retain(|&other| other != id);
    let _ = child.kill();
    let _ = child.wait();
}

/// Ends all programs with their groups, without waiting.
pub fn end_all() {
    for id in alive().drain(..) {
        kill_group(id);
    }
}

#[cfg(unix)]
fn kill_group(id: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(pid) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        // It may have ended by itself.
        let _ = kill_process_group(pid, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill_group(_: u32) {}
