//! Registry of running child processes, so that none outlives patzer.
//!
//! Whoever starts a program ends it; the registry kills the rest with their process groups when patzer leaves
//! early (a second interrupt, a panic).

use std::process::Child;
use std::sync::{Mutex, MutexGuard, PoisonError};

use patzer_io::interrupt;

static ALIVE: Mutex<Vec<u32>> = Mutex::new(Vec::new());

fn alive() -> MutexGuard<'static, Vec<u32>> {
    ALIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Registers a program that leads its own process group.
pub fn add(id: u32) {
    interrupt::before_leaving(end_all);
    alive().push(id);
}

/// Kills a program with its group and reaps it.
pub fn end(child: &mut Child) {
    let id = child.id();
    // The process id is ours until `wait`; unregister before that.
    kill_group(id);
    alive().retain(|&other| other != id);
    let _ = child.kill();
    let _ = child.wait();
}

/// Kills all registered programs with their groups, without waiting.
pub fn end_all() {
    for id in alive().drain(..) {
        kill_group(id);
    }
}

#[cfg(unix)]
fn kill_group(id: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(pid) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        // Fails if the process has already exited.
        let _ = kill_process_group(pid, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill_group(_: u32) {}
