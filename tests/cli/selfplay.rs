//! `patzer selfplay`: what it writes, that it goes on after a kill, and that `extract` reads it.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::{done, patzer};

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
    let v = json(folder.path(), &format!("selfplay {QUICK} --games 20 --balance 30 --threads 2"));
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
    assert!(text.contains("limit was 100 nodes a move and is now 101 nodes a move"), "{text}");
    let whole = fs::read(folder.path().join("selfplay.pgn.zst")).unwrap();
    let output = patzer(folder.path(), &["selfplay", "default-hce", "--nodes", "10", "--games", "2"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("selfplay.1.pgn.zst"), "{output:?}");
    assert!(fs::read(folder.path().join("selfplay.1.pgn.zst")).unwrap() == whole);
}

#[test]
fn a_pool_is_a_folder_of_evaluations_and_programs_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("old")).unwrap();
    done(folder.path(), "net init --seed 5 -o old/a.nnue");
    fs::write(at("old/notes.txt"), "none").unwrap();
    let line = format!("selfplay {QUICK} --games 8 --pool old --pool-share 1 -o p.pgn");
    done(folder.path(), &line);
    let pgn = fs::read_to_string(at("p.pgn")).unwrap();
    assert_eq!(pgn.matches("\"a.nnue\"").count(), 8);
    fs::write(at("script"), "#!/bin/sh\n").unwrap();
    for (args, says) in [
        ("selfplay script", "plays programs"),
        ("selfplay --games 2 -o x.parquet", "name a .pgn"),
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
