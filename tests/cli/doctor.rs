//! `patzer doctor`, `patzer engine check`, and fastchess's `-compliance`.

use std::process::Output;

use crate::{done, mock};

/// Runs the command on an engine: exit code and JSON.
fn examined(start: &str, engine: &str) -> (Option<i32>, serde_json::Value) {
    let mut command = crate::program();
    let output = command.env(mock::VARIABLE, start).args(["engine", "check", "--json", engine]).output();
    let output: Output = output.unwrap();
    let found = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    (output.status.code(), found)
}

/// Verdict and value of a check.
fn of<'a>(found: &'a serde_json::Value, check: &str) -> (&'a str, &'a str) {
    let findings = found["findings"].as_array().unwrap();
    let finding = findings.iter().find(|finding| finding["check"] == check).expect(check);
    (finding["verdict"].as_str().unwrap(), finding["value"].as_str().unwrap())
}

/// Checks that depend on the load of the machine.
const TIMED: [&str; 6] =
    ["clocks", "movetime", "stop", "isready while searching", "pondering", "end of input"];

#[test]
fn the_bundled_engine_keeps_the_protocol() {
    let engine = format!("cmd='{}' args=uci", env!("CARGO_BIN_EXE_patzer"));
    let (_, found) = examined("", &engine);
    for finding in found["findings"].as_array().unwrap() {
        let check = finding["check"].as_str().unwrap();
        // `patzer uci bench` would take `bench` for an evaluation.
        let expected = if check == "bench" { "absent" } else { "good" };
        assert!(TIMED.contains(&check) || finding["verdict"] == expected, "{finding}");
    }
    assert_eq!(
        of(&found, "introduction").1.split(", ready").next(),
        Some("patzer 0.1.0 by the patzer authors")
    );
    assert_eq!(of(&found, "nodes"), ("good", "20,000 of 20,000"));
}

#[test]
fn what_an_engine_does_wrong_is_named_and_costs_no_other_check() {
    let (code, found) = examined("classical", &mock::command("option.Score=50"));
    assert_eq!(code, Some(1), "{found}");
    assert_eq!(found["engine"], "Mock 1.0");
    for (check, verdict, says) in [
        ("introduction", "good", "Mock 1.0 by nobody, ready"),
        ("options", "warning", "without Hash and Threads"),
        ("moves", "good", "legal in 11 positions"),
        ("Chess960", "absent", "has no option UCI_Chess960"),
        // It divides by the number of legal moves.
        (
            "no legal move",
            "fault",
            " after `position fen rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3`",
        ),
        ("clocks", "good", "used"),
        ("nodes", "fault", "20,000"),
        ("searchmoves", "warning", " of a7a5 and h7h5"),
        ("reports", "good", "depth, score, nodes"),
        ("side of scores", "warning", "50 cp a queen down, 50 cp a queen up"),
        ("mate in one", "warning", ""),
        ("same search twice", "good", ""),
        ("stop", "warning", "before `stop`"),
        ("isready while searching", "fault", "before `stop`"),
        ("one answer to `go`", "good", "one `bestmove` to each of 3 searches"),
        ("stop without a search", "good", "ignored"),
        ("Hash and Threads", "absent", ""),
        ("quit", "good", ""),
        ("end of input", "good", ""),
        ("bench", "absent", "says no nodes"),
    ] {
        let (is, said) = of(&found, check);
        assert!(is == verdict && said.contains(says), "{check}: {is}, {said}");
    }
    let counted = ["good", "absent", "warnings", "faults"].map(|name| found[name].as_u64().unwrap());
    assert_eq!(counted.iter().sum::<u64>(), found["findings"].as_array().unwrap().len() as u64);
}

#[test]
fn a_crash_an_illegal_move_and_a_second_answer_are_faults() {
    let (code, found) = examined("", &mock::command("option.Mode=crash@2"));
    assert_eq!((code, of(&found, "moves").0), (Some(1), "fault"), "{found}");
    assert!(of(&found, "moves").1.contains("assertion failed: at go 2"), "{found}");
    let (_, found) = examined("", &mock::command("option.Moves=e2e5"));
    assert_eq!(of(&found, "moves").0, "fault");
    assert!(of(&found, "moves").1.starts_with("`e2e5` in rnbqkbnr/"), "{found}");
    let (code, found) = examined("", &mock::command("option.Mode=doubled"));
    let (verdict, value) = of(&found, "one answer to `go`");
    assert_eq!((code, verdict), (Some(1), "fault"), "{found}");
    assert!(value.contains(" after the answer to `go depth 3`"), "{value}");
}

#[test]
fn an_engine_that_does_not_start_and_an_evaluation_are_errors() {
    let said = |start: &str, engine: &str| {
        let mut command = crate::program();
        let output = command.env(mock::VARIABLE, start).args(["engine", "check", engine]).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(said("dies", &mock::command("")).contains("I cannot find my network"));
    assert!(said("", "default-hce").contains("is an evaluation, not a UCI engine"));
    assert!(said("", "./nowhere").contains("./nowhere"));
}

#[test]
fn fastchess_checks_an_engine_by_its_own_option() {
    let exe = std::env::current_exe().unwrap();
    let arguments = "--exact mock::engine --ignored --nocapture";
    let mut command = crate::program();
    command.env(mock::VARIABLE, "").args(["fastchess", "--compliance"]).arg(&exe).arg(arguments);
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.starts_with("Mock 1.0\n"), "{text}");
    assert!(text.contains("\nfault    no legal move"), "{text}");
    assert!(text.trim_end().lines().last().unwrap().ends_with(" faults"), "{text}");
}

#[test]
fn the_doctor_names_what_is_used_and_advises_where_something_is_wrong() {
    let output = crate::program().args(["doctor", "--json", "--tb", "src"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = found["findings"].as_array().unwrap();
    let named = |name: &str| findings.iter().find(|finding| finding["name"] == name).expect(name);
    assert!(named("patzer")["value"].as_str().unwrap().starts_with(env!("CARGO_PKG_VERSION")));
    assert_eq!(
        named("threads")["value"],
        std::thread::available_parallelism().unwrap().to_string(),
        "{found}"
    );
    assert_eq!(named("tables")["value"], "src: holds no Syzygy tables (.rtbw, .rtbz)");
    assert!(named("tables")["advice"].is_string());
    let output = crate::program().args(["doctor", "--tb", "fixtures/syzygy"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("5 files, up to 3 pieces in fixtures/syzygy, all checksums right"), "{text}");
    let text = String::from_utf8(crate::program().arg("doctor").output().unwrap().stdout).unwrap();
    assert!(text.lines().any(|line| line.starts_with("networks play with")), "{text}");
}

#[test]
fn games_have_the_same_checksum_for_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let sum = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(&done(folder.path(), line)).unwrap();
        let found = value["findings"].as_array().unwrap().iter().find(|row| row["name"] == "games play to");
        found.unwrap()["value"].as_str().unwrap().to_string()
    };
    let alone = sum("doctor --games 8 --threads 1 --json");
    assert!(alone.ends_with(" (8 games)") && alone.len() == 26, "{alone}");
    assert_eq!(alone, sum("doctor --games 8 --threads 4 --json"));
    assert_ne!(alone[..16], sum("doctor --games 10 --json")[..16]);
}
