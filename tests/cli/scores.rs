//! Scores in comments, as a user of `patzer extract` meets them, and games that are refused.

use std::io::Read;
use std::path::Path;

use patzer_data::filter::{PRESETS, rows};
use patzer_data::{Dataset, Record};
use serde_json::Value;

use crate::patzer;

/// The fixture's engine games, a number of them from some game on, with each score in pawns rewritten by `comment`,
/// which gets the score from the mover, whether White moved, and the depth.
fn engine_games(from: usize, count: usize, comment: impl Fn(f64, bool, &str) -> String) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/engine.pgn.zst");
    let mut text = String::new();
    patzer_io::open(&path).unwrap().read_to_string(&mut text).unwrap();
    let mut out = String::new();
    for game in text.split("[Event ").skip(1 + from).take(count) {
        let mut white = !game.contains(" b ");
        out += "[Event ";
        for (index, piece) in game.split('{').enumerate() {
            if index == 0 {
                out += piece;
                continue;
            }
            let (inside, rest) = piece.split_once('}').unwrap();
            let (score, depth) = inside.split_once(' ').unwrap().0.split_once('/').unwrap();
            if let Ok(pawns) = score.parse::<f64>() {
                out += &format!("{{{}}}", comment(pawns, white, depth));
            }
            out += rest;
            white = !white;
        }
    }
    out
}

/// Runs `extract` with `--json`: records, summary, stderr.
fn extract(folder: &Path, args: &[&str]) -> (Vec<Record>, Value, String) {
    let output = patzer(folder, &[&["extract", "--json"], args].concat());
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}");
    let records = Dataset::open(&folder.join("positions.parquet")).unwrap().read_all().unwrap();
    (records, serde_json::from_slice(&output.stdout).unwrap(), stderr)
}

fn scores(records: &[Record]) -> Vec<Option<i16>> {
    records.iter().map(|record| record.score).collect()
}

fn cutechess(pawns: f64, _white: bool, depth: &str) -> String {
    format!("{pawns:+.2}/{depth} 0.1s")
}

/// A score as the Fritz GUI writes it: for White, without a plus, with whole seconds.
fn fritz(pawns: f64, white: bool, depth: &str) -> String {
    format!("{:.2}/\n{depth} 239 (Nf3)", if white { pawns } else { -pawns })
}

#[test]
fn a_file_of_the_fritz_gui_is_read_for_white_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("a.pgn"), engine_games(0, 150, cutechess)).unwrap();
    std::fs::write(at.join("b.pgn"), engine_games(0, 150, fritz)).unwrap();
    let (expected, plain, stderr) = extract(at, &["a.pgn"]);
    assert_eq!(stderr, "");
    assert_eq!(
        plain["scores"]["by_dialect"],
        serde_json::json!({ "cutechess": plain["scores"]["positions"] })
    );
    let (records, summary, stderr) = extract(at, &["b.pgn"]);
    assert!(scores(&records) == scores(&expected));
    assert!(
        stderr.starts_with("b.pgn: scores like `0.18/23 239 (Nd7)` (chessbase) are White's (read for"),
        "{stderr}"
    );
    let source = &summary["scores"]["sources"][0];
    let decision = &source["decisions"][0];
    assert_eq!((&decision["side"], &decision["side_by"]), (&"white".into(), &"data".into()));
    assert!(decision["evidence"]["neighbours"].as_f64().unwrap() > 0.3);
    assert!(
        source["white_to_move"].as_f64().unwrap() > 0.1 && source["black_to_move"].as_f64().unwrap() > 0.1
    );
    assert_eq!(summary["scores"]["positions"], plain["scores"]["positions"]);
    // The user's option holds, and a note says its consequence.
    let (_, summary, stderr) = extract(at, &["b.pgn", "--eval-side", "b.pgn=mover"]);
    assert!(stderr.contains("agree with the results for one side only"), "{stderr}");
    assert_eq!(summary["scores"]["sources"][0]["decisions"][0]["side_by"], "option");
    let (_, _, stderr) = extract(at, &["b.pgn", "--quiet"]);
    assert_eq!(stderr, "");
    // Nothing depends on the number of threads.
    let runs = ["1", "3"].map(|threads| {
        let (_, mut summary, _) = extract(at, &["b.pgn", "a.pgn", "--threads", threads]);
        let object = summary.as_object_mut().unwrap();
        object.retain(|key, _| {
            !["seconds", "positions_per_second", "bytes_per_second"].contains(&key.as_str())
        });
        (std::fs::read(at.join("positions.parquet")).unwrap(), summary)
    });
    assert!(runs[0] == runs[1]);
}

