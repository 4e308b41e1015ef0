//! `patzer match --tournament knockout` and `swiss`: rounds whose pairings follow from results.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::{done, mock, patzer};

/// Words of a tournament of mock engines, which lose at positions that they find hard.
fn words(players: usize, options: &str) -> Vec<String> {
    let mut words = vec!["match".to_string()];
    for player in 0..players {
        let engine = format!("name=p{player} option.Seed={} option.Mode=illegal@0", player + 1);
        words.extend(["--engine".to_string(), mock::command(&engine)]);
    }
    words.extend("--nodes 1 --max-moves 6 --json -q".split(' ').map(String::from));
    words.extend(options.split_whitespace().map(String::from));
    words
}

fn played(folder: &Path, words: &[String]) -> Value {
    let mut command = crate::program();
    command.current_dir(folder).env(mock::VARIABLE, "").args(words).stdin(std::process::Stdio::null());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let mut value: Value = serde_json::from_slice(&output.stdout).unwrap();
    value.as_object_mut().unwrap().remove("games_per_second");
    value
}

/// Moves of the games, without what differs from run to run.
fn games(folder: &Path) -> Vec<String> {
    let text = fs::read_to_string(folder.join("match.pgn")).unwrap();
    text.split("[Event ")
        .map(|game| game.split('{').map(|part| part.split_once('}').map_or(part, |(_, rest)| rest)).collect())
        .collect()
}

#[test]
fn a_tournament_in_rounds_is_the_same_on_any_number_of_boards_and_after_a_kill() {
    for options in ["--tournament knockout", "--tournament swiss --games 4", "--tournament swiss --rounds 5"]
    {
        let [alone, many] = [1, 3].map(|boards| {
            let folder = tempfile::tempdir().unwrap();
            let result = played(folder.path(), &words(6, &format!("{options} --concurrency {boards}")));
            (folder, result)
        });
        assert_eq!(alone.1, many.1);
        assert_eq!(games(alone.0.path()), games(many.0.path()));
        assert_eq!(alone.1["end"], "games", "{options}");
        // Take the last pairs and the end away, and go on.
        let (folder, whole) = alone;
        let journal = folder.path().join("match.journal");
        let text = fs::read_to_string(&journal).unwrap();
        let kept = text.lines().count() / 2;
        fs::write(&journal, text.split_inclusive('\n').take(kept).collect::<String>()).unwrap();
        let resume = ["match", "--resume", "--json", "-q"].map(String::from);
        let before = games(folder.path());
        assert_eq!(played(folder.path(), &resume), whole, "{options}");
        assert_eq!(games(folder.path()), before);
        let watched: Value =
            serde_json::from_str(&done(folder.path(), "watch match.journal --json -q")).unwrap();
        assert_eq!((&watched["ranks"], &watched["encounters"]), (&whole["ranks"], &whole["encounters"]));
    }
}

#[test]
fn a_knockout_names_who_went_on_and_a_swiss_its_ties() {
    let folder = tempfile::tempdir().unwrap();
    let result = played(folder.path(), &words(5, "--tournament knockout"));
    let encounters = result["encounters"].as_array().unwrap();
    assert_eq!(encounters.len(), 4, "every player but one loses an encounter");
    assert_eq!(encounters[3]["winner"], result["ranks"][0]["name"]);
    let result = played(folder.path(), &words(5, "--tournament swiss"));
    let ranks = result["ranks"].as_array().unwrap();
    let byes: u64 = ranks.iter().map(|rank| rank["byes"].as_u64().unwrap()).sum();
    let points: f64 = ranks.iter().map(|rank| rank["points"].as_f64().unwrap()).sum();
    assert_eq!((result["encounters"].as_array().unwrap().len(), byes, points), (6, 3, 6.0 * 2.0 + 3.0 * 2.0));
    let key =
        |rank: &Value| ["points", "buchholz", "sonneborn_berger"].map(|key| rank[key].as_f64().unwrap());
    assert!(ranks.is_sorted_by(|a, b| key(a) >= key(b)), "{ranks:?}");
}

#[test]
fn wrong_tournaments_are_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    for (line, says) in [
        ("match default default-hce --tournament swiss --rounds 2", "have all met after 1 rounds"),
        ("match default default-hce --rounds 2", "--rounds is for --tournament swiss"),
        ("match default default-hce --tournament knockout --until-error 5", "--until-error"),
    ] {
        let output = patzer(folder.path(), &line.split_whitespace().collect::<Vec<_>>());
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), error.lines().count()), (Some(1), 1), "{error}");
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn without_a_journal_resume_names_the_command_that_starts_one() {
    let folder = tempfile::tempdir().unwrap();
    for command in ["sprt", "match", "race", "spsa"] {
        let output = patzer(folder.path(), &[command, "--resume"]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), error.lines().count()), (Some(1), 1), "{error}");
        let says = format!("{command}.journal: there is no journal of a run to resume; `patzer {command} ");
        assert!(error.contains(&says), "{error}");
    }
}
