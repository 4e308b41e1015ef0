//! Registry of running child processes: when patzer leaves early, all are killed with their process groups.

use std::process::Child;
use std::sync::{Mutex, MutexGuard, PoisonError};

use patzer_io::interrupt;

static ALIVE: Mutex<Vec<u32>> = Mutex::new(Vec::new());

fn alive() -> MutexGuard<'static, Vec<u32>> {
    ALIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn add(id: u32) {
    interrupt::before_leaving(end_all);
    alive().push(id);
}

pub fn end(child: &mut Child) {
    let id = child.id();
    // The process id is ours until `wait`; unregister before that.
    kill_group(id);
    alive().retain(|&other| other != id);
    let _ = child.kill();
    let _ = child.wait();
}

pub fn end_all() {
    for id in alive().drain(..) {
        kill_group(id);
    }
}

#[cfg(unix)]
fn kill_group(id: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(pid) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(pid, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill_group(_: u32) {}
