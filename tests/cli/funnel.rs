//! The funnel of `patzer extract --dry-run`.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::{done, patzer};

fn fixture(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name).display().to_string()
}

fn json(folder: &Path, line: &str) -> Value {
    serde_json::from_str(&done(folder, &format!("{line} --json"))).unwrap()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

#[test]
fn the_sequence_is_what_the_run_drops() {
    let folder = tempfile::tempdir().unwrap();
    for (games, options) in [
        ("engine.pgn.zst", "--filter unique"),
        (
            "engine.pgn.zst",
            "--filter quiet --filter drop30 --filter nodraw --per-game 9 --sample 1000 --seed 3",
        ),
        ("engine.pgn.zst", "--filter nnue-pytorch"),
        ("engine.pgn.zst", "--filter before_check --filter capt --filter-set before_check.plies=2"),
        ("games_damaged.pgn", "--filter unique"),
        ("games_dialects.pgn", "--filter elo --filter elo.toml --filter-set elo.unknown=keep"),
        (
            "engine.pgn.zst",
            "--filter termination --filter-set termination.adjudication=true --filter duplicates",
        ),
    ] {
        let preset =
            "name = \"two\"\n[[filter]]\nuse = \"elo\"\nmax = 2000\n[[filter]]\nuse = \"in_check\"\n";
        std::fs::write(folder.path().join("elo.toml"), preset).unwrap();
        let line = format!("extract {} {options}", fixture(games));
        let (real, dry) = (json(folder.path(), &line), json(folder.path(), &format!("{line} --dry-run")));
        let mut dropped: BTreeMap<&str, u64> = BTreeMap::new();
        let mut left = number(&real["positions_read"]);
        for step in dry["funnel"].as_array().unwrap() {
            assert!(step["alone"].as_u64() >= step["sequence"].as_u64(), "{line}: {step}");
            left -= number(&step["sequence"]);
            assert_eq!(number(&step["left"]), left, "{line}: {step}");
            if number(&step["sequence"]) > 0 {
                *dropped.entry(step["filter"].as_str().unwrap()).or_default() += number(&step["sequence"]);
            }
        }
        let real_dropped: BTreeMap<&str, u64> =
            real["dropped"].as_object().unwrap().iter().map(|(k, v)| (k.as_str(), number(v))).collect();
        assert_eq!(dropped, real_dropped, "{line}");
        assert_eq!(left, number(&real["positions_written"]), "{line}");
        assert_eq!(real["dropped"], dry["dropped"], "{line}");
        assert!(real["funnel"].is_null(), "a run that writes counts no funnel");
    }
}

#[test]
fn alone_is_what_a_run_with_that_filter_alone_drops() {
    let folder = tempfile::tempdir().unwrap();
    let games = fixture("engine.pgn.zst");
    let options = "--filter quiet --filter drop4 --per-game 20 --sample 2000";
    let funnel = json(folder.path(), &format!("extract {games} {options} --dry-run"))["funnel"].clone();
    let alone: BTreeMap<&str, u64> = (funnel.as_array().unwrap().iter())
        .map(|step| (step["filter"].as_str().unwrap(), number(&step["alone"])))
        .collect();
    for (filter, alone) in alone {
        let option = match filter {
            "bad_game" | "no_result" => continue,
            "per_game" => "--per-game 20".to_string(),
            "sample" => "--sample 2000".to_string(),
            "non_pawn_pieces" => format!("--filter {filter} --filter-set {filter}.min=5"),
            filter => format!("--filter {filter}"),
        };
        let single = json(folder.path(), &format!("extract {games} {option} --dry-run"));
        assert_eq!(single["dropped"][filter].as_u64().unwrap_or(0), alone, "{filter}");
    }
}

#[test]
fn people_get_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let line = format!("extract {} --filter unique --dry-run --quiet", fixture("games_tcec.pgn"));
    let table = done(folder.path(), &line);
    let table: String =
        table.lines().filter(|l| !l.starts_with("seconds")).map(|l| format!("{l}\n")).collect();
    insta::assert_snapshot!(table);
}

#[test]
fn filters_of_games_are_refused_where_there_are_no_games() {
    let folder = tempfile::tempdir().unwrap();
    done(folder.path(), &format!("extract {}", fixture("games_damaged.pgn")));
    std::fs::write(
        folder.path().join("strong.toml"),
        "name = \"strong\"\n[[filter]]\nuse = \"elo\"\nmin = 2500\n",
    )
    .unwrap();
    for line in [
        "tune hce positions.parquet --filter strong.toml",
        "tune hce positions.parquet --filter time_control",
        "data convert positions.parquet -o x.csv --filter termination",
    ] {
        let output = patzer(folder.path(), &line.split(' ').collect::<Vec<_>>());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{line}");
        assert!(stderr.contains("a dataset does not carry; give it to `patzer extract`"), "{line}: {stderr}");
    }
}

#[test]
fn values_that_make_no_sense_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let games = fixture("games_damaged.pgn");
    std::fs::write(
        folder.path().join("list.toml"),
        "name = \"x\"\n\n[[filter]]\nuse = \"wdl_skip\"\na = [1, 2]\n",
    )
    .unwrap();
    std::fs::write(
        folder.path().join("word.toml"),
        "name = \"x\"\n\n[[filter]]\nuse = \"ply\"\nfrom = \"move2\"\n",
    )
    .unwrap();
    std::fs::write(
        folder.path().join("range.toml"),
        "name = \"x\"\n[[filter]]\nuse = \"ply\"\nmin = 9\nmax = 3\n",
    )
    .unwrap();
    for (options, parts) in [
        ("--filter list.toml", &["list.toml: line 5", "`wdl_skip.a` has to be a list of 4 numbers"][..]),
        ("--filter word.toml", &["word.toml: line 5", "movetext or move1"]),
        ("--filter range.toml", &["`ply.min` is 9", "`ply.max`, which is 3"]),
        ("--filter random_skip --filter-set random_skip.probability=1.5", &["1.5", "from 0 to 1"]),
        ("--filter result --filter-set result.drawn=yes", &["`yes` is not true or false"]),
    ] {
        let line = format!("extract {games} {options}");
        let output = patzer(folder.path(), &line.split(' ').collect::<Vec<_>>());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{line}");
        for part in parts {
            assert!(stderr.contains(part), "{line}: {stderr}");
        }
    }
}
