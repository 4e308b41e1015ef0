//! `patzer data show` as a user runs it.

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{done, patzer};

const GAMES: &str = "[Result \"1-0\"]\n\n1. e4 {+0.30/10 1s} d5 2. exd5 {+0.55/11 1s} Qxd5 3. Nc3 1-0\n\n\
    [Result \"0-1\"]\n\n1. f3 {book} e5 2. g4 {-M2/20 1s} Qh4# {+M1/20 1s} 0-1\n";

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("x.pgn"), GAMES).unwrap();
    done(folder.path(), "extract x.pgn");
    folder
}

fn shown(folder: &Path, line: &str) -> Vec<Value> {
    let text = done(folder, &format!("data show --json {line}"));
    serde_json::from_str::<Value>(&text).unwrap()["positions"].as_array().unwrap().clone()
}

#[test]
fn positions_are_shown_with_what_is_known_of_them() {
    let folder = folder();
    insta::assert_snapshot!(done(folder.path(), "data show"));
    let all = shown(folder.path(), "--columns fen,move,san,score,depth,result,flags,to_capture,to_end");
    assert_eq!(
        all[2],
        json!({
            "fen": "rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
            "move": "e4d5", "san": "exd5", "score": 55, "depth": 11, "result": 1, "flags": "capture",
            "to_capture": 0, "to_end": 2
        })
    );
    assert_eq!(all[8]["san"], "Qh4#");
    assert_eq!(
        (&all[8]["score"], &all[8]["flags"]),
        (&json!(31_999), &json!("gives_check mate_end mate_score"))
    );
    assert_eq!((&all[1]["score"], &all[4]["to_capture"]), (&Value::Null, &Value::Null));
}

#[test]
fn a_part_of_a_file_can_be_asked_for() {
    let folder = folder();
    let rows = |line: &str| -> Vec<u64> {
        shown(folder.path(), line).iter().map(|row| row["row"].as_u64().unwrap()).collect()
    };
    assert_eq!(rows("--first 3 --count 4"), [3, 4, 5, 6]);
    assert_eq!(rows("--game 1"), [5, 6, 7, 8]);
    assert_eq!(rows("--game 1 --count 2"), [5, 6]);
    assert_eq!(rows("--first 7"), [7, 8]);
    // Files that are read from their start to their end say the same.
    done(folder.path(), "data convert positions.parquet -o x.csv");
    assert_eq!(rows("x.csv --first 3 --count 4"), [3, 4, 5, 6]);
    assert_eq!(shown(folder.path(), "x.csv"), shown(folder.path(), ""));
}

#[test]
fn boards_are_drawn_on_demand() {
    let folder = folder();
    let text = done(folder.path(), "data show --first 1 --count 1 --board --columns san");
    assert!(text.contains("4  . . . . P . . .\n3  "), "{text}");
    assert!(text.contains("Black to move"), "{text}");
}

#[test]
fn what_is_not_there_is_told() {
    let folder = folder();
    for (line, parts) in [
        ("data show --first 100", &["positions.parquet", "holds 9 positions", "row 100"][..]),
        ("data show --game 7", &["positions.parquet", "no position of game 7"]),
        ("data show --columns fen,mov", &["no column `mov`", "move"]),
        ("data show none.parquet", &["none.parquet", "no such file"]),
        ("data show x.pgn --input-format parquet", &["x.pgn", "not a Parquet file"]),
    ] {
        let output = patzer(folder.path(), &line.split(' ').collect::<Vec<_>>());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{line}: {stderr}");
        for part in parts {
            assert!(stderr.contains(part), "{line}: {stderr}");
        }
    }
}
