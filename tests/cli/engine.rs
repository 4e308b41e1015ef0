//! `uci`, `bench` and `perft`.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use crate::mock;

const PATZER: &str = env!("CARGO_BIN_EXE_patzer");

fn run(program: &str, arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that has nothing to read may be gone already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_program_speaks_uci() {
    let output = run(PATZER, &["uci"], "uci\nisready\nposition startpos moves e2e4\ngo depth 4\nquit\n");
    // `quit` may come before depth 4 is reached, and a move is printed all the same.
    let text = stdout(&output);
    assert!(output.status.success());
    assert!(text.contains("\nuciok\nreadyok\n"), "{text}");
    assert!(text.lines().last().unwrap().starts_with("bestmove "), "{text}");
}

#[test]
fn commands_from_a_pipe_are_carried_out_to_the_end() {
    let output =
        run(PATZER, &["uci"], "position fen 6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1\r\ngo depth 4\r\n");
    let text = stdout(&output);
    assert!(text.contains("score mate 1"), "{text}");
    assert!(text.ends_with("bestmove d1d8\n"), "{text}");
}

#[test]
fn a_missing_evaluation_is_named() {
    for command in [&["uci", "no-such.nnue"][..], &["bench", "--eval", "no-such.nnue"]] {
        let output = run(PATZER, command, "");
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "error: no-such.nnue: no such file\n");
    }
    let output = run(PATZER, &["uci"], "setoption name EvalFile value no-such.nnue\nisready\n");
    assert_eq!(stdout(&output), "info string no-such.nnue: no such file\nreadyok\n");
}

#[test]
fn bench_counts_the_same_nodes_every_time() {
    let text = stdout(&run(PATZER, &["bench", "--depth", "3"], ""));
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(matches!(words[..], [_, "nodes", _, "nps"]), "{text}");
    let again = json(&run(PATZER, &["bench", "--depth", "3", "--json"], ""));
    assert_eq!(again["nodes"].as_u64().unwrap().to_string(), words[0]);
    assert!(again["nps"].is_u64() && again["seconds"].is_f64());
    let [all, first] = ["cutoffs", "first_move_cutoffs"].map(|key| again[key].as_u64().unwrap());
    assert!(all < again["nodes"].as_u64().unwrap() && (all / 2..all).contains(&first), "{again}");
}

/// Shows a comparison of programs, with its JSON.
fn compared(engines: &[&str], runs: &str) -> serde_json::Value {
    json(&run(PATZER, &[&["engine", "bench", "--json", "--runs", runs], engines].concat(), ""))
}

#[test]
fn bench_compares_programs_by_their_own_benchmarks() {
    let deep = format!("cmd='{PATZER}' name=deep args='bench --depth 3'");
    let found =
        compared(&[&deep, &deep.replace("name=deep", "name=twin"), &deep.replace("depth 3", "depth 1")], "6");
    let engines = found["engines"].as_array().unwrap();
    assert_eq!((found["runs"].as_u64(), engines.len()), (Some(6), 3), "{found}");
    assert!(engines.iter().all(|engine| engine["reproducible"] == true), "{found}");
    assert_eq!(engines[0]["nodes"], engines[1]["nodes"]);
    assert!(engines[0]["nodes"].as_u64() > engines[2]["nodes"].as_u64());
    assert!(engines[0]["ratio"].is_null());
    let ratio = |key: &str| engines[1]["ratio"][key].as_f64().unwrap();
    assert!(ratio("low") <= ratio("value") && ratio("value") <= ratio("high"), "{found}");
    assert_eq!(compared(&[&deep, &deep], "1")["engines"][1]["ratio"]["low"], serde_json::Value::Null);
}

#[test]
fn a_program_without_a_benchmark_is_named() {
    for (engine, said) in [
        ("default-hce".to_string(), "is an evaluation, not a program"),
        (
            format!("cmd='{PATZER}' args=-V"),
            "says no nodes or no nodes a second; it ended with exit status: 0",
        ),
        (format!("cmd='{PATZER}' option.Hash=64"), "takes neither options nor limits"),
        ("./nowhere".to_string(), "./nowhere"),
    ] {
        let output = run(PATZER, &["engine", "bench", &engine], "");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(said), "{output:?}");
    }
}

#[test]
#[cfg(unix)]
fn a_benchmark_that_never_ends_is_given_up() {
    let output = run(PATZER, &["engine", "bench", "--stall-timeout", "1", "cmd=sleep args=600"], "");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("no answer to `bench` within 1 s"),
        "{output:?}"
    );
}

