//! `patzer book`: books made, shown, and judged by games.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::{done, mock, patzer};

fn run(folder: &Path, line: &str) -> Value {
    serde_json::from_str(&done(folder, &format!("book {line} --json"))).unwrap()
}

fn with_mock(folder: &Path, engine: &str, line: &str) -> Output {
    let mut command = crate::program();
    command.current_dir(folder).env(mock::VARIABLE, "").stdin(Stdio::null()).arg("book");
    command.args(line.split_whitespace()).args(["--engine", &mock::command(engine)]).output().unwrap()
}

fn error(folder: &Path, line: &str) -> String {
    let output = patzer(folder, &line.split_whitespace().collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(1), "{line}: {output:?}");
    String::from_utf8(output.stderr).unwrap().lines().last().unwrap().to_string()
}

#[test]
fn a_book_of_random_play_is_balanced_distinct_and_the_same_whatever_the_concurrency() {
    let folder = tempfile::tempdir().unwrap();
    let make = |rest: &str| run(folder.path(), &format!("make --hash 1 --nodes 60 --count 30 {rest}"));
    let made = make("--window -40,60 --concurrency 1");
    assert_eq!(made["kept"], 30, "{made}");
    assert!(made["below"].as_u64() > Some(0) && made["above"].as_u64() > Some(0), "{made}");
    make("--window -40,60 --concurrency 3 -o three.epd");
    let text = fs::read_to_string(folder.path().join("book.epd")).unwrap();
    assert_eq!(text, fs::read_to_string(folder.path().join("three.epd")).unwrap());
    make("--window -40,60 --seed 1 -o other.epd");
    assert_ne!(text, fs::read_to_string(folder.path().join("other.epd")).unwrap());
    // The scores are from the side to move, the window from White's.
    for line in text.lines() {
        let score: i32 = line.split(" ce ").nth(1).unwrap().trim_end_matches(';').parse().unwrap();
        let white = if line.contains(" w ") { score } else { -score };
        assert!((-40..=60).contains(&white), "{line}");
    }
    let shown = run(folder.path(), "show book.epd --hash 1 --nodes 60");
    assert_eq!((shown["positions"].as_u64(), shown["duplicates"].as_u64()), (Some(30), Some(0)));
    assert!(
        shown["percentiles"]["0"].as_i64() >= Some(-40) && shown["percentiles"]["100"].as_i64() <= Some(60)
    );
    assert_eq!(shown["plies"].as_object().unwrap().keys().collect::<Vec<_>>(), ["8", "9"]);
    let unbalanced = make("--window 90,200 --either-side -o uho.epd");
    assert_eq!(unbalanced["kept"], 30);
    let shown = run(folder.path(), "show uho.epd --hash 1 --nodes 60");
    assert!(
        shown["scores"]
            .as_object()
            .unwrap()
            .keys()
            .all(|from| from.parse::<i32>().unwrap() + 25 <= -75 || from.parse::<i32>().unwrap() >= 75),
        "{shown}"
    );
    done(folder.path(), "match untuned-hce default-hce --hash 1 --nodes 10 --games 4 --openings uho.epd");
}

#[test]
#[cfg(unix)]
fn an_interrupted_book_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = crate::program();
    command.args(["book", "make", "--count", "1000000", "--nodes", "60", "--hash", "1", "--json"]);
    command.current_dir(folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    std::thread::sleep(Duration::from_secs(2));
    crate::signal("INT", &child.id().to_string());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(130), 0), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("error: interrupted; nothing was written"), "{said}");
    assert!(!folder.path().join("book.epd").exists());
}

#[test]
fn a_window_that_nothing_fits_ends_the_search() {
    let folder = tempfile::tempdir().unwrap();
    let line = "book make --count 50 --window 9000,9001 --nodes 1 --hash 1 -o none.epd -q";
    assert_eq!(error(folder.path(), line), "error: none of 10000 candidates is in the window");
    assert!(!folder.path().join("none.epd").exists());
}

const GAMES: &str = "[Event \"a\"]\n[Result \"*\"]\n\n1. e4 e5 2. Nf3 Nc6 *\n\n\
                     [Event \"b\"]\n[Result \"*\"]\n\n1. Nf3 Nc6 2. e4 e5 3. d4 *\n\n\
                     [Event \"c\"]\n[Result \"*\"]\n\n1. d4 d5 2. c4 Kd7 *\n\n\
                     [Event \"d\"]\n[Result \"*\"]\n\n1. d4 d5 2. c4 Kd4 *\n\n\
                     [Event \"e\"]\n[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n[Result \"*\"]\n\n*\n\n";

#[test]
fn games_that_transpose_come_once_and_keep_their_moves() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("games.pgn"), GAMES).unwrap();
    let made =
        run(folder.path(), "make games.pgn --plies 4 --window -9999,9999 --nodes 60 --hash 1 -o book.pgn");
    assert_eq!((&made["kept"], &made["repeated"], &made["bad"]), (&3.into(), &1.into(), &1.into()), "{made}");
    let text = fs::read_to_string(folder.path().join("book.pgn")).unwrap();
    let moves: HashSet<&str> = text.lines().filter(|line| line.starts_with("1.")).collect();
    assert_eq!(moves.len(), 2, "{text}");
    assert!(moves.iter().any(|line| line.starts_with("1. d4 d5 2. c4 Kd7 {")), "{text}");
    assert!(text.contains("[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]"), "{text}");
    let shown = run(folder.path(), "show book.pgn");
    assert_eq!(
        (shown["positions"].as_u64(), shown["bad"].as_array().unwrap().len()),
        (Some(3), 0),
        "{shown}"
    );
    done(folder.path(), "match untuned-hce default-hce --hash 1 --nodes 10 --games 6 --openings book.pgn");
    // Only one game has five plies; another is a position by itself.
    let made =
        run(folder.path(), "make games.pgn --plies 5 --window -9999,9999 --nodes 60 --hash 1 -o five.pgn");
    assert_eq!((&made["kept"], &made["candidates"]), (&2.into(), &2.into()), "{made}");
    let counts = done(folder.path(), "extract games.pgn -o all.parquet --json");
    assert!(counts.contains("\"games_bad\": 1"), "{counts}");
}

