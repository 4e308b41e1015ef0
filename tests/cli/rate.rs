//! `patzer rate`.

use std::path::Path;

use crate::{done, patzer};

/// White, Black, and how many games White won, drew and lost.
type Row = (&'static str, &'static str, usize, usize, usize);

const GAMES: [Row; 10] = [
    ("Alpha 2", "Beta", 14, 20, 6),
    ("Beta", "Alpha 2", 9, 18, 13),
    ("Alpha 2", "Gamma", 22, 15, 3),
    ("Gamma", "Alpha 2", 4, 17, 19),
    ("Beta", "Gamma", 15, 17, 8),
    ("Gamma", "Delta", 12, 20, 8),
    ("Delta", "Gamma", 11, 19, 10),
    ("Delta", "Epsilon", 30, 9, 1),
    ("Epsilon", "Delta", 2, 11, 27),
    ("Epsilon", "Beta", 1, 6, 33),
];

/// Output of Ordo 1.2.6 for these games: its plain ratings, and those with `-W`, which gives White 16.80.
const ORDO: [(&str, f64, f64); 5] = [
    ("Alpha 2", 2463.616, 2464.702),
    ("Beta", 2400.213, 2398.459),
    ("Gamma", 2316.778, 2320.624),
    ("Delta", 2303.496, 2304.646),
    ("Epsilon", 2015.897, 2011.570),
];

fn write(path: &Path, rows: &[Row]) {
    let mut text = String::new();
    for (white, black, wins, draws, losses) in rows {
        for (result, count) in [("1-0", wins), ("1/2-1/2", draws), ("0-1", losses)] {
            for _ in 0..*count {
                text += &format!(
                    "[White \"{white}\"]\n[Black \"{black}\"]\n[Result \"{result}\"]\n\n1. e4 {result}\n\n"
                );
            }
        }
    }
    std::fs::write(path, text).unwrap();
}

fn json(folder: &Path, line: &str) -> serde_json::Value {
    serde_json::from_str(&done(folder, &format!("{line} --json"))).unwrap()
}

fn elo(v: &serde_json::Value, name: &str) -> f64 {
    let players = v["players"].as_array().unwrap();
    players.iter().find(|p| p["name"] == name).unwrap()["elo"].as_f64().unwrap()
}

#[test]
fn ratings_are_those_of_ordo() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("games.pgn"), &GAMES);
    let plain = json(folder.path(), "rate games.pgn");
    let fitted = json(folder.path(), "rate games.pgn --white auto");
    for (name, without, with) in ORDO {
        assert!((elo(&plain, name) - without).abs() < 0.05, "{name}: {}", elo(&plain, name));
        assert!((elo(&fitted, name) - with).abs() < 0.5, "{name}: {}", elo(&fitted, name));
    }
    assert!((fitted["white"].as_f64().unwrap() - 16.80).abs() < 0.5, "{}", fitted["white"]);
    assert_eq!((&fitted["games"], &fitted["games_rated"]), (&400.into(), &400.into()));
    // Ordo's own simulation of 1,000 matches finds 42.2 for the first and 58.7 for the last.
    let error = |name| {
        let players = fitted["players"].as_array().unwrap();
        players.iter().find(|p| p["name"] == name).unwrap()["elo_error"].as_f64().unwrap()
    };
    assert!((error("Alpha 2") / 42.2 - 1.0).abs() < 0.1, "{}", error("Alpha 2"));
    assert!((error("Epsilon") / 58.7 - 1.0).abs() < 0.15, "{}", error("Epsilon"));
}

/// An option, the text of its file, and ratings.
type OfFile = (&'static str, &'static str, &'static [(&'static str, f64)]);

/// Output of Ordo 1.2.6 for the games with `-Y` of `Beta,Delta`, `-i` of the first three players, `-x` of the last,
/// and `-m`.
const ORDO_OF_FILES: [OfFile; 4] = [
    (
        "--aliases",
        "Beta,Delta\n",
        &[("Alpha 2", 2452.7), ("Beta", 2365.6), ("Gamma", 2331.9), ("Epsilon", 2049.9)],
    ),
    (
        "--include",
        "\"Alpha 2\"\nBeta\nGamma\nNobody\n",
        &[("Alpha 2", 2370.1), ("Beta", 2306.6), ("Gamma", 2223.3)],
    ),
    (
        "--exclude",
        "Epsilon\nX\n",
        &[("Alpha 2", 2392.5), ("Beta", 2329.1), ("Gamma", 2245.8), ("Delta", 2232.6)],
    ),
    (
        "--anchors",
        "\"Beta\",2500\n\"Delta\", 2400\n",
        &[("Alpha 2", 2562.6), ("Beta", 2500.0), ("Gamma", 2414.9), ("Delta", 2400.0), ("Epsilon", 2113.2)],
    ),
];

