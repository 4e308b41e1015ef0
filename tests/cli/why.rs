//! `patzer why`: causes that were put into the games are found, and equals have none.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::patzer;

/// A match of the bundled engine against itself, by two names.
fn play(folder: &Path, first: &str, second: &str, games: &str) {
    let output = patzer(
        folder,
        &[
            "match", "--engine", first, "--engine", second, "--nodes", "300", "--games", games, "--seed",
            "1", "-o", "m.pgn",
        ],
    );
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn why(folder: &Path, arguments: &[&str]) -> Value {
    let fixed = ["why", "m.pgn", "--player", "new", "--against", "base", "--json"];
    let output = patzer(folder, &[&fixed[..], arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn first_cause(result: &Value) -> (&str, i64) {
    let cause = &result["causes"][0];
    (cause["cause"].as_str().unwrap_or("nothing"), cause["player"].as_i64().unwrap_or(-1))
}

/// Changes the scores of one player's comments: `change` gets the pawns, and whether White moves.
fn with_scores(folder: &Path, player: &str, change: impl Fn(f64, bool) -> f64) {
    let text = fs::read_to_string(folder.join("m.pgn")).unwrap();
    let mut changed = String::new();
    for game in text.split_inclusive("\n\n[Event ") {
        let white = game.contains(&format!("[White \"{player}\"]"));
        let black_begins = game.contains(" b ") && game.contains("[FEN ");
        for (number, piece) in game.split('{').enumerate() {
            if number == 0 {
                changed.push_str(piece);
                continue;
            }
            changed.push('{');
            let whites_move = (number % 2 == 1) != black_begins;
            let (score, rest) = piece.split_once('/').unwrap();
            match score.parse::<f64>() {
                Ok(pawns) if whites_move == white => {
                    changed.push_str(&format!("{:+.2}/{rest}", change(pawns, whites_move)));
                }
                _ => changed.push_str(piece),
            }
        }
    }
    fs::write(folder.join("m.pgn"), changed).unwrap();
}

#[test]
fn causes_that_are_put_into_the_scores_of_equals_are_found() {
    let folder = tempfile::tempdir().unwrap();
    play(folder.path(), "name=new cmd=default", "name=base cmd=default", "80");
    let arguments = ["--nodes", "200", "--positions", "9000"];
    let equal = why(folder.path(), &arguments);
    assert_eq!(first_cause(&equal), ("nothing", -1), "{}", equal["causes"]);
    assert_eq!((equal["games"].as_u64(), equal["score"].as_f64()), (Some(80), None));
    let text = patzer(folder.path(), &["why", "m.pgn", "--positions", "0"]);
    assert!(String::from_utf8_lossy(&text.stdout).contains("cause    nothing stands out"));
    let played = fs::read(folder.path().join("m.pgn")).unwrap();

    with_scores(folder.path(), "new", |pawns, _| 2.0 * pawns);
    let scaled = why(folder.path(), &arguments);
    assert_eq!(first_cause(&scaled), ("scale", 0), "{}", scaled["causes"]);

    fs::write(folder.path().join("m.pgn"), &played).unwrap();
    with_scores(folder.path(), "new", |pawns, _| -pawns);
    let wrong = why(folder.path(), &arguments);
    assert_eq!(first_cause(&wrong), ("sign", 0), "{}", wrong["causes"]);

    fs::write(folder.path().join("m.pgn"), &played).unwrap();
    with_scores(folder.path(), "base", |pawns, white| if white { pawns + 0.8 } else { pawns });
    let biased = why(folder.path(), &arguments);
    assert_eq!(first_cause(&biased), ("evaluation", 1), "{}", biased["causes"]);
    assert!(
        biased["causes"][0]["sentence"].as_str().unwrap().contains("White to move"),
        "{}",
        biased["causes"]
    );
    let one_thread = why(folder.path(), &[&arguments[..], &["--threads", "1"]].concat());
    assert_eq!(biased, one_thread);
}

#[test]
fn evaluations_are_compared_on_scored_positions() {
    let folder = tempfile::tempdir().unwrap();
    play(folder.path(), "name=new cmd=default", "name=base cmd=default", "80");
    let extracted = patzer(folder.path(), &["extract", "m.pgn", "-o", "d.parquet", "-q"]);
    assert!(extracted.status.success(), "{extracted:?}");
    let compare = |first: &str| -> Value {
        let output = patzer(folder.path(), &["why", first, "default", "--data", "d.parquet", "--json"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let same = compare("default");
    assert_eq!(first_cause(&same), ("nothing", -1), "{}", same["causes"]);
    assert_eq!(same["symmetry"][0], serde_json::json!({ "colours": 0.0, "mirror": 0.0 }));
    let other = compare("untuned-hce");
    assert_eq!(other["causes"][0]["player"], 0, "{}", other["causes"]);
    let [untuned, default] = [0, 1].map(|at| other["errors"]["mean_squared_error"][at].as_f64().unwrap());
    assert!(untuned > 1.5 * default, "{untuned} {default}");
    assert_eq!(same["inputs"], serde_json::json!([]), "equal evaluations differ nowhere");
    assert_eq!(same["king_buckets"], serde_json::json!([]), "the embedded network has one bucket");
    let bucketed =
        patzer(folder.path(), &["tune", "d.parquet", "--set", "king_buckets=five", "--epochs", "1", "-q"]);
    assert!(bucketed.status.success(), "{bucketed:?}");
    let rows = compare("new.nnue")["king_buckets"].as_array().unwrap().len();
    assert!((2..=5).contains(&rows), "{rows}");
    let alone = patzer(folder.path(), &["why", "default", "--data", "d.parquet"]);
    assert!(String::from_utf8_lossy(&alone.stderr).contains("--data compares two evaluations"));
    // The judge orders them likewise, by their own scores.
    let judge = ["net", "judge", "untuned-hce", "default", "--data", "d.parquet", "--json"];
    let judged: Value = serde_json::from_slice(&patzer(folder.path(), &judge).stdout).unwrap();
    let row = |at: usize| &judged["evaluations"][at];
    assert_eq!((&row(0)["file"], &row(1)["file"]), (&"default".into(), &"untuned-hce".into()), "{judged}");
    assert!(row(0)["change"].as_f64().unwrap() < -5.0 * row(0)["error"].as_f64().unwrap(), "{judged}");
    assert_eq!(row(1)["change"], 0.0);
}

#[test]
fn fewer_nodes_and_lost_time_are_named_without_a_reference() {
    let folder = tempfile::tempdir().unwrap();
    play(folder.path(), "name=new cmd=default nodes=100", "name=base cmd=default", "20");
    let result = why(folder.path(), &["--positions", "0"]);
    assert_eq!(first_cause(&result), ("nodes", 0), "{}", result["causes"]);
    assert_eq!(result["errors"], Value::Null);

    let game = |number: usize| {
        let [white, black] = if number.is_multiple_of(2) { ["new", "base"] } else { ["base", "new"] };
        let (result, end) = match number % 3 {
            0 if number.is_multiple_of(2) => ("0-1", "White loses on time"),
            0 => ("1-0", "Black loses on time"),
            _ => ("1/2-1/2", "Draw by adjudication"),
        };
        format!(
            "[White \"{white}\"]\n[Black \"{black}\"]\n[Result \"{result}\"]\n[Round \"{number}\"]\n\n\
             1. e4 {{+0.30/9 0.1s}} e5 {{+0.10/9 0.1s, {end}}} {result}\n\n"
        )
    };
    let lost: String = (0..24).map(game).collect();
    fs::write(folder.path().join("m.pgn"), lost).unwrap();
    let result = why(folder.path(), &["--positions", "0"]);
    assert_eq!(first_cause(&result), ("forfeits", 0), "{}", result["causes"]);
}

#[test]
fn players_and_files_without_games_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    play(folder.path(), "name=new cmd=default", "name=base cmd=default", "2");
    for (arguments, reason) in [
        (&["why", "m.pgn", "--player", "nobody"][..], "has no game with a result of nobody"),
        (&["why", "m.pgn", "--player", "new", "--against", "none"], "between new and none"),
        (&["why", "missing.pgn"], "missing.pgn"),
    ] {
        let output = patzer(folder.path(), arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(errors.contains(reason) && errors.lines().count() == 1, "{errors}");
    }
}
