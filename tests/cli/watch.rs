//! Matches that end by their error, `watch` and `report --live` beside a run of another process.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{done, patzer, signal};

const PLAYERS: &str = "default-hce untuned-hce --nodes 30 --max-moves 40 --hash 1";

fn json(folder: &Path, line: &str) -> Value {
    let mut value: Value = serde_json::from_str(&done(folder, &format!("{line} --json -q"))).unwrap();
    value.as_object_mut().unwrap().remove("games_per_second");
    value
}

fn spawn(folder: &Path, line: &str) -> Child {
    let mut command = crate::program();
    command.current_dir(folder).args(line.split_whitespace()).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Takes the line away that says that the run has come to its end.
fn reopen(journal: &Path) {
    let text = fs::read_to_string(journal).unwrap();
    let (rest, end) = text.trim_end().rsplit_once('\n').unwrap();
    assert!(end.starts_with("{\"end\""), "{end}");
    fs::write(journal, format!("{rest}\n")).unwrap();
}

fn wait_for(what: &str, mut is_there: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_there() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_match_ends_when_its_error_is_as_small_as_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let v = json(at, &format!("match {PLAYERS} --until-error 70"));
    assert_eq!(v["end"], "precision");
    assert!(v["elo_error"].as_f64().unwrap() <= 70.0);
    let count = |key: &str| v[key].as_u64().unwrap();
    let games = count("wins") + count("draws") + count("losses");
    assert!((128..1000).contains(&games), "{games}");
    // It is finished: nothing is left to resume.
    assert_eq!(json(at, "match --resume"), v);
    assert_eq!(json(at, "watch match.pgn"), v);
    let plan = json(at, "plan 0 --like match.pgn --simulations 0");
    let draws = count("draws") as f64 / games as f64;
    assert!((plan["draws"].as_f64().unwrap() - draws).abs() < 1e-12 && plan["bias"].is_number(), "{plan}");
    let wrong = |line: &str, says: &str| {
        let output = patzer(at, &line.split_whitespace().collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(1), "{line}");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(error.contains(says) && error.trim_end().lines().count() == 1, "{line}: {error}");
    };
    wrong("match a b --until-error 0", "--until-error 0: write Elo above 0");
    wrong("plan --like none.pgn", "none.journal");
    wrong("plan --like match.pgn --draws 0.5", "cannot be used with");
    wrong("watch match.pgn b", "unexpected argument 'b'");
    fs::write(at.join("junk.journal"), "junk\n").unwrap();
    wrong("watch junk.journal", "junk.journal: line 1: is not a journal of patzer");
    wrong("report junk.journal --live", "junk.journal");
    wrong("report match.journal --live -o -", "name a file");
}

#[test]
fn a_match_by_the_clock_tells_its_use_of_time_and_the_report_draws_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let line = "match default-hce untuned-hce --tc 1+0.01 --games 2 --max-moves 10 --hash 1 --concurrency 1";
    let v = json(at, line);
    let players = v["time_use"].as_array().unwrap();
    let names: Vec<&str> = players.iter().map(|player| player["player"].as_str().unwrap()).collect();
    assert_eq!(names, ["default-hce", "untuned-hce"]);
    for player in players {
        let sum = |key: &str| {
            player[key].as_array().unwrap().iter().map(|row| row["moves"].as_u64().unwrap()).sum()
        };
        let moves: u64 = sum("by_move");
        assert_eq!(player["moves"], moves);
        let classes = player["latency"]["histogram"].as_array().unwrap();
        let counted: u64 = classes.iter().map(|class| class["moves"].as_u64().unwrap()).sum();
        assert_eq!(player["latency"]["moves"], counted);
    }
    fs::write(at.join("result.json"), v.to_string()).unwrap();
    done(at, "report result.json -o page.html");
    let page = fs::read_to_string(at.join("page.html")).unwrap();
    for words in ["Time by move", "Latency of default-hce", "Latency of untuned-hce"] {
        assert!(page.contains(words), "{words}");
    }
}

#[test]
fn a_finished_test_is_shown_with_its_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let v = json(at, &format!("sprt {PLAYERS} --elo1 300"));
    assert_eq!(v["verdict"], "H1");
    assert_eq!(json(at, "watch sprt.journal"), v);
    let swapped = PLAYERS.replace("default-hce untuned-hce", "untuned-hce default-hce");
    let line = format!("sprt {swapped} --elo1 300 -o other.pgn");
    assert_eq!(patzer(at, &line.split_whitespace().collect::<Vec<_>>()).status.code(), Some(10));
    assert_eq!(patzer(at, &["watch", "other.pgn"]).status.code(), Some(10));
}

#[test]
fn a_run_is_watched_to_its_end_without_hindering_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    done(at, &format!("match {PLAYERS} --games 4"));
    reopen(&at.join("match.journal"));
    let mut watch = spawn(at, "watch match.journal --json");
    let mut live = spawn(at, "report match.journal --live=1 -o page.html");
    let page = || fs::read_to_string(at.join("page.html")).unwrap_or_default();
    wait_for("the page", || page().contains("http-equiv=\"refresh\""));
    assert!(watch.try_wait().unwrap().is_none() && live.try_wait().unwrap().is_none());
    let v = json(at, "match --resume --games 10");
    let output = watch.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let mut seen: Value = serde_json::from_slice(&output.stdout).unwrap();
    seen.as_object_mut().unwrap().remove("games_per_second");
    assert_eq!(seen, v);
    assert_eq!(live.wait().unwrap().code(), Some(0));
    assert!(!page().contains("refresh") && page().contains("<td class=\"n\">10</td>"), "{}", page());
}

#[cfg(unix)]
#[test]
fn an_interrupted_live_page_stays_as_a_page_of_the_last_games() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    done(at, &format!("match {PLAYERS} --games 4"));
    reopen(&at.join("match.journal"));
    let mut live = spawn(at, "report match.journal --live -o page.html");
    let page = || fs::read_to_string(at.join("page.html")).unwrap_or_default();
    wait_for("the page", || page().contains("content=\"10\""));
    let pid = live.id().to_string();
    assert!(signal("INT", &pid));
    assert_eq!(live.wait().unwrap().code(), Some(130));
    assert!(!page().contains("refresh") && page().contains("</html>"));
}
