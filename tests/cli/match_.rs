//! `patzer match`: matches of two, gauntlets, round robins, and output in the format of other runners.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::{done, patzer};

const QUICK: &str = "--hash 1 --nodes 100 --max-moves 10 --concurrency 2";

fn json(folder: &Path, args: &str) -> Value {
    serde_json::from_str(&done(folder, &format!("match {args} {QUICK} --json"))).unwrap()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

/// The parts of a line that fit a pattern, where `%` stands for any text. A stand-in for the regular expressions
/// of scripts, which anchor on the same fixed words.
fn parts<'a>(line: &'a str, pattern: &str) -> Option<Vec<&'a str>> {
    let mut words = pattern.split('%');
    let mut rest = line.strip_prefix(words.next()?)?;
    let mut found = Vec::new();
    for word in words {
        let at = if word.is_empty() { rest.len() } else { rest.find(word)? };
        found.push(&rest[..at]);
        rest = &rest[at + word.len()..];
    }
    rest.is_empty().then_some(found)
}

#[test]
fn a_match_of_two_has_the_keys_of_a_test_and_every_game_is_accounted_for() {
    let folder = tempfile::tempdir().unwrap();
    let v = json(folder.path(), "untuned-hce default-hce --games 7 --by-opening");
    let games = number(&v["wins"]) + number(&v["draws"]) + number(&v["losses"]);
    let pairs: u64 = v["pentanomial"].as_array().unwrap().iter().map(number).sum();
    let reasons: u64 = v["reasons"].as_object().unwrap().values().map(number).sum();
    assert_eq!((games, pairs, reasons), (8, 4, 8), "whole pairs");
    for key in ["elo", "elo_error", "nelo", "nelo_error", "los", "games_per_second", "end"] {
        assert!(v.get(key).is_some(), "{key}");
    }
    let two = v["players"].as_array().unwrap();
    assert_eq!(two.len(), 2);
    assert_eq!(two[0]["score"].as_f64().unwrap() + two[1]["score"].as_f64().unwrap(), 1.0);
    assert_eq!(v["openings"].as_array().unwrap().len(), 4);
    let pgn = fs::read_to_string(folder.path().join("match.pgn")).unwrap();
    assert_eq!(pgn.matches("[Event \"patzer match\"]").count(), 8);
}

#[test]
fn a_gauntlet_and_a_round_robin_meet_as_they_should() {
    let folder = tempfile::tempdir().unwrap();
    let players = "untuned-hce default-hce default --games 2";
    let met = |v: &Value| -> Vec<String> {
        let pairings = v["pairings"].as_array().unwrap().iter();
        pairings.map(|p| format!("{}-{}", p["players"][0], p["players"][1]).replace('"', "")).collect()
    };
    let v = json(folder.path(), players);
    assert_eq!(met(&v), ["untuned-hce-default-hce", "untuned-hce-default"]);
    assert!(v.get("wins").is_none(), "whose wins would these be?");
    let all = json(folder.path(), &format!("{players} --tournament round-robin"));
    assert_eq!(met(&all).len(), 3);
    assert_eq!(number(&all["games"]), 6);
    assert!(all["players"].as_array().unwrap().iter().all(|row| number(&row["games"]) == 4));
    let text = done(folder.path(), &format!("match {players} {QUICK} -q"));
    assert!(text.contains("untuned-hce – default-hce") && text.contains("with White"), "{text}");
}

