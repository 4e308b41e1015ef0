//! Formats that names hide.

use std::fs;
use std::process::Output;

use tempfile::TempDir;

use crate::{done, patzer};

const GAME: &str = "[Event \"x\"]\n[Result \"1-0\"]\n\n\
    1. e4 {+0.30/8 0.1s} d6 {-0.30/8 0.1s} 2. Qg4 {+0.40/8 0.1s} Bxg4 {-0.30/8 0.1s} 3. f3 {+0.50/8 0.1s} 1-0\n";

fn positions() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("games.pgn"), GAME).unwrap();
    done(folder.path(), "extract games.pgn");
    folder
}

/// The one line of an error.
#[track_caller]
fn error(output: &Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(stderr.starts_with("error: ") && stderr.lines().count() == 1, "{stderr}");
    stderr
}

#[test]
fn every_command_reads_a_file_whose_name_says_another_format() {
    let folder = positions();
    let here = folder.path();
    done(here, "data convert positions.parquet -o data.bullet");
    fs::rename(here.join("data.bullet"), here.join("data.bin")).unwrap();
    done(here, "data convert positions.parquet -o x.binpack");
    for line in [
        "wdl --score data.bin",
        "wdl --model data.bin --min-count 1 --material 0..78",
        "label data.bin -o labelled.bullet",
        "net features data.bin",
        "tune data.bin --no-resolve --validation 0 --recipe small --hidden 2 --epochs 1 --k 1 --device cpu",
        "tune --hce data.bin --no-resolve --validation 0 --k 1 --terms material",
        "data convert data.bin -o out.csv",
        "data stats data.bin",
        "data show data.bin",
        "data shuffle data.bin -o shuffled.bullet",
    ] {
        let said = error(&patzer(here, &[&["-q"], &line.split(' ').collect::<Vec<_>>()[..]].concat()));
        assert!(said.contains("(read as bin by its name; --input-format names another"), "{line}: {said}");
        let output = patzer(here, &format!("-q {line} --input-format bullet").split(' ').collect::<Vec<_>>());
        // Five won positions give no K and no model.
        assert!(output.status.success() != line.starts_with("wdl"), "{line}: {output:?}");
        assert!(!String::from_utf8_lossy(&output.stderr).contains("by its name"), "{line}: {output:?}");
    }
    let run = fs::read_to_string(here.join("runs/new/run.json")).unwrap();
    assert!(run.contains("\"input_format\": \"bullet\""), "{run}");
    let said = error(&patzer(here, &["label", "x.binpack", "--input-format", "csv", "-o", "y.parquet"]));
    assert!(!said.contains("by its name"), "{said}");
}