#[test]
fn files_of_names_are_those_of_ordo() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("games.pgn"), &GAMES);
    for (option, text, ratings) in ORDO_OF_FILES {
        std::fs::write(folder.path().join("names"), text).unwrap();
        let output = patzer(folder.path(), &["rate", "games.pgn", option, "names", "--json"]);
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        for &(name, rating) in ratings {
            assert!((elo(&found, name) - rating).abs() < 0.11, "{option} {name}: {}", elo(&found, name));
        }
        assert_eq!(found["players"].as_array().unwrap().len(), ratings.len(), "{found}");
        let skipped: u64 =
            found["games_skipped"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
        assert_eq!(found["games_rated"].as_u64().unwrap() + skipped, 400);
        let said = String::from_utf8(output.stderr).unwrap();
        let unknown = text.contains("Nobody") || text.contains("X\n");
        assert_eq!(said.contains("warning: names: no game of \""), unknown, "{said}");
    }
    std::fs::write(folder.path().join("names"), "Nobody,2000\n").unwrap();
    let output = patzer(folder.path(), &["rate", "games.pgn", "--anchors", "names"]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("no rated game of \"Nobody\""));
}

#[test]
fn anchors_files_and_threads_are_taken_as_they_come() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(&folder.join("games.pgn"), &GAMES);
    write(&folder.join("a.pgn"), &GAMES[..4]);
    write(&folder.join("b.pgn"), &GAMES[4..]);
    // Ordo with -A Gamma -a 3000: Alpha 3146.838, Epsilon 2699.120.
    let anchored = json(folder, "rate games.pgn --anchor Gamma=3000");
    assert!((elo(&anchored, "Alpha 2") - 3146.838).abs() < 0.05);
    assert!((elo(&anchored, "Epsilon") - 2699.120).abs() < 0.05);
    assert_eq!(json(folder, "rate a.pgn b.pgn"), json(folder, "rate games.pgn --threads 1"));
    let draws = json(folder, "rate games.pgn --model davidson --bootstrap 100 --seed 3");
    assert_eq!(draws, json(folder, "rate games.pgn --model davidson --bootstrap 100 --seed 3 --threads 1"));
    assert_eq!(draws["errors"], "bootstrap");
}

#[test]
fn players_without_a_finite_rating_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut rows = GAMES.to_vec();
    rows.extend([("King", "Beta", 3, 0, 0), ("Left", "Right", 2, 1, 1)]);
    write(&folder.join("games.pgn"), &rows);
    let output = patzer(folder, &["rate", "games.pgn", "--json"]);
    let notes = String::from_utf8(output.stderr).unwrap();
    assert!(
        notes.contains("2 pools have no games between them") && notes.contains("1 player without a finite"),
        "{notes}"
    );
    let v: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let player =
        |name: &str| v["players"].as_array().unwrap().iter().find(|p| p["name"] == name).unwrap().clone();
    assert!(player("King")["elo"].is_null());
    assert!(player("King")["reason"].as_str().unwrap().starts_with("won every game"));
    assert_eq!((&player("Left")["pool"], &player("Beta")["pool"]), (&2.into(), &1.into()));
    // King's games count for no rating: they are in King's row alone.
    assert_eq!(player("King")["games"], 3);
    let own = GAMES.iter().filter(|game| [game.0, game.1].contains(&"Beta"));
    let games: usize = own.map(|&(_, _, wins, draws, losses)| wins + draws + losses).sum();
    assert_eq!(player("Beta")["games"], games);
    // Neither of them changes the others.
    assert!((elo(&v, "Beta") - 2400.213).abs() < 0.05);
    let v = json(folder, "rate games.pgn --prior 2");
    assert!(elo(&v, "King") > elo(&v, "Alpha 2") && elo(&v, "King") < 4000.0);
}

#[test]
fn tables_and_matrices_show_what_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(&folder.join("games.pgn"), &GAMES);
    let text =
        done(folder, "rate games.pgn --white auto --los --crosstable --head-to-head Delta --csv out.csv");
    for part in ["White's advantage +16.8 ± 29.0 Elo", "Chance in %", "Points of the row", "Delta against"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let csv = std::fs::read_to_string(folder.join("out.csv")).unwrap();
    assert_eq!(csv.lines().count(), 6);
    assert!(csv.lines().nth(1).unwrap().starts_with("1,Alpha 2,2464."), "{csv}");
    let v = json(folder, "rate games.pgn --white auto --los --crosstable --head-to-head Delta");
    let los = |i: usize, j: usize| v["los"][i][j].as_f64().unwrap();
    assert!(los(0, 4) > 0.999 && (los(1, 2) + los(2, 1) - 1.0).abs() < 1e-9 && v["los"][2][2].is_null());
    assert_eq!(v["crosstable"][0][1], serde_json::json!({"points": 46.0, "games": 80}));
    let opponents = v["head_to_head"]["opponents"].as_array().unwrap();
    assert_eq!(opponents.len(), 2);
    assert_eq!((&opponents[1]["name"], &opponents[1]["wins"]), (&"Epsilon".into(), &57.into()));
    let expected: f64 = opponents.iter().map(|o| o["expected"].as_f64().unwrap()).sum();
    assert!((expected - 105.5).abs() < 1e-3, "{expected}");
    // Without Eta's games, Zeta has too few.
    let others = [("Zeta", "Epsilon", 1, 1, 1), ("Eta", "Zeta", 5, 5, 5)];
    write(&folder.join("more.pgn"), &[&GAMES[..], &others].concat());
    let few = json(folder, "rate more.pgn --min-games 16");
    assert_eq!((few["players_left_out"].as_u64(), few["players"].as_array().unwrap().len()), (Some(2), 5));
}

