//! A test that is killed repeatedly and resumed with `--resume` alone gives the result of an uninterrupted one.
//! SIGKILL cannot be caught: only what is on disk survives.

#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use patzer_chess::rng::mix;
use serde_json::Value;

use crate::mock;

/// A test in a folder, with the arguments it begins with unless its journal holds them.
fn begin(folder: &Path, args: &[String], attempt: u64) -> Child {
    let mut command = crate::program();
    command.current_dir(folder).args(["sprt", "--resume", "--json"]).env(mock::VARIABLE, "");
    if pairs(folder).is_none() {
        command.args(args);
    }
    command.args(["--concurrency", if attempt.is_multiple_of(2) { "2" } else { "1" }]);
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// The whole lines of the journal behind the first; `None` before that is written.
fn pairs(folder: &Path) -> Option<Vec<Value>> {
    let journal = fs::read_to_string(folder.join("sprt.journal")).unwrap_or_default();
    let (whole, _) = journal.rsplit_once('\n')?;
    let lines = whole.lines().skip(1).map(|line| serde_json::from_str(line).unwrap());
    Some(lines.filter(|line: &Value| line.get("end").is_none()).collect())
}

/// The PGN begins with exactly the games that the journal counts.
fn check_agreement(folder: &Path) {
    let pairs = pairs(folder).unwrap_or_default();
    let pgn = fs::read_to_string(folder.join("sprt.pgn")).unwrap_or_default();
    let bytes: u64 = pairs.iter().map(|pair| pair["bytes"].as_u64().unwrap()).sum();
    let counted = &pgn[..bytes as usize];
    let results: Vec<&str> = counted.lines().filter_map(|line| line.strip_prefix("[Result ")).collect();
    assert_eq!(results.len(), 2 * pairs.len());
    for (pair, results) in pairs.iter().zip(results.chunks(2)) {
        let white = |result: &str| match result {
            "\"1-0\"]" => 2,
            "\"0-1\"]" => 0,
            _ => 1,
        };
        assert_eq!(pair["half_points"], serde_json::json!([white(results[0]), 2 - white(results[1])]));
    }
}

/// Loses what a power cut may lose: games that the journal does not count are not synced, and neither is a line of the
/// journal that was just written.
fn cut_power(folder: &Path, attempt: u64) {
    let cut = |name: &str, most: u64, seed: u64| {
        let file = fs::OpenOptions::new().write(true).open(folder.join(name)).unwrap();
        let length = file.metadata().unwrap().len();
        file.set_len(length - mix(seed, attempt) % (most + 1)).unwrap();
    };
    let Some(counted) = pairs(folder) else { return };
    let bytes: u64 = counted.iter().map(|pair| pair["bytes"].as_u64().unwrap()).sum();
    let pgn = fs::metadata(folder.join("sprt.pgn")).unwrap().len();
    cut("sprt.pgn", pgn - bytes, 7);
    let journal = fs::read(folder.join("sprt.journal")).unwrap();
    let last = journal.iter().rev().skip(1).position(|&byte| byte == b'\n').unwrap_or(0) as u64;
    if counted.len() > 1 && attempt.is_multiple_of(3) {
        cut("sprt.journal", last, 11);
    }
}

/// A file without the times that were measured.
fn timeless(text: &str) -> String {
    let words = text.split_whitespace();
    words.filter(|word| !(word.starts_with("0.") && word.ends_with("s,"))).collect::<Vec<_>>().join(" ")
}

/// Waits for the end, or kills: first when the journal begins, then every other time when some pairs more are done,
/// else after a random time. True if it was killed.
fn kill_at_random(child: &mut Child, folder: &Path, attempt: u64) -> bool {
    let count = || pairs(folder).unwrap_or_default().len() as u64;
    let enough = count() + mix(3, attempt) % 4;
    if !attempt.is_multiple_of(2) {
        // The longest wait grows, so that there is an end.
        std::thread::sleep(Duration::from_micros(mix(5, attempt) % (20_000 * (1 + attempt))));
    } else if attempt == 0 {
        while pairs(folder).is_none() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
    } else {
        while count() <= enough && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
    }
    crate::kill(child)
}

#[track_caller]
fn killed_and_resumed_it_is_the_same_test(args: &[String]) {
    let [whole, cut] = [0; 2].map(|_| tempfile::tempdir().unwrap());
    for folder in [&whole, &cut] {
        fs::write(
            folder.path().join("start.epd"),
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\n",
        )
        .unwrap();
    }
    let output = begin(whole.path(), args, 0).wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(11), "{output:?}");
    let uninterrupted: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut kills = 0;
    for attempt in 0.. {
        let mut child = begin(cut.path(), args, attempt);
        let killed = kill_at_random(&mut child, cut.path(), attempt);
        check_agreement(cut.path());
        if killed {
            cut_power(cut.path(), attempt);
            kills += 1;
            continue;
        }
        assert_eq!(child.wait().unwrap().code(), Some(11));
        // On a busy machine it may end before the kill.
        if kills == 0 && attempt < 20 {
            for name in ["sprt.pgn", "sprt.journal"] {
                fs::remove_file(cut.path().join(name)).unwrap();
            }
            continue;
        }
        let resumed: Value = serde_json::from_reader(child.stdout.unwrap()).unwrap();
        for key in ["wins", "draws", "losses", "pentanomial", "reasons", "llr", "elo", "white", "black"] {
            assert_eq!(resumed[key], uninterrupted[key], "{key}");
        }
        break;
    }
    // How many depends on how busy the machine is.
    assert!(kills >= 1);
    let pgn = |folder: &Path| timeless(&fs::read_to_string(folder.join("sprt.pgn")).unwrap());
    // Not assert_eq, which would print both files.
    assert!(pgn(cut.path()) == pgn(whole.path()));
}

