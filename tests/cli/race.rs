//! `patzer race`: allotments, resumption, figures, simulation; and the race of a training's networks.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::tune_net::{self, fault, tuned};
use crate::{done, kill, patzer};

const CANDIDATES: &str = "race untuned-hce default-hce default --nodes 30 --max-moves 40 --hash 1 --pairs 4";

fn timeless(text: &str) -> Value {
    let mut value: Value = serde_json::from_str(text).unwrap();
    value.as_object_mut().unwrap().remove("games_per_second");
    value
}

fn games(folder: &Path) -> String {
    fs::read_to_string(folder.join("race.pgn")).unwrap()
}

#[test]
fn a_race_is_the_same_for_any_number_of_boards_and_goes_where_it_decides() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let run = |boards: u32| {
        let line = format!("{CANDIDATES} --policy lucb --games 120 --concurrency {boards} --json -q");
        (timeless(&done(at, &line)), games(at))
    };
    let alone = run(1);
    let other = run(4);
    assert_eq!(alone.0, other.0);
    assert!(alone.1 == other.1, "the games differ");
    let (result, pgn) = alone;
    assert_eq!(pgn.matches("[Event \"patzer race\"]").count(), 120);
    assert_eq!((&result["games"], &result["policy"]), (&Value::from(120), &Value::from("lucb")));
    let rows = result["candidates"].as_array().unwrap();
    assert_eq!(rows[0]["name"], result["winner"]);
    let number = |row: &Value, key: &str| row[key].as_f64().unwrap();
    let best: f64 = rows.iter().map(|row| number(row, "best")).sum();
    assert!((best - 1.0).abs() < 1e-9);
    // The weakest candidate has the fewest games, and every bound encloses its estimate.
    let played: Vec<f64> = rows.iter().map(|row| number(row, "games")).collect();
    assert!(played[2] < played[0] && played.iter().sum::<f64>() == 240.0, "{played:?}");
    assert!(rows[1..].iter().all(|row| row["low"].is_null() || number(row, "low") <= number(row, "elo")));
    let confirm = result["confirm"].as_str().unwrap();
    let words = format!("patzer sprt {} ", result["winner"].as_str().unwrap());
    assert!(confirm.starts_with(&words) && confirm.contains("--nodes 30") && confirm.ends_with("--seed 1"));
    assert!(!confirm.contains("--policy") && !confirm.contains("--games"), "{confirm}");
}

#[test]
fn a_race_against_an_anchor_ends_when_the_best_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let line = "race untuned-hce default --against untuned-hce --nodes 30 --max-moves 60 --hash 1 --confidence 0.8 --json -q";
    let result = timeless(&done(at, line));
    assert_eq!((&result["winner"], &result["known"]), (&Value::from("default"), &Value::from(true)));
    assert_eq!(
        (&result["end"], &result["anchor"]),
        (&Value::from("verdict"), &Value::from("untuned-hce (C)"))
    );
    assert!(
        result["candidates"][0]["low"].as_f64().unwrap() > result["candidates"][1]["high"].as_f64().unwrap()
    );
    // Finished: nothing is left to resume, and another terminal sees the same.
    let quiet = |line: &str| timeless(&done(at, &format!("{line} --json -q")));
    assert_eq!(quiet("race --resume"), result);
    let mut watched = quiet("watch race.pgn");
    watched["confirm"] = result["confirm"].clone();
    assert_eq!(watched, result);
    let report: Value =
        serde_json::from_str(&done(at, "report race.journal -o race.html --json -q")).unwrap();
    let run = &report["runs"][0];
    assert_eq!(run["measures"]["winner"], "default");
    let figures = run["figures"].as_array().unwrap();
    assert!(["race-allocation", "race-regret"].iter().all(|id| figures.contains(&Value::from(*id))));
}

#[test]
fn a_race_that_is_killed_again_and_again_ends_as_an_uninterrupted_one() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let line = format!("{CANDIDATES} --policy halving --games 80");
    let whole = timeless(&done(at, &format!("{line} --json -q -o whole.pgn")));
    let mut first = line.as_str();
    let mut kills = 0;
    for pairs in [3, 9, 22, 31] {
        let mut command = crate::program();
        command.current_dir(at).args(first.split_whitespace()).args(["--resume", "-q"]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        while child.try_wait().unwrap().is_none()
            && fs::read_to_string(at.join("race.journal")).unwrap_or_default().lines().count() <= pairs
        {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        kills += usize::from(kill(&mut child));
        first = "race";
    }
    assert!(kills >= 2, "{kills}");
    let mut resumed = timeless(&done(at, "race --resume --json -q"));
    resumed["confirm"] = whole["confirm"].clone();
    assert_eq!(resumed, whole);
    assert!(games(at) == fs::read_to_string(at.join("whole.pgn")).unwrap(), "the games differ");
    let output = patzer(at, &["race", "--resume", "--policy", "ucb1"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && text.contains("race policy was halving"), "{text}");
}

#[test]
fn a_simulated_race_depends_on_its_seed_alone() {
    let folder = tempfile::tempdir().unwrap();
    let line = "race simulate --count 20 --strengths 200,100,0 --draws 0.3 --confidence 0.9 --json";
    let one = done(folder.path(), &format!("{line} --threads 1"));
    assert_eq!(one, done(folder.path(), &format!("{line} --threads 3")));
    assert_ne!(one, done(folder.path(), &format!("{line} --seed 1")));
    let value: Value = serde_json::from_str(&one).unwrap();
    assert!(value["found"].as_f64().unwrap() >= 0.9 && value["undecided"] == 0, "{value}");
    assert!(!folder.path().join("race.pgn").exists());
}

#[test]
fn wrong_races_are_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    for (line, says) in [
        ("race default", "two candidates or more, not 1"),
        ("race default --against default-hce", "two candidates or more, not 1"),
        ("race default default-hce --confidence 1", "--confidence 1"),
        ("race default default-hce untuned-hce --games 4", "need 6 games or more"),
        ("race default default-hce --policy best", "halving"),
        ("race default default-hce --epsilon 2", "--epsilon 2"),
        ("race default default-hce --within -1", "--within -1"),
        ("race default default-hce --against nowhere.nnue", "nowhere.nnue"),
        ("race simulate", "--strengths"),
        ("race simulate --count 3 --strengths 800,0 --draws 0.9", "cannot come with"),
    ] {
        let output = patzer(folder.path(), &line.split_whitespace().collect::<Vec<_>>());
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && text.contains(says), "{line}: {text}");
        assert_eq!(text.trim().lines().count(), 1, "{line}: {text}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{line}");
    }
}