#[test]
fn a_table_on_stdout_is_alone_there() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("games.pgn"), &GAMES);
    let output = patzer(folder.path(), &["rate", "games.pgn", "--csv", "-"]);
    let [stdout, stderr] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    assert_eq!(stdout.lines().count(), 6, "{stdout}");
    assert!(stdout.lines().all(|line| line.contains(',')) && stderr.contains("Alpha 2"), "{stdout}{stderr}");
}

#[test]
fn senseless_input_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(&folder.join("games.pgn"), &GAMES);
    write(&folder.join("won.pgn"), &[("a", "b", 3, 0, 0)]);
    write(&folder.join("sides.pgn"), &[("a", "b", 3, 1, 2), ("a", "c", 2, 2, 2)]);
    std::fs::write(folder.join("none.pgn"), "[White \"a\"]\n[Black \"b\"]\n\n1. e4 *\n").unwrap();
    for (args, reason) in [
        (&["none.pgn"][..], "none.pgn: none of the 1 games"),
        (&["no.pgn"], "no.pgn: no such file"),
        (&["won.pgn"], "no two players have both scored against each other"),
        (&["games.pgn", "--anchor", "gam=1"], "no rated game of \"gam\"; there is \"Gamma\""),
        (&["games.pgn", "--anchor", "Gamma"], "invalid value 'Gamma' for '--anchor <NAME=ELO>'"),
        (&["sides.pgn", "--white", "auto"], "--white auto: these pairings and colours do not separate"),
        (&["games.pgn", "--scale", "0"], "--scale 0: must be above 0"),
        (&["games.pgn", "--scale", "-5"], "--scale -5: must be above 0"),
        (&["games.pgn", "--white", "yes"], "invalid value 'yes' for '--white <ELO|auto>'"),
    ] {
        let output = patzer(folder, &[&["rate"], args].concat());
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?} {text}");
        assert!(text.contains(&format!("error: {reason}")) && text.lines().count() == 1, "{args:?}: {text}");
    }
}

#[test]
fn games_of_players_with_too_few_are_counted_as_left_out() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("games.pgn"), &[("A", "B", 5, 2, 3), ("A", "C", 1, 0, 1)]);
    let v = json(folder.path(), "rate games.pgn --min-games 5");
    assert_eq!((&v["games"], &v["games_rated"]), (&12.into(), &10.into()));
    assert_eq!(v["games_skipped"]["left_out"], 2);
    std::fs::write(folder.path().join("x.journal"), "{\"patzer_journal\":2}\n").unwrap();
    let output = patzer(folder.path(), &["rate", "x.journal"]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("is a journal; name the PGN beside it"));
}

#[test]
fn pairs_have_the_error_of_elo() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let game = |round: usize, white: &str, black: &str, result: &str| {
        format!(
            "[Round \"{round}\"]\n[White \"{white}\"]\n[Black \"{black}\"]\n[Result \"{result}\"]\n\n1. e4 {result}\n\n"
        )
    };
    // Of 500 pairs A won one game and drew the other in 50, and won one and lost the other in the rest.
    let pair = |round: usize| {
        let second = if round.is_multiple_of(10) { "1/2-1/2" } else { "1-0" };
        game(round, "A", "B", "1-0") + &game(round, "B", "A", second)
    };
    std::fs::write(folder.join("pairs.pgn"), (0..500).map(pair).collect::<String>()).unwrap();
    let expected = json(folder, "elo pairs.pgn")["elo_error"].as_f64().unwrap();
    for (options, within) in [("", 0.05), (" --bootstrap 1000 --seed 1", 0.1)] {
        let line = format!("rate pairs.pgn --anchor B=0{options}");
        let rated = json(folder, &line);
        let found = rated["players"][0]["elo_error"].as_f64().unwrap();
        assert!((found / expected - 1.0).abs() < within, "{line}: {found} {expected}");
        assert_eq!(rated["games_paired"], 1000);
    }
    let said = done(folder, "rate pairs.pgn");
    assert!(said.contains("1,000 in pairs of one opening with colours exchanged"), "{said}");
}
