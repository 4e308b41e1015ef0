//! Tests of the commands as a user runs them, a module a command.

use std::path::Path;
use std::process::{Command, Output, Stdio};

mod ahead;
mod bad_input;
mod book;
mod card;
mod convert;
mod cutechess;
mod data_show;
mod data_stats;
mod data_validate;
mod doctor;
mod elo;
mod engine;
mod eval;
mod extract;
mod fastchess;
mod foreign_text;
mod funnel;
mod games;
#[cfg(target_os = "linux")]
mod gpu;
mod guide;
mod help;
#[cfg(unix)]
mod hostile;
mod inputs;
mod join;
mod journals;
mod json_keys;
mod kills;
mod lab;
mod label;
mod man;
mod match_;
mod mock;
mod moves;
mod net;
mod net_check;
mod net_emit;
mod net_identify;
mod net_layouts;
mod puzzles;
mod race;
mod rate;
mod reference;
mod report;
mod rewritten;
mod scale;
mod scores;
mod screen;
mod selfplay;
mod skip;
mod sprt;
mod spsa;
mod static_labels;
mod stockfish_networks;
mod studies;
mod tables;
mod teacher;
mod tournaments;
mod traces_numeric;
mod tune;
mod tune_data;
mod tune_net;
mod tune_outputs;
mod tune_traces;
mod uci_players;
mod visits;
mod watch;
mod wdl;
mod why;

/// The program, with the user's key in a folder of the tests.
fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_patzer"));
    command.env("XDG_STATE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/state"));
    command
}

/// Runs the program in a folder, with nothing to read on standard input.
fn patzer(folder: &Path, args: &[&str]) -> Output {
    let mut command = program();
    command.args(args).current_dir(folder).stdin(Stdio::null()).output().unwrap()
}

/// Runs a command line that has to succeed, as one would type it; gives what it prints.
fn done(folder: &Path, line: &str) -> String {
    let output = patzer(folder, &line.split_whitespace().collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(0), "{line}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The one line of an error.
#[track_caller]
fn error(output: &Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(stderr.starts_with("error: ") && stderr.lines().count() == 1, "{stderr}");
    stderr
}

/// Kills a program, which it cannot catch; false if it had come to its end.
fn kill(child: &mut std::process::Child) -> bool {
    let running = child.try_wait().unwrap().is_none();
    if running {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    running
}

/// Sends a signal to a process, or to the group `-PID`; by the shell, since a bare system has no other `kill`.
fn signal(name: &str, process: &str) -> bool {
    let line = format!("kill -{name} {process}");
    Command::new("sh").args(["-c", &line]).stderr(Stdio::null()).status().unwrap().success()
}
