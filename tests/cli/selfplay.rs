//! `patzer selfplay`: what it writes, that it goes on after a kill, and that `extract` reads it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::mock;
use crate::{done, patzer, signal};

const QUICK: &str = "default-hce --hash 1 --nodes 100 --max-moves 10 --random-plies 6";

fn json(folder: &Path, line: &str) -> Value {
    serde_json::from_str(&done(folder, &format!("{line} --json -q"))).unwrap()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

#[test]
fn games_are_accounted_for_and_extract_reads_every_position_with_its_score() {
    let folder = tempfile::tempdir().unwrap();
    let v = json(folder.path(), &format!("selfplay {QUICK} --games 20 --window 30 --threads 2"));
    let sum = |key: &str| v[key].as_object().unwrap().values().map(number).sum::<u64>();
    let results = number(&v["white_wins"]) + number(&v["draws"]) + number(&v["black_wins"]);
    assert_eq!((number(&v["games"]), results, sum("reasons")), (20, 20, 20));
    assert_eq!(number(&v["starts"]), 20 + sum("starts_rejected"));
    assert!(sum("starts_rejected") > 0 && v["complete"] == true, "{v}");
    assert!(v["positions_per_hour"].as_f64().unwrap() > 0.0);
    let read = json(folder.path(), "extract selfplay.pgn.zst --filter no_score");
    assert_eq!(
        (&read["games"], &read["positions_read"], &read["positions_written"]),
        (&v["games"], &v["positions"], &v["positions"])
    );
}

#[test]
fn killed_at_any_moment_it_goes_on_to_the_same_bytes() {
    let [whole, cut] = [0; 2].map(|_| tempfile::tempdir().unwrap());
    let args = format!("selfplay {QUICK} --games 100 --seed 3 -o a.pgn -o a.vf");
    done(whole.path(), &args);
    let mut kills = 0;
    for attempt in 1.. {
        let mut command = crate::program();
        command.current_dir(cut.path()).args(args.split_whitespace()).arg("--resume");
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // The time grows, so that there is an end.
        std::thread::sleep(std::time::Duration::from_millis(40 * attempt));
        let running = child.try_wait().unwrap().is_none();
        if running {
            child.kill().unwrap();
        }
        let status = child.wait().unwrap();
        if !running {
            assert_eq!(status.code(), Some(0));
            break;
        }
        kills += 1;
    }
    assert!(kills >= 1);
    for name in ["a.pgn", "a.vf", "a.pgn.journal", "a.vf.journal"] {
        let read = |folder: &Path| fs::read(folder.join(name)).unwrap();
        assert!(read(whole.path()) == read(cut.path()), "{name}");
    }
}

#[test]
fn a_resumed_run_needs_nothing_but_the_file_and_refuses_other_options() {
    let folder = tempfile::tempdir().unwrap();
    done(folder.path(), &format!("selfplay {QUICK} --games 10 --temperature 20 --temperature-plies 4"));
    let v = json(folder.path(), "selfplay --resume --games 20");
    assert_eq!((number(&v["games"]), &v["complete"]), (20, &Value::Bool(true)));
    let output = patzer(folder.path(), &["selfplay", "--resume", "--nodes", "101"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("player 1 limit nodes was 100 and is now 101"), "{text}");
    let whole = fs::read(folder.path().join("selfplay.pgn.zst")).unwrap();
    let output = patzer(folder.path(), &["selfplay", "default-hce", "--nodes", "10", "--games", "2"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("selfplay.1.pgn.zst"), "{output:?}");
    assert!(fs::read(folder.path().join("selfplay.1.pgn.zst")).unwrap() == whole);
}

#[test]
fn a_pool_is_a_folder_of_evaluations_and_wrong_options_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("old")).unwrap();
    done(folder.path(), "net init --seed 5 -o old/a.nnue");
    fs::write(at("old/notes.txt"), "none").unwrap();
    let line = format!("selfplay {QUICK} --games 8 --pool old --pool-share 1 -o p.pgn");
    done(folder.path(), &line);
    let pgn = fs::read_to_string(at("p.pgn")).unwrap();
    assert_eq!(pgn.matches("\"a.nnue\"").count(), 8);
    fs::write(at("my-script"), "#!/bin/sh\n").unwrap();
    fs::write(at("960.epd"), "bqnrkbrn/pppppppp/8/8/8/8/PPPPPPPP/BQNRKBRN w GDgd - 0 1\n").unwrap();
    for (args, says) in [
        ("selfplay my-script", "script: cannot be started"),
        ("selfplay --games 2 -o x.jpg", "name a .pgn"),
        ("selfplay --games 2 --genfens", "UCI engines make openings"),
        ("selfplay --games 2 --dfrc -o x.binpack", "binpack cannot carry Chess960"),
        ("selfplay --games 2 --openings 960.epd -o x.pgn -o x.binpack", "binpack cannot carry Chess960"),
        ("selfplay my-script --engine cmd=my-script --each name=a", "--each"),
        ("selfplay --games 2 --pool old --pool-share 2", "--pool-share 2"),
        ("selfplay --games 2 --temperature -1", "temperature"),
        ("selfplay --games 2 --pool-share 0.5", "--pool"),
    ] {
        let output = patzer(folder.path(), &args.split_whitespace().collect::<Vec<_>>());
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args}: {text}");
        assert!(text.contains(says), "{args}: {text}");
    }
}

