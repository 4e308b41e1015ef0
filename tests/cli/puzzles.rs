//! `patzer puzzles`.

use serde_json::Value;

use crate::{mock, patzer};

fn fixture(name: &str) -> String {
    format!("{}/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn solved(args: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let output = patzer(folder.path(), &[&["puzzles", "--json"], args].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn real_puzzles_are_counted_and_the_same_for_any_number_of_threads() {
    let file = fixture("puzzles.csv");
    let one = solved(&[&file, "--nodes", "2000", "--threads", "1"]);
    let two = solved(&[&file, "--nodes", "2000", "--threads", "2"]);
    assert_eq!(one, two);
    // Counted by hand from the file: every second of the moves.
    let text = std::fs::read_to_string(&file).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let moves: usize = rows.iter().map(|row| row[2].split(' ').count() / 2).sum();
    assert_eq!(
        (one["puzzles"].as_u64(), one["moves"].as_u64()),
        (Some(rows.len() as u64), Some(moves as u64))
    );
    assert!(one["accuracy"].as_f64().unwrap() > 0.6, "{one}");
    assert_eq!(one["puzzles_bad"], 0);
    let few = solved(&[&file, "--count", "3", "--depth", "1"]);
    assert_eq!(few["puzzles"], 3);
}

#[test]
fn bad_puzzles_are_counted_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let mate = "4k3/8/3K4/8/8/8/8/7R b - - 0 1,e8d8 h1h8";
    let text = format!("FEN,Moves\n{mate}\nx,e2e4 e7e5\n4k3/8/8/8/8/8/8/K7 w - - 0 1,a1a2\n\"no end\n");
    std::fs::write(folder.path().join("p.csv"), text).unwrap();
    let output = patzer(folder.path(), &["puzzles", "p.csv", "--json"]);
    let errors = String::from_utf8(output.stderr).unwrap();
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&result["puzzles"], &result["solved"]), (&1.into(), &1.into()), "{errors}");
    assert_eq!(result["puzzles_bad"], 3);
    // With one success in one trial, the lower end of the exact interval is its tail.
    assert_eq!(result["solved_interval"][1], 1.0);
    assert!((result["solved_interval"][0].as_f64().unwrap() - 0.025).abs() < 1e-12);
    assert!(errors.contains("p.csv: line 3:") && errors.contains("line 4: has no move to find"), "{errors}");
}

#[test]
fn an_epd_suite_is_read_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let text = "4k3/8/4K3/8/8/8/8/7R w - - bm Rh8#; id \"mate\";\n\n4k3/8/8/8/8/8/8/4K3 w - - id \"none\";\n";
    std::fs::write(folder.path().join("suite.epd"), text).unwrap();
    let output = patzer(folder.path(), &["puzzles", "suite.epd", "--json"]);
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&result["solved"], &result["puzzles_bad"]), (&1.into(), &1.into()));
    let output = patzer(folder.path(), &["puzzles", "none.csv"]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_program_solves_as_the_same_engine_in_this_process() {
    let file = fixture("puzzles.csv");
    let common = ["--count", "40", "--nodes", "1000"];
    let program = format!("\"cmd={}\" args=uci option.Hash=4", env!("CARGO_BIN_EXE_patzer"));
    let own = solved(&[&[file.as_str()], &common[..]].concat());
    for concurrency in ["1", "3"] {
        let args = ["--engine", &program, "--concurrency", concurrency];
        let mut by_program = solved(&[&[file.as_str()], &common[..], &args].concat());
        let entries = by_program.as_object_mut().unwrap();
        assert!(entries.remove("engine").unwrap().as_str().unwrap().starts_with("patzer"));
        assert_eq!(entries.remove("limit"), Some("1000 nodes a move".into()));
        assert_eq!(entries.remove("failures"), Some(0.into()));
        assert_eq!(entries.remove("restarts"), Some(0.into()));
        assert_eq!(by_program, own);
    }
}

#[test]
fn positions_on_which_a_program_fails_are_counted_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let run = |mode: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_patzer"));
        command.current_dir(folder.path()).env(mock::VARIABLE, "");
        let engine = mock::command(&format!("option.Mode={mode}"));
        command.args(["puzzles", &fixture("puzzles.csv"), "--json", "--count", "60", "--engine", &engine]);
        command.output().unwrap()
    };
    let output = run("crash@0");
    let errors = String::from_utf8(output.stderr).unwrap();
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    let failures = result["failures"].as_u64().unwrap();
    assert!(failures > 0 && failures < result["moves"].as_u64().unwrap(), "{result}");
    assert!(errors.contains("warning: puzzle "), "{errors}");
    // A process that crashes at each third search solves all when asked once more.
    let output = run("crash@3");
    let errors = String::from_utf8(output.stderr).unwrap();
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    let restarts = result["restarts"].as_u64().unwrap();
    assert!(restarts > 1 && result["failures"] == 0, "{result}");
    let says =
        format!("crashed or stalled {restarts} times and was started again; first: ended when it was to");
    assert!(errors.contains(&says) && errors.contains("assertion failed: at go 3, in "), "{errors}");
    let output = run("illegal@1");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && errors.contains("warning: puzzle "), "{errors}");
    // An evaluation is no program.
    let output = patzer(folder.path(), &["puzzles", &fixture("puzzles.csv"), "--engine", "default"]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("is an evaluation, not a UCI engine"));
}
