//! Pairs that finish while an earlier one still runs are kept, whatever ends the run, and are not played again.

#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::time::Duration;

use crate::{fastchess, mock, signal};

const PAIRS: usize = 6;

/// A match on two boards; one engine of all blocks in its first game, and what it does after that is in its `mode`.
fn begin(folder: &Path, mode: &str) -> Child {
    let mut command = crate::program();
    command.current_dir(folder).env(mock::VARIABLE, "").stdin(Stdio::null());
    let args = format!("match --nodes 5 --max-moves 4 --concurrency 2 --games {}", 2 * PAIRS);
    command.args(args.split_whitespace());
    for seed in [1, 2] {
        command.args(["--engine", &mock::command(&format!("option.Seed={seed} option.Mode={mode}"))]);
    }
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn text(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap_or_default()
}

/// Pairs in the journal, and pairs ahead of the blocked one.
fn counts(folder: &Path) -> [usize; 2] {
    ["match.journal", "match.journal.ahead"].map(|name| text(folder, name).matches("\"pair\":").count())
}

/// Waits until all pairs but the blocked one are on the disk.
fn wait_for_others(folder: &Path) {
    while counts(folder).iter().sum::<usize>() < PAIRS - 1 {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(folder.join("blocked").exists());
}

/// A file without the times that were measured.
fn timeless(text: &str) -> String {
    let words = text.split_whitespace();
    words.filter(|word| !(word.starts_with("0.") && word.ends_with("s,"))).collect::<Vec<_>>().join(" ")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Resumes a run of which one pair is missing, and compares its games with an uninterrupted run's.
#[track_caller]
fn resume_and_compare(folder: &Path, whole: &str) {
    let [counted, ahead] = counts(folder);
    assert_eq!(counted + ahead, PAIRS - 1);
    assert_eq!(text(folder, "match.pgn").matches("[Event ").count(), 2 * counted);
    let mut command = crate::program();
    command.current_dir(folder).env(mock::VARIABLE, "").stdin(Stdio::null());
    let output = command.args(["match", "--resume", "--json-lines"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let pair = if ahead == 1 { "pair" } else { "pairs" };
    let says = format!("{ahead} {pair} that finished ahead are not played again");
    assert!(stderr(&output).contains(&says), "{output:?}");
    let events = String::from_utf8(output.stdout).unwrap();
    assert_eq!(events.matches("\"event\":\"pair\"").count(), 1, "only one pair was played: {events}");
    assert!(timeless(&text(folder, "match.pgn")) == whole);
    assert_eq!(counts(folder), [PAIRS, 0]);
    assert!(!folder.join("match.journal.ahead").exists());
}

#[test]
fn a_match_that_is_killed_stopped_or_ended_by_a_crash_loses_no_finished_pair() {
    let whole = tempfile::tempdir().unwrap();
    assert_eq!(begin(whole.path(), "plain").wait_with_output().unwrap().status.code(), Some(0));
    let whole = timeless(&text(whole.path(), "match.pgn"));
    for end in ["KILL", "INT", "crash"] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let child = begin(folder, if end == "crash" { "blocked-crash" } else { "block" });
        wait_for_others(folder);
        match end {
            "crash" => fs::write(folder.join("go-on"), "").unwrap(),
            name => assert!(signal(name, &child.id().to_string())),
        }
        let output = child.wait_with_output().unwrap();
        let [counted, ahead] = counts(folder).map(|pairs| 2 * pairs);
        let kept = format!(
            "{counted} games in match.pgn and {ahead} games that finished after an unfinished pair in \
             match.journal.ahead; --resume goes on"
        );
        let said = stderr(&output);
        match end {
            "KILL" => {}
            "INT" => {
                assert_eq!(output.status.code(), Some(130), "{output:?}");
                assert!(said.contains(&format!("stopped with {kept}")), "{said}");
            }
            _ => {
                assert_eq!(output.status.code(), Some(1), "{output:?}");
                assert!(said.contains(&format!("kept: {kept}")), "{said}");
                assert!(said.contains("no recover option set; game so far: position "), "{said}");
            }
        }
        fs::write(folder.join("go-on"), "").unwrap();
        resume_and_compare(folder, &whole);
    }
}

#[test]
fn a_new_match_does_not_take_the_place_of_pairs_ahead() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut child = begin(folder, "block");
    wait_for_others(folder);
    assert!(crate::kill(&mut child));
    let before = counts(folder);
    let output = begin(folder, "plain").wait_with_output().unwrap();
    assert_eq!((output.status.code(), counts(folder)), (Some(1), before), "{output:?}");
    let says = format!("{} ahead of an unfinished one; --resume goes on", before[1]);
    assert!(stderr(&output).contains(&says), "{output:?}");
}

#[test]
fn a_stopped_fastchess_run_counts_what_finished_and_goes_on_with_what_did_not() {
    let folder = fastchess::folder();
    let folder = folder.path();
    let engines = [1, 2].map(|seed| format!("name=E{seed} option.Seed={seed} option.Mode=block"));
    let options = "-each nodes=5 -maxmoves 2 -rounds 6 -concurrency 2 -force-concurrency -pgnout file=g.pgn \
                   -log file=log engine=true";
    let words = [fastchess::mocks(&fastchess::ARGS, &engines), fastchess::line(options)].concat();
    let mut command = crate::program();
    command.current_dir(folder).env(mock::VARIABLE, "").arg("fastchess").args(words).stdin(Stdio::null());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Five pairs of games of four plies.
    while text(folder, "log").matches("bestmove").count() < 40 {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(300));
    // The game that hangs holds back no other.
    assert_eq!(text(folder, "g.pgn").matches("[Event ").count(), 10);
    assert!(signal("INT", &child.id().to_string()));
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert!(
        stderr(&output).contains("finished after an unfinished pair, counted and written: "),
        "{output:?}"
    );
    assert_eq!(text(folder, "g.pgn").matches("[Event ").count(), 10);
    let config = || -> serde_json::Value { serde_json::from_str(&text(folder, "config.json")).unwrap() };
    let unplayed = config()["unplayed_pairs"].clone();
    assert!(unplayed == serde_json::json!([1]) || unplayed == serde_json::json!([2]), "{unplayed}");

    let words = fastchess::line("-config file=config.json");
    fastchess::played(&fastchess::run_as(folder, fastchess::PATZER, &["fastchess"], &words));
    let pgn = text(folder, "g.pgn");
    let mut rounds: Vec<&str> = pgn.lines().filter(|line| line.starts_with("[Round ")).collect();
    rounds.sort_unstable();
    let twice = |round| [format!("[Round \"{round}\"]"), format!("[Round \"{round}\"]")];
    assert_eq!(rounds, (1..=6).flat_map(twice).collect::<Vec<_>>());
    assert!(config().get("unplayed_pairs").is_none());
}