#[test]
fn the_confirming_test_names_the_winner_first_whoever_comes_first_in_the_race() {
    let folder = tempfile::tempdir().unwrap();
    let line = "race untuned-hce default-hce --engine cmd=default --nodes 300 --games 60 --json -q";
    let result = timeless(&done(folder.path(), line));
    assert_eq!(result["winner"], "default");
    let confirm = result["confirm"].as_str().unwrap();
    assert!(
        confirm.starts_with("patzer sprt --engine cmd=default --engine cmd=default-hce --nodes 300"),
        "{confirm}"
    );
}

#[test]
fn games_choose_among_the_networks_of_a_run() {
    let folder = tune_net::folder();
    let line = "positions.parquet --epochs 6 --save-every 1 --set batch=200 -o raced.nnue";
    let race = "--race 60 --race-nodes 60";
    let result = tuned(&folder, &format!("{line} {race} --overwrite"));
    let run = folder.path().join("runs/raced");
    let chosen = &result["race"];
    assert_eq!(chosen["games"], 60);
    // The second half of six epochs, and the network of the least loss, which is one of all.
    let candidates = chosen["candidates"].as_array().unwrap();
    assert!([3, 4].contains(&candidates.len()), "{chosen}");
    let file =
        fs::read(run.join(Path::new(chosen["network"].as_str().unwrap()).file_name().unwrap())).unwrap();
    assert_eq!(fs::read(folder.path().join("raced.nnue")).unwrap(), file);
    assert_eq!(fs::read(run.join("network.nnue")).unwrap(), file);
    assert_eq!(result["sha256"].as_str().unwrap(), patzer_io::sha256(&file));
    let winner = chosen["winner"].as_str().unwrap();
    assert_eq!(chosen["of_least_loss"], winner == "least-loss");

    // A run that was killed in its race goes on with it, to the same network.
    let games = fs::read_to_string(run.join("race.pgn")).unwrap();
    fs::remove_file(run.join("result.json")).unwrap();
    let journal = fs::read_to_string(run.join("race.journal")).unwrap();
    let kept: Vec<&str> = journal.lines().collect();
    fs::write(run.join("race.journal"), kept[..kept.len() / 2].join("\n") + "\n").unwrap();
    let resumed: Value =
        serde_json::from_str(&done(folder.path(), "tune --resume --json -o raced.nnue")).unwrap();
    assert_eq!(resumed["race"]["candidates"], chosen["candidates"]);
    assert_eq!(fs::read(folder.path().join("raced.nnue")).unwrap(), file);
    assert_eq!(fs::read_to_string(run.join("race.pgn")).unwrap(), games);

    // Another run of the same name has a race of its own.
    let other = tuned(&folder, &format!("{line} {race} --seed 5"));
    assert_eq!(other["race"]["games"], 60);
    assert!(fault(&folder, "--race 20 --epochs 1").contains("--save-every"));
    let text = done(folder.path(), &format!("tune --hidden 16 {line} {race} --seed 6"));
    assert!(text.contains("race      ") && text.contains("after 60 games"), "{text}");
}

#[test]
fn candidates_are_judged_by_positions_beside_their_games() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    done(at, "match default untuned-hce --nodes 200 --games 20 -q -o m.pgn");
    done(at, "extract m.pgn -o d.parquet -q");
    let line = "race default untuned-hce default-hce --nodes 50 --games 12 --data d.parquet -q";
    let text = done(at, line);
    assert!(text.lines().next().unwrap().ends_with("loss"), "{text}");
    let report: serde_json::Value =
        serde_json::from_str(&done(at, &format!("{line} --overwrite --json"))).unwrap();
    let rows = report["candidates"].as_array().unwrap();
    let loss = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap()["loss"].as_f64().unwrap();
    assert!(loss("untuned-hce") > loss("default-hce"), "{report}");
    assert!(!report["confirm"].as_str().unwrap().contains("--data"), "{report}");
}
