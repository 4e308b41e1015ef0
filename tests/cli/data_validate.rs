//! `patzer data validate` as a user runs it.

use std::path::Path;

use patzer_chess::PackedMove;
use patzer_data::{Dataset, Metadata, Record, Writer, flags};
use serde_json::{Value, json};

use crate::{done, patzer};

fn fixture(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name).display().to_string()
}

/// Exit code and JSON.
fn validate(folder: &Path, line: &str) -> (Option<i32>, Value) {
    let args: Vec<&str> = ["data", "validate", "--json"].into_iter().chain(line.split_whitespace()).collect();
    let output = patzer(folder, &args);
    let value = serde_json::from_slice(&output.stdout);
    (output.status.code(), value.unwrap_or_else(|_| panic!("{output:?}")))
}

fn write(path: &Path, samples: &[Record]) {
    let mut writer = Writer::create(path, Metadata::new(vec![], vec![], 0)).unwrap();
    writer.write(samples).unwrap();
    writer.finish().unwrap();
}

#[test]
fn what_extract_and_label_write_is_sound() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["engine.pgn.zst", "games_damaged.pgn", "games_dialects.pgn", "games_tcec.pgn"] {
        done(folder.path(), &format!("extract {}", fixture(name)));
        let (code, report) = validate(folder.path(), "");
        assert_eq!((code, &report["sound"]), (Some(0), &json!(true)), "{name}: {report}");
        assert_eq!(report["files"][0]["ordered"], true, "{name}");
    }
    done(
        folder.path(),
        &format!("extract {} --filter quiet --per-game 3 --seed 1", fixture("games_damaged.pgn")),
    );
    done(folder.path(), "label");
    let (code, report) = validate(folder.path(), "labelled.parquet");
    assert_eq!(code, Some(0), "{report}");
}

#[test]
fn other_formats_are_checked_as_far_as_they_say_something() {
    let folder = tempfile::tempdir().unwrap();
    done(folder.path(), &format!("extract {} --filter no_score --per-game 20", fixture("engine.pgn.zst")));
    for name in ["x.csv.zst", "x.binpack", "x.bin", "x.epd", "x.plain"] {
        let output = patzer(folder.path(), &["data", "convert", "positions.parquet", "-o", name]);
        assert!(output.status.success(), "{name}: {output:?}");
        let (code, report) = validate(folder.path(), name);
        assert_eq!(code, Some(0), "{name}: {report}");
        assert!(report["positions"].as_u64().unwrap() > 1000, "{name}");
    }
}

#[test]
fn every_kind_of_fault_is_found_and_named() {
    let folder = tempfile::tempdir().unwrap();
    done(folder.path(), &format!("extract {}", fixture("games_damaged.pgn")));
    let sound = Dataset::open(&folder.path().join("positions.parquet")).unwrap().read_all().unwrap();
    type Damage = fn(&mut Record);
    let cases: &[(&str, Damage)] = &[
        ("position", |s| s.board.0[0] ^= 0x18),
        ("position", |s| s.ep = 44),
        ("move", |s| s.played = PackedMove(0o0077)),
        ("score", |s| s.score = Some(32_001)),
        ("score", |s| s.score = Some(-31_990)),
        ("score", |s| s.flags |= flags::MATE_SCORE),
        ("result", |s| s.result = 2),
        ("result", |s| s.result = -s.result - i8::from(s.result == 0)),
        ("flags", |s| s.flags ^= flags::IN_CHECK),
        ("flags", |s| s.flags ^= flags::GIVES_CHECK),
        ("flags", |s| s.flags ^= flags::PROMOTION),
        ("distance", |s| s.to_capture = if s.to_capture == 0 { 1 } else { 0 }),
        ("distance", |s| s.to_check = if s.to_check == 0 { 1 } else { 0 }),
        ("order", |s| s.ply += 2),
        ("order", |s| s.game += 20),
    ];
    for (index, (fault, damage)) in cases.iter().enumerate() {
        let mut samples = sound.clone();
        damage(&mut samples[9]);
        write(&folder.path().join("bad.parquet"), &samples);
        let (code, report) = validate(folder.path(), "bad.parquet");
        let file = &report["files"][0];
        assert_eq!((code, &report["sound"]), (Some(1), &json!(false)), "case {index}");
        assert!(file["faults"][fault].as_u64() >= Some(1), "case {index}, {fault}: {file}");
        let examples = file["examples"].as_array().unwrap();
        let near = |e: &&Value| e["fault"] == *fault && (9..=10).contains(&e["row"].as_u64().unwrap());
        assert!(examples.iter().any(|e| near(&e)), "case {index}, {fault}: {file}");
        assert!(examples[0]["place"].as_str().unwrap().starts_with("row group 0 at byte "), "{file}");
    }
}

