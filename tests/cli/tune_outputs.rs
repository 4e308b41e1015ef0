//! Inputs of `patzer tune` that its outputs must not replace, and options that contradict one another.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::{done, error, patzer};

fn refused(folder: &Path, line: &str) -> String {
    error(&patzer(folder, &line.split_whitespace().chain(["-q"]).collect::<Vec<_>>()))
}

fn write(folder: &TempDir, files: &[(&str, &str)]) {
    files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
}

const TERMS: &str = "format = 1\nfull_phase = 24\n[[term]]\nname = \"pawn\"\n";
const SOURCE: &str = "// my engine\nconst int pawn[2] = {100, 100};\n";

/// A folder with traces, their terms, and a source.
fn traced() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let traces = "1 24 0:1\n0 24 0:-1\n0.5 12 0:0\n1 3 0:2\n0 3 0:1\n1 9 0:1\n0 9 0:-2\n1 9 0:-1\n";
    let template = "[output]\ntemplate = \"int {name}{dims} = {values};\"\n[[term]]";
    let templated = TERMS.replace("[[term]]", template);
    write(&folder, &[("t.txt", traces), ("t.toml", TERMS), ("both.toml", &templated)]);
    write(&folder, &[("evaluate.c", SOURCE), ("evaluate.h", SOURCE)]);
    folder
}

#[test]
fn no_output_replaces_an_input_or_another_output() {
    let folder = traced();
    let tune = "tune traces t.txt --k 1 --validation 0";
    for (line, file, reason) in [
        ("--terms t.toml --source evaluate.c -o evaluate.c", "evaluate.c", "is one of the inputs"),
        ("--terms t.toml --patch evaluate.c --in-place -o evaluate.c", "evaluate.c", "is one of the inputs"),
        (
            "--terms t.toml --source evaluate.h -o evaluate.toml --export c",
            "evaluate.h",
            "is one of the inputs",
        ),
        ("--terms t.toml -o t.h --export toml", "t.toml", "is one of the inputs"),
        ("--terms both.toml -o new.h --export c", "new.h", "an export would write over the output"),
        ("--terms t.toml -o new.toml --export csv,csv", "new.csv", "the exports would write it twice"),
    ] {
        let said = refused(folder.path(), &format!("{tune} {line}"));
        assert!(said.starts_with(&format!("error: {file}: {reason}")), "{line}: {said}");
    }
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(read("evaluate.c") == SOURCE && read("evaluate.h") == SOURCE && read("t.toml") == TERMS);
    write(&folder, &[("positions.parquet", "mine")]);
    for (line, file) in [
        ("tune hce positions.parquet -o h.hce.toml --export toml", "h.hce.toml"),
        ("moves fit positions.parquet -o mm.h --export c", "mm.h"),
    ] {
        let said = refused(folder.path(), line);
        assert!(said.starts_with(&format!("error: {file}: an export would write over")), "{said}");
    }
    let said = refused(folder.path(), "tune --hidden 8 -o positions.parquet");
    assert!(said.contains("positions.parquet: is one of the inputs"), "{said}");
}

#[test]
fn a_folder_that_is_no_run_keeps_its_files() {
    let folder = traced();
    fs::create_dir(folder.path().join("exp")).unwrap();
    write(&folder, &[("exp/log.csv", "mine")]);
    let line = "tune traces t.txt --terms t.toml --k 1 --validation 0 --run exp";
    let said = refused(folder.path(), line);
    assert!(said.starts_with("error: exp: holds log.csv and is no run's folder"), "{said}");
    assert_eq!(fs::read(folder.path().join("exp/log.csv")).unwrap(), b"mine");
    done(folder.path(), &format!("{line} --overwrite"));
    write(&folder, &[("exp/data.parquet", "mine")]);
    done(folder.path(), line);
    assert!(folder.path().join("exp/data.parquet").exists() && folder.path().join("exp.1/log.csv").exists());
}

#[test]
fn a_file_is_read_once_and_never_on_both_sides_of_a_validation() {
    let folder = traced();
    let said = refused(folder.path(), "tune traces t.txt ./t.txt --terms t.toml --k 1");
    assert!(said.starts_with("error: ./t.txt: is named twice"), "{said}");
    let games = format!("{}/fixtures/engine.pgn.zst", env!("CARGO_MANIFEST_DIR"));
    done(folder.path(), &format!("extract {games} --sample 300"));
    done(folder.path(), "label");
    let said = refused(folder.path(), "tune hce labelled.parquet ./labelled.parquet --k 1");
    assert!(said.starts_with("error: ./labelled.parquet: is named twice"), "{said}");
    for line in [
        "labelled.parquet --validation-data positions.parquet",
        "positions.parquet --validation-data labelled.parquet",
    ] {
        let said = refused(folder.path(), &format!("tune {line}"));
        assert!(said.contains("is among the training data"), "{line}: {said}");
    }
    let said = refused(folder.path(), "tune --set td_lambda=0.5");
    assert!(said.contains("td_lambda: changes results, whose share `wdl` is 0"), "{said}");
}

#[test]
fn flags_that_contradict_one_another_or_have_no_effect_are_refused() {
    let folder = traced();
    write(&folder, &[("r.toml", "validation_data = [\"v.parquet\"]\n")]);
    let traces = "tune traces t.txt --terms t.toml --k 1";
    for (line, reason) in [
        ("tune --hidden 8 --hidden 16", "cannot be used multiple times"),
        ("tune --set hidden=4 --hidden 8", "--hidden: not with --set hidden"),
        ("tune --set layers=[4] --hidden 8,16", "--hidden: not with --set layers"),
        ("tune --set features=all --features all+h", "--features: not with --set features"),
        ("tune --recipe r.toml --validation 0.3", "--validation: not with the recipe's `validation_data`"),
        ("tune --set optimiser=AdamW", "did you mean `adamw`?"),
        (&format!("{traces} --score-k 3"), "--score-k: without --wdl below 1"),
        (&format!("{traces} --wdl 0.5 --score-k 1"), "8 dropped: no score"),
        ("traces indices x.parquet --terms t.toml", "unexpected argument 'x.parquet'"),
    ] {
        let said = refused(folder.path(), line);
        assert!(said.contains(reason), "{line}: {said}");
    }
}

#[test]
#[cfg(unix)]
fn the_header_writes_no_evaluation_that_is_not_set_whatever_the_compiler_assumes() {
    let folder = tempfile::tempdir().unwrap();
    let header = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/traces/patzer_trace.h");
    let program = "#include \"patzer_trace.h\"\nstatic PatzerPosition position;\nstatic PatzerTrace trace;\n\
        int main(void) {\n    while (patzer_read(stdin, &position)) {\n        patzer_clear(&trace);\n        \
        patzer_count(&trace, 1, 1, 1);\n        if (position.line > 1) trace.eval = 31;\n        \
        patzer_write(stdout, &position, &trace, 3);\n    }\n    return 0;\n}\n";
    fs::copy(header, folder.path().join("patzer_trace.h")).unwrap();
    write(&folder, &[("t.c", program), ("x.epd", &"8/5k2/8/3K4/8/8/7R/8 b - - [1.0]\n".repeat(2))]);
    let compiled = Command::new("cc").args(["-Ofast", "t.c", "-o", "t"]).current_dir(folder.path()).status();
    assert!(compiled.unwrap().success());
    let input = fs::File::open(folder.path().join("x.epd")).unwrap();
    let output = Command::new(folder.path().join("t")).stdin(input).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "1.0 3 1:1\n1.0 3 eval=31 1:1\n");
}