fn words(args: &str) -> Vec<String> {
    args.split_whitespace().map(String::from).collect()
}

#[test]
fn killed_at_any_moment_a_test_between_programs_goes_on_as_if_nothing_had_been() {
    let mut args = words("--openings start.epd --nodes 5 --games 400 --max-moves 4 --seed 5");
    for engine in ["name=one option.Seed=1", "name=two option.Seed=2"] {
        args.extend(["--engine".to_string(), mock::command(engine)]);
    }
    killed_and_resumed_it_is_the_same_test(&args);
}

#[test]
fn killed_at_any_moment_a_test_in_this_process_goes_on_as_if_nothing_had_been() {
    let args = "untuned-hce default-hce --hash 1 --nodes 100 --max-moves 10 --games 60";
    killed_and_resumed_it_is_the_same_test(&words(args));
}

/// Names of temporary files of `out.parquet`.
fn temporary_files(folder: &Path) -> Vec<std::ffi::OsString> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().starts_with(".patzer-out.parquet-")).collect()
}

/// An extraction that waits for its games, after it has created its output.
fn waiting(folder: &Path) -> Child {
    let before = temporary_files(folder);
    let mut command = crate::program();
    command.current_dir(folder).args(["extract", "-", "-o", "out.parquet"]);
    let child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    while temporary_files(folder).iter().all(|name| before.contains(name)) {
        std::thread::sleep(Duration::from_millis(1));
    }
    child
}

#[test]
fn the_next_run_of_an_output_removes_what_a_killed_one_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("games.pgn"), "[Result \"1-0\"]\n\n1. e4 e5 1-0\n").unwrap();
    let mut killed = waiting(path);
    assert!(crate::kill(&mut killed));
    assert_eq!(temporary_files(path).len(), 1);
    let mut alive = waiting(path);
    let held = temporary_files(path);
    assert_eq!(held.len(), 1);
    assert!(crate::patzer(path, &["extract", "games.pgn", "-o", "out.parquet"]).status.success());
    assert_eq!(temporary_files(path), held, "a file that a run is writing was removed");
    assert!(crate::kill(&mut alive));
    assert!(crate::patzer(path, &["extract", "games.pgn", "-o", "out.parquet"]).status.success());
    assert!(temporary_files(path).is_empty());
}