#[test]
fn a_source_of_another_scale_is_told_and_can_be_matched() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("a.pgn"), engine_games(0, 300, cutechess)).unwrap();
    std::fs::write(at.join("b.pgn"), engine_games(0, 300, |s, w, d| cutechess(2.0 * s, w, d))).unwrap();
    let (_, _, stderr) = extract(at, &["a.pgn", "b.pgn"]);
    assert!(
        stderr.contains("b.pgn: by the results, its scores are")
            && stderr.contains("a score scale of b.pgn=0.")
    );
    let (records, _, stderr) = extract(at, &["a.pgn", "b.pgn", "--score-scale", "b.pgn=0.5"]);
    assert_eq!(stderr, "");
    std::fs::write(at.join("b.pgn"), engine_games(0, 300, cutechess)).unwrap();
    let (expected, _, _) = extract(at, &["a.pgn", "b.pgn"]);
    assert!(scores(&records) == scores(&expected));
}

#[test]
fn mates_that_engines_send_as_centipawns_are_mates_and_what_is_clamped_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let text = "[Event \"x\"]\n[Result \"1-0\"]\n\n\
        1. e4 {+319.90/20 1.0s} e5 {-319.85/20 1.0s} 2. Nf3 {+655.36/20 1.0s} Nc6 {-1.00/20 1.0s} 1-0\n";
    std::fs::write(at.join("x.pgn"), text).unwrap();
    let (records, summary, stderr) = extract(at, &["x.pgn"]);
    assert_eq!(scores(&records), [Some(31_990), Some(-31_985), Some(30_999), Some(-100)]);
    assert_eq!(summary["scores"]["clamped"], 1);
    assert!(stderr.contains("1 score beyond ±309.99 pawns"), "{stderr}");
    assert_eq!(scores(&extract(at, &["x.pgn", "--filter", "mate_score"]).0), [Some(30_999), Some(-100)]);
}

#[test]
fn units_players_and_comments_that_are_not_understood() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let text = "[Event \"x\"]\n[White \"New\"]\n[Black \"Old\"]\n[Result \"1-0\"]\n\n\
        1. e4 {+35/12 5} e5 {-20/12 5} 2. -- {null} Nc6\n{score +0.3} 3. d4 {+0.3 or so} 1-0\n";
    std::fs::write(at.join("x.pgn"), text).unwrap();
    let (records, summary, stderr) = extract(at, &["x.pgn", "--score-unit", "cp"]);
    assert_eq!(scores(&records), [Some(35), Some(-20), None, None]);
    assert_eq!(summary["null_moves"], 1);
    assert_eq!(summary["scores"]["not_understood"], 2);
    let sample = serde_json::json!({ "file": "x.pgn", "line": 7, "text": "score +0.3" });
    assert_eq!(summary["scores"]["not_understood_sample"], sample);
    assert!(
        stderr.contains(
            "2 comments look like a score and are not understood, the first at x.pgn:7: {score +0.3}"
        )
    );
    let of = |player| extract(at, &["x.pgn", "--score-unit", "x.pgn=cp", "--player", player]);
    assert_eq!(scores(&of("old").0), [None, Some(-20), None, None]);
    assert_eq!(scores(&of("*e*").0), [Some(35), None, None, None]);
    assert!(of("Nobody").2.contains("no move of such a player has a score"));
    for (args, part) in [
        (["--score-unit", "y.pgn=cp"], "`y.pgn` is none of the files of games"),
        (["--score-unit", "inch"], "`inch` is not one of pawn, cp"),
        (["--score-scale", "0"], "not a number above 0"),
        (["--eval-side", "x.pgn=left"], "`left` is not one of auto, white, mover"),
    ] {
        let output = patzer(at, &[&["extract", "x.pgn"][..], &args].concat());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && stderr.contains(part), "{stderr}");
    }
}

