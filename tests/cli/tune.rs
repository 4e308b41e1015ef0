//! `patzer tune`: its files and its choices. How well it fits is for the tests of `tune` and `train`.

use std::fs;

use patzer::eval::Evaluation;
use patzer::eval::hce::{TERMS, Weights};
use tempfile::TempDir;

use crate::{done, patzer};

/// A labelled dataset of made-up games: won, drawn and lost ones.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let game =
        |moves: &str, result: &str| format!("[Event \"x\"]\n[Result \"{result}\"]\n\n{moves} {result}\n\n");
    let games = [
        game(
            "1. e4 {+0.20/5 1s} e5 {-0.10/5 1s} 2. Nf3 {+0.30/5 1s} d6 {-0.20/5 1s} 3. Bc4 {+0.40/5 1s}",
            "1-0",
        ),
        game(
            "1. d4 {+0.10/5 1s} d5 {+0.00/5 1s} 2. c4 {+0.20/5 1s} e6 {-0.20/5 1s} 3. Nc3 {+0.20/5 1s}",
            "1/2-1/2",
        ),
        game("1. f3 {-0.40/5 1s} e5 {+0.60/5 1s} 2. g4 {-9.00/5 1s} d6 {+0.90/5 1s}", "0-1"),
    ];
    fs::write(folder.path().join("games.pgn"), games.concat().repeat(40)).unwrap();
    done(folder.path(), "extract games.pgn");
    done(folder.path(), "label");
    folder
}

fn weights(folder: &TempDir, name: &str) -> std::sync::Arc<Weights> {
    match Evaluation::load(&folder.path().join(name)).unwrap() {
        Evaluation::Hce(weights) => weights,
        Evaluation::Nnue(_) => panic!("{name} is a network"),
    }
}

#[test]
fn only_the_named_terms_move_and_the_source_code_is_beside_them() {
    let folder = folder();
    done(folder.path(), "tune --hce --k 1 --epochs 5 --terms material,tempo --export rust");
    let (tuned, start) = (weights(&folder, "new.hce.toml"), Weights::untuned());
    for term in TERMS {
        let moved = tuned.pairs()[term.range()] != start.pairs()[term.range()];
        assert!(!moved || ["material", "tempo"].contains(&term.name), "{}", term.name);
    }
    assert!(tuned.pairs() != start.pairs());
    assert!(fs::read_to_string(folder.path().join("new.hce.rs")).unwrap().contains("const"));
    done(folder.path(), "tune --hce --k 1 --epochs 1 --export cpp -o other.hce.toml");
    assert!(folder.path().join("other.hce.hpp").exists());
}

#[test]
fn the_run_folder_says_what_was_done() {
    let folder = folder();
    done(folder.path(), "tune --epochs 3 --hidden 16 --validation 0.25 --learning-rate 0.00001 --seed 9");
    let read = |name: &str| fs::read_to_string(folder.path().join("runs/new").join(name)).unwrap();
    let recipe = read("recipe.toml");
    for line in ["hidden = 16", "epochs = 3", "validation = 0.25", "seed = 9"] {
        assert!(recipe.lines().any(|l| l == line), "{line}: {recipe}");
    }
    assert_eq!(read("log.csv").lines().count(), 1 + 3);
    let run: serde_json::Value = serde_json::from_str(&read("run.json")).unwrap();
    assert_eq!(run["data"][0]["path"], "labelled.parquet");
    assert_eq!(run["data"][0]["made_from"]["sources"][0]["sha256"].as_str().unwrap().len(), 64);

    // The recipe that was written is one that can be read, and it gives the same network.
    let first = fs::read(folder.path().join("new.nnue")).unwrap();
    fs::copy(folder.path().join("runs/new/recipe.toml"), folder.path().join("again.toml")).unwrap();
    done(folder.path(), "tune --recipe again.toml -o again.nnue --run elsewhere");
    assert!(fs::read(folder.path().join("again.nnue")).unwrap() == first);
    assert!(folder.path().join("elsewhere/log.csv").exists());
}

#[test]
fn a_network_on_standard_output_is_alone_there() {
    let folder = folder();
    done(folder.path(), "tune --epochs 1 --hidden 16");
    let output = patzer(folder.path(), &["tune", "--epochs", "1", "--hidden", "16", "-o", "-", "--json"]);
    assert!(output.status.success(), "{output:?}");
    assert!(output.stdout == fs::read(folder.path().join("new.nnue")).unwrap());
    assert!(folder.path().join("runs/stdout/log.csv").exists());
}

#[test]
fn there_is_no_place_beside_standard_output_to_export_to() {
    let folder = folder();
    let output =
        patzer(folder.path(), &["tune", "--hce", "--k", "1", "--epochs", "1", "--export", "cpp", "-o", "-"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    assert!(!folder.path().join("-.hpp").exists());
}

#[test]
fn without_a_dataset_the_user_is_told_how_to_make_one() {
    let folder = tempfile::tempdir().unwrap();
    let output = patzer(folder.path(), &["tune"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("`patzer extract games.pgn`"));
}
