//! `patzer lab`: the book of runs, its table, lineage and chain of tests; several writers; books of other machines.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::{done, patzer, program};

fn json(at: &Path, line: &str) -> Value {
    serde_json::from_str(&done(at, &format!("{line} --json"))).unwrap()
}

fn lines(at: &Path) -> Vec<Value> {
    let text = fs::read_to_string(at.join("patzer.lab")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Games to network to tests, as an author's Makefile has them.
fn generations(at: &Path) {
    for line in [
        "selfplay default-hce --nodes 30 --games 16 --seed 1 -o one.pgn.zst",
        "extract one.pgn.zst -o one.parquet",
        "tune one.parquet --recipe small --hidden 4 --epochs 1 --seed 1 -o one.nnue",
        "tune one.parquet --recipe small --hidden 4 --epochs 1 --seed 2 -o two.nnue",
        "sprt one.nnue untuned-hce --nodes 30 --games 20 --max-moves 20 -o first.pgn",
        "sprt two.nnue one.nnue --nodes 30 --games 20 --max-moves 20 -o second.pgn",
    ] {
        let output = patzer(at, &format!("{line} -q").split_whitespace().collect::<Vec<_>>());
        assert!(matches!(output.status.code(), Some(0 | 10 | 11)), "{line}: {output:?}");
    }
}

#[test]
fn a_network_is_followed_back_to_the_games_and_forward_to_its_tests() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    done(at, "lab init");
    generations(at);
    let runs = lines(at);
    let kinds: Vec<&str> = runs.iter().map(|run| run["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["selfplay", "extract", "tune", "tune", "sprt", "sprt"]);
    let compared = json(at, "lab compare");
    assert_eq!(compared["keys"], serde_json::json!(["seed"]));
    assert_eq!(compared["runs"][1]["values"][0], "2");
    assert_eq!(compared["runs"][0]["tests"].as_array().unwrap().len(), 2, "{compared}");
    assert!(done(at, "lab compare --format markdown").starts_with("| id | seed | result | tests |"));
    let paths = |run: &Value, key: &str| -> Vec<String> {
        run[key].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap().to_string()).collect()
    };
    assert_eq!(
        (paths(&runs[1], "read"), paths(&runs[1], "written")),
        (vec!["one.pgn.zst".into()], vec!["one.parquet".into()])
    );
    assert!(paths(&runs[3], "written").contains(&"two.nnue".to_string()), "{}", runs[3]);
    assert_eq!(runs[1]["results"][0]["games"], 16);
    let players: Vec<&str> = runs[5]["players"]
        .as_array()
        .unwrap()
        .iter()
        .map(|player| player["name"].as_str().unwrap())
        .collect();
    assert_eq!(players, ["two.nnue", "one.nnue"]);
    let tree = done(at, "lab tree two.nnue");
    for part in [
        "two.nnue  ",
        "tune ",
        "   sprt ",
        "├─ one.parquet  ",
        "│  └─ one.pgn.zst  ",
        "selfplay ",
        "  as above",
    ] {
        assert!(tree.contains(part), "{part}: {tree}");
    }
    let chain = json(at, "lab elo two.nnue");
    let names: Vec<&str> =
        chain["links"].as_array().unwrap().iter().map(|link| link["opponent"].as_str().unwrap()).collect();
    assert_eq!(names, ["untuned-hce", "one.nnue"]);
    // A file that has changed since is another one, whose name the book knows.
    fs::write(at.join("two.nnue"), "").unwrap();
    assert!(done(at, "lab tree two.nnue").contains("of no run in the book"));
    fs::remove_file(at.join("two.nnue")).unwrap();
    assert_eq!(done(at, "lab tree two.nnue"), tree);
}

#[test]
fn the_table_filters_and_has_remarks() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    done(at, "lab init");
    fs::create_dir(at.join("below")).unwrap();
    let below = at.join("below");
    done(&below, "match default-hce untuned-hce --nodes 20 --games 4 --max-moves 10 -q");
    done(at, "net init --seed 1 -o start.nnue -q");
    done(at, "eval");
    let runs = lines(at);
    assert_eq!(runs.len(), 2, "{runs:?}");
    assert_eq!(runs[0]["folder"], "below");
    let id = runs[0]["id"].as_str().unwrap();
    done(at, &format!("lab note {} few", &id[..6]));
    let table = done(at, "lab list --kind match");
    assert!(
        table.contains("below/match.pgn") && table.contains("4 games") && table.contains("note: few"),
        "{table}"
    );
    assert!(!table.contains("start.nnue"), "{table}");
    assert!(done(at, "lab list --format csv --of start.nnue").lines().count() == 2);
    assert!(done(at, "lab list --format markdown").starts_with("| id | begun | command |"));
    assert!(done(at, "lab list --format html").contains("<td>few</td>"));
    assert_eq!(done(at, "lab list --since 2999-01-01").trim(), "");
    assert_eq!(json(at, &format!("lab show {id}"))["notes"][0], "few");
    for (line, says) in [
        ("lab show zz", "the book has no run zz"),
        ("lab tree nowhere.nnue", "nowhere.nnue is no file"),
        ("lab init", "is there already"),
        ("--lab nowhere lab list", "there is no book here"),
    ] {
        let output = patzer(at, &line.split_whitespace().collect::<Vec<_>>());
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && text.contains(says), "{line}: {text}");
    }
}

#[test]
fn runs_at_the_same_time_and_books_of_other_machines_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    done(at, "lab init");
    let start = |seed: usize| {
        let mut command = program();
        let line = format!("net init --seed {seed} -o {seed}.nnue -q");
        command.current_dir(at).args(line.split_whitespace()).spawn().unwrap()
    };
    let all: Vec<_> = (0..12).map(start).collect();
    all.into_iter().for_each(|mut child| assert!(child.wait().unwrap().success()));
    assert_eq!(lines(at).len(), 12);
    let other = at.join("other");
    done(at, "lab init other");
    done(&other, "net init --seed 99 -o own.nnue -q");
    done(&other, "lab merge ../patzer.lab ../patzer.lab -q");
    assert_eq!(lines(&other).len(), 13);
    // A line that a power cut left unfinished is passed over, and does not spoil the next.
    let path = other.join("patzer.lab");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, &text[..text.len() - 20]).unwrap();
    let runs = json(&other, "lab list");
    assert_eq!(runs["runs"].as_array().unwrap().len(), 12);
    done(&other, &format!("lab note {} kept", runs["runs"][3]["id"].as_str().unwrap()));
    assert_eq!(lines(&other).len(), 13);
    assert!(done(&other, "lab list").contains("note: kept"));
}