#[test]
fn a_resumed_match_equals_an_uninterrupted_one() {
    let folder = tempfile::tempdir().unwrap();
    let players = "untuned-hce default-hce default --tournament round-robin";
    let timeless = |mut v: Value| {
        v.as_object_mut().unwrap().remove("games_per_second");
        v
    };
    let whole = timeless(json(folder.path(), &format!("{players} --games 4")));
    let pgn = || fs::read(folder.path().join("match.pgn")).unwrap();
    let games = pgn();
    json(folder.path(), &format!("{players} --games 2"));
    assert!(pgn().len() < games.len());
    let v: Value = serde_json::from_str(&done(folder.path(), "match --resume --games 4 --json")).unwrap();
    assert_eq!(timeless(v), whole);
    assert_eq!(pgn(), games);
    let output = patzer(folder.path(), &["match", "--resume", "--tournament", "gauntlet"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("tournament was round robin"), "{output:?}");
}

/// Each player has time for its moves only if the periods follow one another, and the hourglass runs back.
#[test]
fn periods_increments_alone_and_an_hourglass_are_clocks() {
    let folder = tempfile::tempdir().unwrap();
    for (clock, tag) in
        [("4/0.4:4/0.4:G/0.4+0.05", "4/0.4:4/0.4:0.4+0.05"), ("0+0.3", "0+0.3"), ("hg0.5", "*0.5")]
    {
        let line =
            format!("match default-hce untuned-hce --games 4 --max-moves 25 --tc {clock} --time-margin 100");
        let said = done(folder.path(), &format!("{line} -o {}.pgn", clock.len()));
        assert!(!said.contains("time"), "{clock}: {said}");
        let games = fs::read_to_string(folder.path().join(format!("{}.pgn", clock.len()))).unwrap();
        assert_eq!(games.matches(&format!("[TimeControl \"{tag}\"]")).count(), 4, "{games}");
        assert!(!games.contains("forfeit"), "{games}");
    }
}

#[test]
fn players_that_play_alike_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let line = format!("match untuned-hce untuned-hce --games 4 {QUICK}");
    let output = patzer(folder.path(), &line.split_whitespace().collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("all pairs are two identical games"));
    assert!(String::from_utf8_lossy(&output.stdout).contains("all pairs identical"));
}

#[test]
fn a_match_names_what_it_cannot_play() {
    let folder = tempfile::tempdir().unwrap();
    for (args, says) in [
        ("default-hce", "two players or more, not 1"),
        ("default-hce untuned-hce --no-swap --by-opening", "--by-opening: not with --no-swap"),
        ("default-hce untuned-hce -o m.pgn.gz", "m.pgn.gz: games are written plain"),
        ("default-hce untuned-hce --until-error -5", "-5"),
    ] {
        let output = patzer(folder.path(), &[&["match"], &*args.split(' ').collect::<Vec<_>>()].concat());
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), error.lines().count()), (Some(1), 1), "{args}: {error}");
        assert!(error.contains(says) && !error.contains("'-- -5'"), "{args}: {error}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn games_without_swapped_colours_have_an_opening_each() {
    let folder = tempfile::tempdir().unwrap();
    json(folder.path(), "untuned-hce default-hce --games 4 --no-swap");
    let pgn = fs::read_to_string(folder.path().join("match.pgn")).unwrap();
    let starts: std::collections::BTreeSet<&str> =
        pgn.lines().filter(|line| line.starts_with("[FEN ")).collect();
    assert_eq!((starts.len(), pgn.matches("[White \"untuned-hce\"]").count()), (4, 4), "{pgn}");
}

#[test]
fn a_book_that_is_too_small_is_warned_of_once() {
    let folder = tempfile::tempdir().unwrap();
    let line = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -\n";
    fs::write(folder.path().join("book.epd"), line).unwrap();
    let text = "warning: book.epd: after its 1 opening the first comes again, with two random moves added";
    // Before the first game where their number is fixed, or when it happens.
    for (args, count) in
        [("match --games 4", 1), ("match --games 2", 0), ("sprt --games 2", 0), ("sprt --games 6", 1)]
    {
        let line = format!("{args} untuned-hce default-hce --openings book.epd {QUICK} --overwrite");
        let output = patzer(folder.path(), &line.split(' ').collect::<Vec<_>>());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(said.matches(text).count(), count, "{args}: {said}");
    }
}