/// Starts self-play of mock engines.
fn command(folder: &Path, start: &str, engines: &[&str], args: &str) -> Command {
    let mut command = crate::program();
    command.current_dir(folder).arg("selfplay").env(mock::VARIABLE, start).stdin(Stdio::null());
    // Others test `--engine`.
    command.args(engines.iter().map(|engine| mock::command(engine)));
    command.args(["--nodes", "5", "--max-moves", "8", "--json"]).args(args.split_whitespace());
    command
}

fn mocked(folder: &Path, start: &str, engines: &[&str], args: &str) -> Output {
    command(folder, start, engines, args).output().unwrap()
}

fn summary(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_lines_of_programs_are_not_sampled() {
    let folder = tempfile::tempdir().unwrap();
    let output = mocked(folder.path(), "", &["option.Seed=1"], "--games 2 --temperature 20");
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("is a program; --temperature samples the lines of evaluations"), "{text}");
}

#[test]
fn programs_give_the_same_bytes_at_any_concurrency_and_extract_reads_them() {
    let [one, three] = [0; 2].map(|_| tempfile::tempdir().unwrap());
    let files = ["a.pgn.zst", "a.vf", "a.binpack", "a.pgn.zst.journal", "a.parquet"];
    let play = |folder: &Path, concurrency: usize| {
        let engines =
            ["name=a option.Seed=1", "name=b option.Seed=2 option.Score=20", "name=c option.Seed=3"];
        let args = "--games 40 -o a.pgn.zst -o a.vf -o a.binpack -o a.parquet --concurrency";
        summary(&mocked(folder, "", &engines, &format!("{args} {concurrency}")))
    };
    let (v, other) = (play(one.path(), 1), play(three.path(), 3));
    assert_eq!(v["positions"], other["positions"]);
    for name in files {
        let read = |folder: &Path| fs::read(folder.join(name)).unwrap();
        // The signature of a journal is of its user.
        assert!(read(one.path()) == read(three.path()) || name.ends_with("journal"), "{name}");
    }
    done(one.path(), "extract a.pgn.zst -o b.parquet");
    let records =
        |name: &str| patzer_data::Dataset::open(&one.path().join(name)).unwrap().read_all().unwrap();
    assert!(records("a.parquet") == records("b.parquet"));
    assert_eq!(records("a.parquet").len() as u64, number(&v["positions"]));
    for name in ["a.vf", "a.binpack"] {
        let reader = patzer_data::AnyReader::open(&one.path().join(name), None).unwrap();
        let scores = |records: Vec<patzer_data::Record>| -> Vec<_> {
            records.iter().map(|record| (record.board, record.score, record.result)).collect()
        };
        assert!(scores(reader.read_all().unwrap()) == scores(records("a.parquet")), "{name}");
    }
    let pgn =
        String::from_utf8(patzer_io::read(&one.path().join("a.pgn.zst"), patzer_io::Limit::BOOK).unwrap());
    let pgn = pgn.unwrap();
    for pair in [["a", "b"], ["b", "c"], ["c", "a"]] {
        let game = |[white, black]: [&str; 2]| format!("[White \"{white}\"]\n[Black \"{black}\"]");
        assert!(pgn.contains(&game(pair)) || pgn.contains(&game([pair[1], pair[0]])), "{pair:?}");
    }
    assert!(!pgn.contains("[White \"a\"]\n[Black \"a\"]"));
}