#[test]
fn a_part_that_cannot_be_read_is_named_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    done(folder.path(), &format!("extract {}", fixture("engine.pgn.zst")));
    let mut bytes = std::fs::read(folder.path().join("positions.parquet")).unwrap();
    // The head of the first column's first page.
    bytes[4..40].fill(0xff);
    std::fs::write(folder.path().join("bad.parquet"), &bytes).unwrap();
    let (code, report) = validate(folder.path(), "bad.parquet");
    let file = &report["files"][0];
    assert_eq!((code, &file["faults"]), (Some(1), &json!({ "damaged": 1 })), "{file}");
    let example = &file["examples"][0];
    assert_eq!(example["place"], "row group 0 at byte 4");
    assert!(example["reason"].as_str().unwrap().contains("bad.parquet"), "{example}");
    // Other commands name the same place and exit 1.
    let output = patzer(folder.path(), &["data", "stats", "bad.parquet"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr.contains("bad.parquet: row group 0"), "{stderr}");
}

#[test]
fn a_file_without_order_is_not_blamed_for_it() {
    let folder = tempfile::tempdir().unwrap();
    done(folder.path(), &format!("extract {}", fixture("engine.pgn.zst")));
    let mut samples = Dataset::open(&folder.path().join("positions.parquet")).unwrap().read_all().unwrap();
    patzer_chess::rng::Rng::new(1).shuffle(&mut samples);
    write(&folder.path().join("shuffled.parquet"), &samples);
    let (code, report) = validate(folder.path(), "shuffled.parquet");
    assert_eq!((code, &report["files"][0]["ordered"]), (Some(0), &Value::Null), "{report}");
}

#[test]
fn a_dataset_without_checksums_is_read_and_called_unchecked() {
    let folder = tempfile::tempdir().unwrap();
    let old = folder.path().join("old.parquet");
    std::fs::copy(fixture("unchecked.parquet"), &old).unwrap();
    let convert = |options: &[&str]| {
        let args = ["data", "convert", "old.parquet", "old.parquet", "-o", "new.parquet"];
        let output = patzer(folder.path(), &[&args, options].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let note = "old.parquet: pages have no checksums, so positions were only checked to be legal\n";
    let again = "warning: old.parquet is the file old.parquet again, so its positions count once more\n";
    assert_eq!(convert(&[]), [again, note].concat());
    assert_eq!(convert(&["-q"]), again);
    let (code, report) = validate(folder.path(), "old.parquet new.parquet");
    assert_eq!(code, Some(0), "{report}");
    assert_eq!(report["files"][0]["checksums"], "none");
    assert_eq!(report["files"][1]["checksums"], "own");
    // A footer that made the parquet crate panic: a negative offset of a column.
    let mut bytes = std::fs::read(&old).unwrap();
    let footer = bytes.len() - 8 - 1075;
    bytes[footer + 266] ^= 1;
    std::fs::write(&old, bytes).unwrap();
    for command in ["validate", "stats", "show"] {
        let output = patzer(folder.path(), &["data", command, "old.parquet"]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(
            stderr.starts_with("error: old.parquet: its footer is damaged") && stderr.lines().count() == 1
        );
    }
}

#[test]
fn a_format_without_checksums_gets_a_companion_that_finds_every_change() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    done(folder.path(), &format!("extract {} --filter no_score", fixture("engine.pgn.zst")));
    for name in ["x.bullet", "x.vf.zst", "x.binpack.gz"] {
        done(folder.path(), &format!("data convert positions.parquet -o {name}"));
        let companion = at(&format!("{name}.sha256"));
        assert!(std::fs::read_to_string(&companion).unwrap().ends_with(&format!("  {name}\n")));
        let text = done(folder.path(), &format!("data validate {name}"));
        assert!(text.contains(&format!("checksum of {name}.sha256 matches")), "{text}");
        // The last byte of a record's score, which leaves a legal record.
        let mut bytes = std::fs::read(at(name)).unwrap();
        bytes[32 * 10 + 25] ^= 1;
        std::fs::write(at(name), &bytes).unwrap();
        let output = patzer(folder.path(), &["data", "validate", name]);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), stderr.lines().count()), (Some(1), 1), "{stderr}");
        assert!(
            stderr.contains(&format!("{name}: ")) && stderr.contains(&format!("{name}.sha256")),
            "{stderr}"
        );
        bytes[32 * 10 + 25] ^= 1;
        std::fs::write(at(name), &bytes).unwrap();
        std::fs::remove_file(companion).unwrap();
        let text = done(folder.path(), &format!("data validate {name}"));
        assert!(text.contains("no checksums"), "{text}");
    }
    // Text and streams have none.
    done(folder.path(), "data convert positions.parquet -o x.csv");
    patzer(folder.path(), &["data", "convert", "positions.parquet", "--format", "bullet", "-o", "-"]);
    let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names.filter(|name| name.to_string_lossy().ends_with("sha256")).count(), 0);
}