#[test]
fn scripts_that_read_fastchess_read_us() {
    let folder = tempfile::tempdir().unwrap();
    let command = format!("match untuned-hce default-hce --games 4 {QUICK} --output-format fastchess");
    let text = done(folder.path(), &command);
    let all = |pattern: &str| text.lines().filter_map(|line| parts(line, pattern)).collect::<Vec<_>>();
    assert_eq!(all("Started game % of 4 (% vs %)").len(), 4);
    let finished = all("Finished game % (% vs %): % {%}");
    let numbers: Vec<&str> = finished.iter().map(|parts| parts[0]).collect();
    assert_eq!(numbers, ["1", "2", "3", "4"]);
    assert_eq!((finished[0][1], finished[1][1]), ("untuned-hce", "default-hce"));
    assert!(finished.iter().all(|parts| ["1-0", "0-1", "1/2-1/2"].contains(&parts[3])));
    assert_eq!(all("Results of % vs % (%):").len(), 1);
    assert_eq!(all("Elo: % +/- %, nElo: % +/- %").len(), 1);
    assert_eq!(all("LOS: % %, DrawRatio: % %, PairsRatio: %").len(), 1);
    let counts = all("Games: %, Wins: %, Losses: %, Draws: %, Points: % (% %)");
    let count = |i: usize| counts[0][i].parse::<u64>().unwrap();
    assert_eq!((count(0), count(1) + count(2) + count(3)), (4, 4));
    assert_eq!(all("Ptnml(0-2): [%, %, %, %, %], WL/DD Ratio: %").len(), 1);
    assert_eq!(text.lines().last(), Some("Finished match"));
}

#[test]
fn a_test_in_the_format_of_others_prints_its_llr() {
    let folder = tempfile::tempdir().unwrap();
    for (format, llr) in [
        ("fastchess", "LLR: % (%) (-2.94, 2.94) [0.00, 5.00]"),
        ("cutechess", "SPRT: llr % (%), lbound -2.94, ubound 2.94"),
    ] {
        let line = format!("sprt untuned-hce default-hce --games 4 {QUICK} --output-format {format} -q");
        let output = patzer(folder.path(), &line.split_whitespace().collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(11), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.lines().any(|line| parts(line, llr).is_some()), "{text}");
        if format == "cutechess" {
            let score = text.lines().find_map(|line| parts(line, "Score of % vs %: % - % - %  [%] 4"));
            assert_eq!(score.unwrap()[..2], ["untuned-hce", "default-hce"]);
            assert!(text.contains("Elo difference: "), "{text}");
        }
    }
}

#[test]
fn events_are_one_object_a_line_and_agree_with_the_result() {
    let folder = tempfile::tempdir().unwrap();
    let command = format!("match untuned-hce default-hce --games 4 {QUICK} --json-lines --rating-interval 2");
    let text = done(folder.path(), &command);
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(names, ["start", "pair", "status", "pair", "status", "end"]);
    let (pairs, result) = ([&events[1], &events[3]], &events[5]["result"]);
    let points: f64 = pairs
        .iter()
        .map(|pair| {
            let games = &pair["games"];
            games[0]["points"][0].as_f64().unwrap() + games[1]["points"][1].as_f64().unwrap()
        })
        .sum();
    assert_eq!(points, number(&result["wins"]) as f64 + number(&result["draws"]) as f64 / 2.0);
    assert_eq!(events[4]["pentanomial"], result["pentanomial"]);
    assert_eq!(events[4]["elo"], result["elo"]);
}

