//! The quick form of every study: that its steps run, that its table is whole, and that it goes on where it was.
//! The data are a part of the fixtures, so that a study takes seconds.

#![cfg(unix)]

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A study in a folder, to be run.
fn script(name: &str, folder: &Path, settings: &[(&str, &str)]) -> Command {
    let script = format!("{}/studies/{name}.sh", env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new("sh");
    command.arg(script).env("PATZER", env!("CARGO_BIN_EXE_patzer")).env("OUT", folder).env("QUICK", "1");
    command.env("PUZZLES", folder.join("../puzzles.csv")).envs(settings.iter().copied());
    command
}

/// Runs a study in a folder; its table.
fn study(name: &str, folder: &Path, settings: &[(&str, &str)]) -> String {
    let output = script(name, folder, settings).output().unwrap();
    let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
    assert!(output.status.success(), "{name}: {}\n{log}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A folder for a study beside ten puzzles.
fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/puzzles.csv")).unwrap();
    let few: String = text.lines().take(11).map(|line| format!("{line}\n")).collect();
    fs::write(folder.path().join("puzzles.csv"), few).unwrap();
    let out = folder.path().join("out");
    fs::create_dir(&out).unwrap();
    (folder, out)
}

/// The first cells of a table's rows.
fn rows(table: &str) -> Vec<String> {
    let rows = table.lines().skip(2).map(|line| line.split('|').nth(1).unwrap().trim().to_string());
    let rows: Vec<String> = rows.collect();
    let columns = |line: &str| line.matches('|').count();
    let head = table.lines().next().unwrap();
    assert!(table.lines().all(|line| columns(line) == columns(head)), "{table}");
    rows
}

#[test]
fn presets_has_a_row_for_each_and_goes_on_where_it_was() {
    let (_folder, out) = place();
    let table = study("presets", &out, &[("POSITIONS", "3000")]);
    assert_eq!(rows(&table), ["`unique`", "`drop30+checks`", "`all`"]);
    let runs = fs::read_to_string(out.join("runs.md")).unwrap();
    assert!(runs.contains("| `patzer tune hce") && runs.contains("| `patzer match"), "{runs}");
    let result = out.join("match-unique-gauss-newton-1.json");
    let read = || -> serde_json::Value { serde_json::from_slice(&fs::read(&result).unwrap()).unwrap() };
    let (mut first, games) = (read(), fs::read(out.join("match-unique-gauss-newton-1.pgn")).unwrap());
    assert!(first["games_per_second"].as_f64().unwrap() > 0.0);
    // One step's result is gone; the match itself is resumed, and nothing else is run again.
    fs::remove_file(&result).unwrap();
    fs::remove_file(out.join("unique-1.parquet")).unwrap();
    assert_eq!(study("presets", &out, &[("POSITIONS", "3000")]), table);
    assert!(!out.join("unique-1.parquet").exists());
    // The result of a match that had all its games before.
    first["games_per_second"] = 0.0.into();
    assert_eq!(read(), first);
    assert!(fs::read(out.join("match-unique-gauss-newton-1.pgn")).unwrap() == games);
}

#[test]
fn views_and_buckets_compare_networks() {
    let (_folder, out) = place();
    let few = [("SAMPLE", "--sample 800"), ("GAMES", "2")];
    let table = study("views", &out, &few);
    let views =
        ["two views, 16 neurons", "one view, 16 neurons", "one view, 32 neurons", "White's view, 16 neurons"];
    assert_eq!(rows(&table), views);
    let (_folder, out) = place();
    let table = study("buckets", &out, &few);
    assert_eq!(rows(&table), ["plain", "mirrored", "8 output buckets", "5 king buckets", "all together"]);
}

#[test]
fn features_and_labels_compare_what_is_learnt() {
    let (_folder, out) = place();
    let few = [("SAMPLE", "--sample 800"), ("GAMES", "2")];
    let rows_of = rows(&study("features", &out, &few));
    let networks = ["`all`", "`all+h+v`", "`all+pp+threats`", "`all`, 8 neurons", "`all`, 8,4 neurons"];
    assert_eq!(rows_of, networks);
    let (_folder, out) = place();
    let table = study("labels", &out, &few);
    assert_eq!(rows(&table).len(), 6, "{table}");
}

#[test]
fn pqr_learns_from_moves_at_first_and_after_labels() {
    let (_folder, out) = place();
    let table = study("pqr", &out, &[("SAMPLE", "--sample 800"), ("GAMES", "2")]);
    assert_eq!(
        rows(&table),
        ["labels", "PQR from random weights", "PQR after labels, 1e-5", "the same, quantile 0.5"]
    );
    assert!(out.join("figures").read_dir().unwrap().count() > 4);
}

#[test]
fn distil_compares_teachers_by_the_number_of_positions() {
    let (_folder, out) = place();
    let table = study("distil", &out, &[("COUNTS", "300 700"), ("GAMES", "2")]);
    assert_eq!(rows(&table), ["300", "300", "700", "700"]);
    let learns: Vec<_> = table.lines().skip(2).map(|row| row.split('|').nth(2).unwrap().trim()).collect();
    assert_eq!(learns, ["results", "default", "results", "default"], "{table}");
}

#[test]
fn generations_play_train_and_test() {
    let (_folder, out) = place();
    let table = study("generations", &out, &[("GAMES", "2")]);
    assert_eq!(rows(&table), ["0, material", "1"]);
    assert!(table.lines().last().unwrap().contains("undecided"), "{table}");
}

/// The bundled engine as a program: a test of the workspace has built it beside patzer, one of this package alone has
/// not. A build of the one package would compile most of it again, with other features of its dependencies.
fn engine() -> PathBuf {
    let engine = Path::new(env!("CARGO_BIN_EXE_patzer")).with_file_name("patzer-uci");
    if !engine.exists() {
        let build = ["build", "--locked", "--quiet", "--package", "patzer-engine", "--bin", "patzer-uci"];
        assert!(Command::new(env!("CARGO")).args(build).status().unwrap().success());
    }
    engine
}

#[test]
fn teachers_compare_scores_of_another_engine() {
    let (_folder, out) = place();
    let teacher = format!("cmd={} option.Hash=1", engine().display());
    let few = [("SAMPLE", "--sample 800"), ("GAMES", "2"), ("TEACHER", &teacher)];
    let table = study("teachers", &out, &few);
    let first =
        ["result of the game", "own score", "the teacher's score", "the teacher's score against the own"];
    assert_eq!(rows(&table), first);
    let taught = patzer_data::Dataset::open(&out.join("taught.parquet")).unwrap();
    assert!(taught.metadata().teacher.as_deref().is_some_and(|teacher| teacher.contains("100 nodes")));
}

#[test]
fn strength_rates_the_levels_on_another_engines_scale() {
    let (_folder, out) = place();
    let engine = engine();
    let table = study("strength", &out, &[("ENGINE", engine.to_str().unwrap())]);
    let mut players = rows(&table);
    players.sort_unstable();
    assert_eq!(players, ["1200", "800", "full", "x1000"]);
    assert!(table.lines().any(|line| line.starts_with("| x1000 | 1000 | 0 |")), "{table}");
    let games = fs::read_to_string(out.join("match-800-full.pgn")).unwrap();
    assert!(games.contains("[White \"800\"]") && games.contains("[Black \"full\"]"));
}

#[test]
fn search_switches_techniques_off() {
    let (_folder, out) = place();
    let engine = engine();
    let table = study("search", &out, &[("ENGINE", engine.to_str().unwrap())]);
    assert_eq!(rows(&table), ["null move", "killers"]);
    let games = fs::read_to_string(out.join("match-null-move.pgn")).unwrap();
    assert!(games.contains("\"without-null-move\""), "{games}");
}

#[test]
fn factorial_measures_all_techniques_in_the_same_games() {
    let (_folder, out) = place();
    let table = study("factorial", &out, &[("INTERACTIONS", "null-move*killers")]);
    for text in ["\nnull-move ", "\nkillers ", "\nnull-move*killers  ", "\ngames       24, "] {
        assert!(table.contains(text), "{text}: {table}");
    }
    let result: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(out.join("screen.json")).unwrap()).unwrap();
    assert_eq!(result["games"], 24);
}

#[test]
fn why_explains_each_match() {
    let (_folder, out) = place();
    assert_eq!(rows(&study("why", &out, &[])), ["none", "scale"]);
}

#[test]
fn nodes_measures_the_growth_of_the_search() {
    let (_folder, out) = place();
    let table = study("nodes", &out, &[]);
    let measures = [
        "cut-offs by the first move, depth 3",
        "nodes for a ply more, depth 3 to 5",
        "cut-offs by the first move, depth 5",
        "100 nodes against 50",
        "200 nodes against 100",
    ];
    assert_eq!(rows(&table), measures, "{table}");
    let factor = table.lines().find_map(|line| line.split_once("× ")).unwrap().1;
    assert!((1.0..8.0).contains(&factor.trim_end_matches([' ', '|']).parse::<f64>().unwrap()), "{table}");
}

#[test]
fn playouts_train_on_the_games_of_both_searches() {
    let (_folder, out) = place();
    let table = study("playouts", &out, &[]);
    let names =
        ["alpha-beta", "playouts", "both, half of each", "alpha-beta, twice the games", "playouts, as long"];
    assert_eq!(rows(&table), names);
    let positions =
        |row: usize| table.lines().nth(2 + row).unwrap().split('|').nth(2).unwrap().trim().parse::<u64>();
    assert_eq!((positions(1), positions(2)), (positions(0), positions(0)), "{table}");
    let games = fs::read(out.join("mcts.pgn.zst")).unwrap();
    let text = zstd::decode_all(&games[..]).unwrap();
    assert!(String::from_utf8_lossy(&text).contains("visits=\""));
}

#[test]
#[ignore = "takes long: make test-long"]
fn long_embedded_goes_from_self_play_to_a_test_wherever_it_is_killed() {
    let (_folder, whole) = place();
    let table = study("embedded", &whole, &[]);
    assert_eq!(rows(&table).len(), 1);
    assert!(table.contains("| undecided |"), "{table}");
    let recipe = fs::read_to_string(whole.join("runs/embedded/recipe.toml")).unwrap();
    assert!(recipe.contains("hidden = 512"), "{recipe}");

    let (_folder, out) = place();
    let mut killed = 0;
    let trained =
        || fs::read_to_string(out.join("runs/embedded/log.csv")).map_or(0, |log| log.lines().count());
    let exists = |name: &str| out.join(name).exists();
    let moments: [&dyn Fn() -> bool; 5] = [
        &|| exists("play-broad-2.part"),
        &|| exists("label-fine.part"),
        &|| trained() > 1,
        &|| trained() > 4,
        &|| exists("test.part"),
    ];
    for come in moments {
        let mut command = script("embedded", &out, &[]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let mut child = command.spawn().unwrap();
        while !come() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        // The script and the program that it runs.
        let group = format!("-{}", child.id());
        crate::signal("KILL", &group);
        killed += usize::from(!child.wait().unwrap().success());
    }
    assert!(killed > 0, "no run was cut short");
    assert_eq!(study("embedded", &out, &[]), table);
    assert!(fs::read(out.join("embedded.nnue")).unwrap() == fs::read(whole.join("embedded.nnue")).unwrap());
}

#[test]
#[ignore = "takes long: make test-long"]
fn long_embedded_learns_from_games_of_earlier_generations_too() {
    let (_folder, out) = place();
    let games = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/engine.pgn.zst");
    let settings = [("BROAD_SEEDS", " "), ("BROAD_MORE", games), ("FINE_MORE", games)];
    let table = study("embedded", &out, &settings);
    let row: Vec<&str> = table.lines().nth(2).unwrap().split('|').map(str::trim).collect();
    let [broad, fine] = [row[1], row[2]].map(|cell| cell.parse::<u64>().unwrap());
    assert!(broad > 10_000 && fine > broad, "{table}");
    assert!(!out.join("play-broad-1.json").exists() && out.join("play-fine-101.json").exists());
}