#[test]
fn a_uci_engine_judges_and_may_misbehave() {
    let folder = tempfile::tempdir().unwrap();
    let make = |engine: &str, rest: &str| {
        let output = with_mock(folder.path(), engine, &format!("make --count 20 --nodes 5 --json {rest}"));
        assert_eq!(output.status.code(), Some(0), "{engine}: {output:?}");
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let made = make("option.Score=95", "--window 90,100");
    assert_eq!((&made["kept"], &made["above"]), (&20.into(), &0.into()), "{made}");
    let text = fs::read_to_string(folder.path().join("book.epd")).unwrap();
    assert!(text.lines().all(|line| line.contains(" w ") && line.ends_with("ce 95;")), "{text}");
    for mode in ["crash@3", "hang@3", "flood@3", "garbage@2", "illegal@2", "none@2", "unended@3", "twice@3"] {
        let rest = "--window -9999,9999 --stall-timeout 1 --concurrency 2";
        let made = make(&format!("option.Mode={mode}"), rest);
        assert_eq!((&made["kept"], &made["failed"]), (&20.into(), &0.into()), "{mode}: {made}");
        let breaks = ["crash@3", "hang@3", "flood@3", "unended@3"].contains(&mode);
        assert_eq!(made["restarts"].as_u64().unwrap() > 0, breaks, "{mode}: {made}");
    }
    let made = make("option.Mode=silent@2", "--window -9999,9999 --concurrency 1");
    assert_eq!(made["failed"], 1, "{made}");
    let output = with_mock(folder.path(), "name=bad option.Mode=crash@1", "make --nodes 5 --concurrency 1");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("error: bad failed on 16 positions in a row: "), "{said}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_book_is_shown_with_its_faults() {
    let folder = tempfile::tempdir().unwrap();
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
    let lines = format!(
        "# a comment\n{start} 0 1\n{start} hmvc 0; fmvn 1;\nrnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1\n\
         nonsense\n8/8/8/8/8/8/8/8 w - -\n7k/5Q2/6K1/8/8/8/8/8 b - -\n"
    );
    fs::write(folder.path().join("book.epd"), lines).unwrap();
    let shown = run(folder.path(), "show book.epd");
    let places: Vec<&str> =
        shown["bad"].as_array().unwrap().iter().map(|bad| bad["place"].as_str().unwrap()).collect();
    assert_eq!(places, ["line 5", "line 6", "line 7"]);
    assert_eq!(
        (&shown["entries"], &shown["positions"], &shown["duplicates"]),
        (&6.into(), &3.into(), &1.into())
    );
    assert_eq!(shown["plies"], serde_json::json!({ "0": 2, "1": 1 }));
    let text = done(folder.path(), "book show book.epd");
    assert!(text.contains("line 5: is not an EPD or FEN position: `nonsense`"), "{text}");
    assert!(text.contains("positions  3 of 6 entries, 1 duplicates, 3 bad"), "{text}");
    for (line, says) in [
        ("book show nothing.epd", "nothing.epd: "),
        ("book make --window 5,1", "write LOW,HIGH"),
        ("book make -o book.txt", "book.txt: a book is written as .epd or .pgn"),
        (
            "book make book.epd --window 5000,6000 --nodes 0 -o none.epd",
            "none of 3 candidates is in the window",
        ),
        ("book judge book.epd", "book.epd: holds no games with results"),
    ] {
        let said = error(folder.path(), line);
        assert!(said.starts_with("error: ") && said.contains(says), "{line}: {said}");
    }
    assert!(!folder.path().join("none.epd").exists());
}

#[test]
fn books_are_judged_by_the_games_from_them() {
    let folder = tempfile::tempdir().unwrap();
    let play = "match default-hce untuned-hce --hash 1 --nodes 60 --games 24";
    done(folder.path(), "book make --hash 1 --nodes 60 --count 4");
    done(folder.path(), &format!("{play} --openings book.epd"));
    let judged = run(folder.path(), "judge match.pgn");
    let book = &judged["books"][0];
    let openings = book["openings"].as_array().unwrap();
    assert!(openings.len() >= 4, "the book's, and varied ones after its end: {book}");
    let sum: u64 = openings.iter().map(|opening| opening["games"].as_u64().unwrap()).sum();
    assert_eq!((sum, book["unpaired"].as_u64()), (24, Some(0)), "{book}");
    let pairs: u64 = book["all"]["pentanomial"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).sum();
    assert_eq!(pairs, 12);
    let text = done(folder.path(), "book judge match.pgn match.pgn --count 2");
    assert!(text.matches("match.pgn").count() >= 4 && text.contains("more"), "{text}");
}
