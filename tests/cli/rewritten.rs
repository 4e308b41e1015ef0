//! Datasets that other programs rewrote (`fixtures/parquet/make.py`), and tables of other programs.

use std::path::{Path, PathBuf};

use patzer_data::{AnyReader, Record, flags};

use crate::{done, patzer};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/parquet").join(name)
}

fn positions(path: &Path) -> Vec<Record> {
    AnyReader::open(path, None).unwrap().read_all().unwrap()
}

/// Converts a file and returns its positions and what stderr says.
fn converted(file: &Path, options: &str) -> (Vec<Record>, String) {
    let folder = tempfile::tempdir().unwrap();
    let mut line = vec!["data", "convert", file.to_str().unwrap(), "-o", "x.parquet"];
    line.extend(options.split_whitespace());
    let output = patzer(folder.path(), &line);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}");
    (positions(&folder.path().join("x.parquet")), stderr)
}

#[test]
fn a_dataset_that_another_program_rewrote_is_the_same_dataset() {
    let source = positions(&fixture("source.parquet"));
    assert!(source.len() > 50);
    for (name, said) in [
        ("pyarrow.parquet", vec![]),
        ("pyarrow_v2.parquet", vec![]),
        ("pandas.parquet", vec!["it has no `patzer` metadata, so its sources and filters are unknown"]),
        (
            "polars.parquet",
            vec!["left out are the columns opening, which patzer does not know", "no `patzer` metadata"],
        ),
        ("duckdb_v2.parquet", vec!["no `patzer` metadata"]),
    ] {
        let (read, stderr) = converted(&fixture(name), "");
        let mut expected = source.clone();
        if name == "pandas.parquet" {
            expected.iter_mut().step_by(3).for_each(|record| record.score = None);
        }
        assert!(read == expected, "{name}");
        for text in said {
            assert!(stderr.contains(text), "{name}: {stderr}");
        }
    }
}

#[test]
fn missing_columns_are_empty_or_computed_and_named() {
    let (read, stderr) = converted(&fixture("duckdb.parquet"), "");
    let mut expected = positions(&fixture("source.parquet"));
    expected.reverse();
    for (row, record) in expected.iter_mut().enumerate() {
        // What a single position does not say.
        record.flags &= !(flags::BOOK | flags::MATE_END);
        record.to_capture = if record.has(flags::CAPTURE) { 0 } else { 255 };
        record.to_check = if record.has(flags::GIVES_CHECK) { 0 } else { 255 };
        (record.to_end, record.depth, record.game) = (255, None, row as u32);
        record.ply = record.game_ply() as u16;
    }
    assert!(expected.iter().any(|record| record.flags != 0));
    assert!(read == expected);
    let said = "it lacks the columns ply, game, depth, flags, to_capture, to_check, to_end, which are empty or computed";
    assert!(stderr.contains(said), "{stderr}");
}

#[test]
fn a_value_beyond_its_column_is_an_error_with_its_row() {
    let folder = tempfile::tempdir().unwrap();
    let output = patzer(
        folder.path(),
        &["data", "convert", fixture("ep300.parquet").to_str().unwrap(), "-o", "x.csv"],
    );
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr.contains("ep300.parquet: row 17: ep is 300, not a whole number from 0 to 255"),
        "{stderr}"
    );
    assert!(!folder.path().join("x.csv").exists());
}

/// A rewritten dataset goes through every command, also with a row group read by several threads.
#[test]
fn other_commands_take_rewritten_datasets() {
    let folder = tempfile::tempdir().unwrap();
    let file = fixture("polars.parquet");
    let file = file.to_str().unwrap();
    for line in ["data stats", "data validate", "data show", "label"] {
        done(folder.path(), &format!("{line} {file}"));
    }
    done(folder.path(), &format!("data shuffle {file} -o x.bullet --no-score 0"));
    done(folder.path(), &format!("data merge {file} {file} -o y.parquet --threads 3"));
}