#[test]
fn perft_counts_and_divides() {
    let output = run(PATZER, &["perft", "4", "--json"], "");
    assert_eq!(json(&output)["nodes"], 197_281);
    let kiwipete = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
    let text = stdout(&run(PATZER, &["perft", "2", "--fen", kiwipete, "--divide"], ""));
    // 48 moves and the total, 2039 leaves (Chess Programming Wiki).
    assert_eq!(text.lines().count(), 49);
    assert!(text.lines().last().unwrap().starts_with("2,039 leaves in "), "{text}");
    assert!(text.contains("e1g1: 43\n"), "{text}");
    let text = stdout(&run(PATZER, &["perft", "2", "--fen", kiwipete, "--divide", "--chess960"], ""));
    assert!(text.contains("e1h1: 43\n"), "{text}");
}

#[test]
fn the_perft_suite_passes_and_a_wrong_count_does_not() {
    let suite = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/perft.epd");
    let output = run(PATZER, &["perft", "--suite", suite, "--max-nodes", "200000", "--json"], "");
    assert!(output.status.success());
    let result = json(&output);
    assert_eq!((&result["positions"], &result["failed"]), (&11.into(), &0.into()));
    assert!(result["passed"].as_u64().unwrap() > 30);

    let folder = tempfile::tempdir().unwrap();
    let wrong = folder.path().join("wrong.epd");
    std::fs::write(&wrong, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 ;D1 20 ;D2 401\n")
        .unwrap();
    let output = run(PATZER, &["perft", "--suite", wrong.to_str().unwrap()], "");
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("line 1: depth 2: 400 leaves, 401 expected"), "{said}");

    for bad in ["", "junk\n", "4k3/8/8/8/8/8/8/4K3 w - - 0 1\n"] {
        std::fs::write(&wrong, bad).unwrap();
        let output = run(PATZER, &["perft", "--suite", wrong.to_str().unwrap()], "");
        assert_eq!(output.status.code(), Some(1), "{bad}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_position_without_sense_is_refused() {
    let output = run(PATZER, &["perft", "2", "--fen", "8/8/8/8/8/8/8/8 w - - 0 1"], "");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("error: --fen: "));
}

/// A perft of a mock engine in a mode beside patzer's, with its JSON.
fn compared_perft(mode: &str, args: &[&str]) -> (Option<i32>, serde_json::Value) {
    let mut command = crate::program();
    command.env(mock::VARIABLE, "").args(["engine", "perft", "--json"]);
    let engine = mock::command(&format!("'option.Mode={mode}'"));
    let output = command.arg(engine).args(args).output().unwrap();
    let found = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    (output.status.code(), found)
}

#[test]
fn perft_of_an_engine_is_compared_and_its_wrong_move_found() {
    let (code, found) = compared_perft("", &["--suite", "fixtures/perft.epd", "--max-nodes", "5000"]);
    assert_eq!(
        (code, &found["different"], &found["engine"]),
        (Some(0), &0.into(), &"Mock 1.0".into()),
        "{found}"
    );
    assert!(found["equal"].as_u64() > found["positions"].as_u64());

    for (mode, names) in [("no en passant", true), ("no en passant totals", false)] {
        let (code, found) = compared_perft(mode, &["3", "--fen", "4k3/3p4/8/4P3/8/8/8/4K3 b - - 0 1"]);
        assert_eq!((code, &found["equal"], &found["different"]), (Some(1), &1.into(), &1.into()), "{found}");
        let difference = &found["differences"][0];
        assert_eq!((&difference["depth"], &difference["moves"]), (&2.into(), &serde_json::json!(["d7d5"])));
        let missing: Vec<&str> = if names { vec!["e5d6"] } else { vec![] };
        assert_eq!(difference["missing"], serde_json::json!(missing), "{found}");
        assert_eq!(difference["counts"].is_null(), names, "{found}");
        assert_eq!(difference["nodes"].as_u64(), difference["engine_nodes"].as_u64().map(|nodes| nodes + 1));
    }
    for (mode, after) in [("captures", "e4d5".into()), ("captures totals", serde_json::Value::Null)] {
        let (_, found) = compared_perft(mode, &["2", "--fen", "4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1"]);
        let difference = &found["differences"][0];
        assert_eq!(
            (&difference["moves"], &difference["missing"]),
            (&serde_json::json!([]), &serde_json::json!([]))
        );
        let carried = &difference["carried"];
        assert_eq!(carried["after"], after, "{found}");
        assert_eq!(
            carried["engine_nodes"].as_u64(),
            carried["nodes"].as_u64().map(|nodes| nodes + 1),
            "{found}"
        );
    }
    let (_, found) = compared_perft("queens", &["1", "--fen", "8/P3k3/8/8/8/8/8/4K3 w - - 0 1"]);
    assert_eq!(found["differences"][0]["missing"].as_array().unwrap().len(), 3, "{found}");
}

#[test]
fn an_engine_without_perft_is_named() {
    let output = run(
        PATZER,
        &["engine", "perft", &format!("cmd='{PATZER}' args=uci"), "1", "--command", "go depth"],
        "",
    );
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("takes `go depth 1` for a search; name its command"), "{said}");
}
