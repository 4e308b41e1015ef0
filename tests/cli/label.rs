//! `patzer label`.

use std::path::Path;

use patzer_data::Dataset;
use tempfile::TempDir;

use crate::{done, patzer};

/// White hangs the queen: the quiet position after `2. Qg4` has Black's bishop there.
const GAME: &str = "[Event \"x\"]\n[Result \"1/2-1/2\"]\n\n\
    1. e4 {+0.30/8 0.1s} d6 {-0.30/8 0.1s} 2. Qg4 {+0.40/8 0.1s} Bxg4 {-0.30/8 0.1s} 3. f3 {+0.50/8 0.1s} 1/2-1/2\n";

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("games.pgn"), GAME).unwrap();
    done(folder.path(), "extract games.pgn");
    folder
}

fn open(folder: &TempDir, name: &str) -> Dataset {
    Dataset::open(&folder.path().join(name)).unwrap()
}

#[test]
fn every_row_stays_and_gets_the_leaf_of_its_captures() {
    let folder = folder();
    let said = done(folder.path(), "label");
    assert!(said.contains("5 positions → labelled.parquet"), "{said}");
    let (plain, labelled) = (open(&folder, "positions.parquet"), open(&folder, "labelled.parquet"));
    assert_eq!(plain.metadata().resolved, None);
    assert_eq!(labelled.metadata().resolved.as_deref(), Some("qsearch by default-hce"));
    assert_eq!(labelled.metadata().sources, plain.metadata().sources);
    let (before, after) = (plain.read_all().unwrap(), labelled.read_all().unwrap());
    for (before, after) in before.iter().zip(&after) {
        let leaf = after.leaf.unwrap();
        // Nothing but the leaf is new.
        assert_eq!(patzer_data::Record { leaf: None, ..*after }, *before);
        assert!(leaf.score.abs() < 3000);
    }
    // 1. e4 is quiet; after 2. Qg4 Black takes the queen, which is the next position of the game.
    assert_eq!(after[1].leaf.unwrap().board, before[1].board);
    assert_eq!(after[3].leaf.unwrap().board, before[4].board);
}

#[test]
fn scores_are_replaced_only_if_asked_for() {
    let folder = folder();
    let scores = |name: &str| -> Vec<Option<i16>> {
        open(&folder, name).read_all().unwrap().iter().map(|sample| sample.score).collect()
    };
    assert_eq!(scores("positions.parquet"), [30, -30, 40, -30, 50].map(Some));
    let said = done(folder.path(), "label --depth 2 -o kept.parquet");
    assert!(said.contains("% led by a search to another position"), "{said}");
    assert_eq!(scores("kept.parquet"), scores("positions.parquet"));
    done(folder.path(), "label --nodes 200 --rescore -o new.parquet");
    assert_ne!(scores("new.parquet"), scores("positions.parquet"));
    assert!(open(&folder, "new.parquet").metadata().resolved.as_deref().unwrap().contains("200"));
}

#[test]
fn a_dataset_goes_to_standard_output_whole() {
    let folder = folder();
    done(folder.path(), "label");
    let output = patzer(folder.path(), &["label", "-o", "-"]);
    assert!(output.status.success());
    assert!(output.stdout == std::fs::read(folder.path().join("labelled.parquet")).unwrap());
    assert!(Path::new(&folder.path().join("labelled.parquet")).exists());
}