#[test]
fn refused_games_are_written_with_their_reasons_and_named_in_json() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let good = "[Event \"a\"]\n[White \"Ann\"]\n[Result \"1-0\"]\n\n1. e4 1-0\n\n";
    let others = "[Event \"b\"]\n[White \"Ann\"]\n[Result \"*\"]\n\n1. e4 *\n\n\
        [Event \"c\"]\n[White \"Ann\"]\n[Result \"1-0\"]\n\n1. e4\ne5 2. Ke5 {\"} 1-0\n\n\
        [Event \"d\"]\n[White \"Bob\"]\n[Result \"1-0\"]\n\n1. d4 1-0\n\n\
        1. c4 c5 {no tags} *\n";
    std::fs::write(at.join("x.pgn"), format!("{good}{others}")).unwrap();
    let filter = ["--filter", "players", "--filter-set", "players.name=ann", "--rejects", "r.pgn"];
    let (records, summary, _) = extract(at, &[&["x.pgn"][..], &filter].concat());
    assert_eq!(records.len(), 1);
    let bad = serde_json::json!([{
        "file": "x.pgn", "game": 3, "line": 13, "fault_line": 18, "reason": "illegal or ambiguous move 2. Ke5"
    }]);
    assert_eq!(summary["bad_games"], bad);
    let rejects = std::fs::read_to_string(at.join("r.pgn")).unwrap();
    let expected = "[Rejected \"no_result\"]\n[Event \"b\"]\n[White \"Ann\"]\n[Result \"*\"]\n\n1. e4 *\n\n\
        [Rejected \"illegal or ambiguous move 2. Ke5\"]\n[Event \"c\"]\n[White \"Ann\"]\n[Result \"1-0\"]\n\n1. e4\ne5 2. Ke5 {\"} 1-0\n\n\
        [Rejected \"players\"]\n[Event \"d\"]\n[White \"Bob\"]\n[Result \"1-0\"]\n\n1. d4 1-0\n\n\
        [Rejected \"no_result\"]\n\n1. c4 c5 {no tags} *\n\n";
    assert_eq!(rejects, expected);
    // The file is games again: the same, but for one refused only by the filter.
    let (records, summary, _) = extract(at, &["r.pgn"]);
    assert_eq!((records.len(), &summary["games"], &summary["games_bad"]), (1, &4.into(), &1.into()));
    let output = patzer(at, &["extract", "x.pgn", "--rejects", "x.pgn"]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn filters_are_listed_and_shown() {
    let folder = tempfile::tempdir().unwrap();
    let text = |args: &[&str]| String::from_utf8(patzer(folder.path(), args).stdout).unwrap();
    let all = text(&["filters"]);
    for name in rows().map(|row| row.name).chain(PRESETS.iter().map(|(name, _)| *name)) {
        assert!(all.contains(&format!("\n  {name} ")), "{name}");
        assert!(text(&["filters", name]).contains(name));
    }
    assert!(text(&["filters", "quiet"]).contains("before_capture plies=5"));
    let json: Value = serde_json::from_str(&text(&["filters", "--json"])).unwrap();
    assert_eq!(json["filters"].as_array().unwrap().len(), rows().count());
    let unknown = patzer(folder.path(), &["filters", "quite"]);
    assert_eq!(unknown.status.code(), Some(1));
}