#[test]
fn misbehaving_engines_end_no_run_and_their_games_are_counted_and_left_out() {
    for (mode, reason) in [
        ("crash", "disconnect"),
        ("hang", "stall"),
        ("flood", "stall"),
        ("illegal", "illegal_move"),
        ("null", "illegal_move"),
        ("none", "illegal_move"),
        ("empty", "illegal_move"),
        ("unended", "disconnect"),
        ("garbage", "none"),
        ("twice", "none"),
        ("silent", "none"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        // Each process of the engine does it once, at its thirtieth search.
        let engine = format!("option.Mode={mode}@30 option.Seed=4");
        let args = "--games 12 --stall-timeout 1 --concurrency 2 --window all -o a.pgn -o a.vf";
        let output = mocked(folder.path(), "", &[&engine], args);
        let v = summary(&output);
        let failed = number(&v["games_left_out"]);
        assert_eq!(v["reasons"].get(reason).map_or(0, number), failed, "{mode}: {v}");
        assert!(if reason == "none" { failed == 0 } else { failed > 0 }, "{mode}: {v}");
        assert_eq!(stderr(&output).contains("warning: game"), failed > 0, "{mode}: {output:?}");
        let sound = number(&v["white_wins"]) + number(&v["draws"]) + number(&v["black_wins"]);
        assert_eq!((number(&v["games"]), sound + failed), (12, 12), "{mode}: {v}");
        let pgn = fs::read_to_string(folder.path().join("a.pgn")).unwrap();
        assert_eq!(pgn.matches("[Event ").count() as u64, sound, "{mode}");
        let unscored = number(&v["positions_without_score"]);
        assert_eq!(unscored > 0, mode == "silent", "{mode}: {v}");
        let viri = json(folder.path(), "data validate a.vf");
        assert_eq!(number(&viri["positions"]), number(&v["positions"]) - unscored, "{mode}");
    }
}

#[test]
fn an_engine_that_fails_on_starts_or_always_is_no_endless_run() {
    let folder = tempfile::tempdir().unwrap();
    let v = summary(&mocked(folder.path(), "", &["option.Mode=crash@0 option.Score=0"], "--games 20"));
    assert!(number(&v["starts_rejected"]["engine_failed"]) > 0, "{v}");
    for (start, engine, says) in [
        ("", "option.Mode=illegal@1 restart=on", "16 games in a row were ended by failures"),
        ("dies", "", "I cannot find my network"),
        ("few", "", "`genfens` made 32 openings of 64"),
    ] {
        let rest = if start == "few" { "--genfens" } else { "--window all" };
        let output =
            mocked(folder.path(), start, &[engine], &format!("--games 40 --overwrite -o b.pgn {rest}"));
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(stderr(&output).contains(says), "{output:?}");
    }
}

#[test]
fn engines_make_their_own_openings() {
    let folder = tempfile::tempdir().unwrap();
    let play = |name: &str, args: &str| {
        summary(&mocked(
            folder.path(),
            "",
            &["option.Seed=1"],
            &format!("--genfens=x --games 70 -o {name} {args}"),
        ))
    };
    let v = play("a.pgn", "--concurrency 2");
    assert_eq!(v["starts_rejected"]["illegal"], 8, "each eighth of the first block; the second has six");
    play("b.pgn", "--concurrency 1");
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("a.pgn"), read("b.pgn"));
    let fens: std::collections::HashSet<String> =
        read("a.pgn").lines().filter(|line| line.starts_with("[FEN")).map(String::from).collect();
    assert!(fens.len() > 60 && fens.iter().all(|fen| fen.ends_with(" 3\"]")), "{fens:?}");
}

#[test]
fn a_soft_limit_ends_with_the_iteration_that_exceeds_it() {
    let folder = tempfile::tempdir().unwrap();
    let args = "--soft-nodes 401 --stall-timeout 5 --games 2 --window all -o a.pgn";
    let v = summary(&mocked(folder.path(), "iterates", &["option.Seed=1"], args));
    assert_eq!(v["games_left_out"], 0, "{v}");
    let pgn = fs::read_to_string(folder.path().join("a.pgn")).unwrap();
    assert_eq!(pgn.matches("{+0.05/5 ").count() as u64, number(&v["positions"]), "{pgn}");
    let args = "--soft-nodes 501 --stall-timeout 1 --games 2 --window all -o b.pgn";
    let v = summary(&mocked(folder.path(), "iterates", &["option.Seed=1"], args));
    assert_eq!(v["reasons"]["stall"], 2, "no iteration exceeds it: {v}");
}

#[test]
fn a_killed_run_of_programs_goes_on_without_playing_a_game_twice() {
    let folder = tempfile::tempdir().unwrap();
    let args = "--games 200 -o a.pgn --concurrency 3 --resume -q";
    let mut kills = 0;
    for attempt in 1.. {
        let mut command = command(folder.path(), "", &["option.Seed=1"], args);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(25 * attempt));
        let ended = child.try_wait().unwrap();
        if let Some(status) = ended {
            assert_eq!(status.code(), Some(0));
            break;
        }
        // Ctrl-C, and at every other time a kill.
        let name = if attempt % 2 == 0 { "INT" } else { "KILL" };
        assert!(signal(name, &child.id().to_string()));
        child.wait().unwrap();
        kills += 1;
    }
    assert!(kills >= 2);
    let pgn = fs::read_to_string(folder.path().join("a.pgn")).unwrap();
    let rounds: Vec<u32> = pgn
        .lines()
        .filter_map(|line| line.strip_prefix("[Round \"")?.strip_suffix("\"]")?.parse().ok())
        .collect();
    let all: std::collections::BTreeSet<u32> = rounds.iter().copied().collect();
    assert_eq!((rounds.len(), all), (200, (1..=200).collect()));
}

#[test]
fn games_without_anything_drawn_are_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let said = |more: &str| {
        let line = format!("selfplay default-hce --hash 1 --nodes 60 --max-moves 4 --games 2 {more}");
        let output = patzer(folder.path(), &line.split(' ').collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let warning = "every game begins at the start position";
    assert!(said("--random-plies 0 -o a.pgn").contains(warning));
    assert!(!said("--random-plies 2 -o b.pgn").contains(warning));
    assert!(!said("--random-plies 0 --temperature 20 -o c.pgn").contains(warning));
}