#[test]
fn scripts_that_read_cutechess_get_a_score_after_every_game() {
    let folder = tempfile::tempdir().unwrap();
    let command = format!("match untuned-hce default-hce --games 4 {QUICK} --output-format cutechess");
    let text = done(folder.path(), &command);
    let kinds: Vec<&str> = text.lines().map(|line| line.split(' ').next().unwrap()).collect();
    let one = ["Started", "Finished", "Score"];
    assert_eq!(kinds[..12], [one, one, one, one].concat());
    let result =
        |line: &str| parts(line, "Finished game % (% vs %): % {%}").map(|parts| parts[3].to_string());
    let games: Vec<String> = text.lines().filter_map(result).collect();
    let scores: Vec<Vec<&str>> = text
        .lines()
        .filter_map(|line| parts(line, "Score of untuned-hce vs default-hce: % - % - %  [%] %"))
        .collect();
    // The first player has White in every other game.
    let (mut won, mut lost, mut drawn) = (0, 0, 0);
    for (number, (game, score)) in games.iter().zip(&scores).enumerate() {
        match (game.as_str(), number % 2) {
            ("1/2-1/2", _) => drawn += 1,
            ("1-0", 0) | ("0-1", 1) => won += 1,
            _ => lost += 1,
        }
        let counts = [won, lost, drawn].map(|count: usize| count.to_string());
        assert_eq!(
            (&score[..3], score[4]),
            (&counts.each_ref().map(String::as_str)[..], &*(number + 1).to_string())
        );
    }
    assert!(text.contains("\nElo difference: "), "{text}");
    assert_eq!(text.lines().last(), Some("Finished match"));
}

#[test]
fn several_players_stand_in_the_table_of_each_runner() {
    let folder = tempfile::tempdir().unwrap();
    let players = "match untuned-hce default-hce default --games 2";
    for (format, head) in [("fastchess", "Rank Name % Ptnml(0-2)"), ("cutechess", "Rank Name % Draw ")] {
        let text = done(folder.path(), &format!("{players} {QUICK} --output-format {format}"));
        let lines: Vec<&str> = text.lines().collect();
        let at =
            lines.iter().rposition(|line| parts(line, head).is_some()).unwrap_or_else(|| panic!("{text}"));
        let mut names: Vec<&str> =
            lines[at + 1..at + 4].iter().map(|row| row.split_whitespace().nth(1).unwrap()).collect();
        names.sort_unstable();
        assert_eq!(names, ["default", "default-hce", "untuned-hce"]);
        assert!(
            lines[..at].iter().all(|line| !line.starts_with("Results of") && !line.starts_with("Score of"))
        );
    }
}

#[test]
fn endgame_tables_end_games_and_belong_to_the_match() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("pawn.epd"), "8/8/4K3/4P3/8/8/8/k7 w - - 0 1\n").unwrap();
    let tables = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/syzygy");
    let args = format!("untuned-hce default-hce --openings pawn.epd --games 2 --tb {tables}");
    let v = json(folder.path(), &format!("{args} --tb-ignore-50"));
    assert_eq!(v["reasons"], serde_json::json!({ "tablebase": 2 }));
    assert_eq!(v["pentanomial"], serde_json::json!([0, 0, 1, 0, 0]));
    let pgn = fs::read_to_string(folder.path().join("match.pgn")).unwrap();
    let text = pgn.replace('\n', " ");
    assert_eq!(text.matches("White wins by adjudication: SyzygyTB} 1-0").count(), 2, "{pgn}");
    // One move each: a win is known at once where its length does not matter.
    assert_eq!(pgn.matches("[PlyCount \"1\"]").count(), 2, "{pgn}");
    let output =
        patzer(folder.path(), &["match", "--resume", "--tb", tables, "--tb-pieces", "3", "--games", "4"]);
    assert_eq!(output.status.code(), Some(0), "the same tables: {output:?}");
    fs::create_dir(folder.path().join("less")).unwrap();
    fs::copy(format!("{tables}/KPvK.rtbw"), folder.path().join("less/KPvK.rtbw")).unwrap();
    let output = patzer(folder.path(), &["match", "--resume", "--tb", "less"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("rules tablebases files was 5"), "{output:?}");
    let output = patzer(folder.path(), &["match", "default", "default-hce", "--tb", "nowhere"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("nowhere"), "{output:?}");
}
