//! The page of JSON keys in `docs/reference`: what each command prints with `--json`, on small runs.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::patzer;
use crate::reference::held;

/// Runs in this order in one folder; `F` is the folder of fixtures, engines are the bundled one. Games are of
/// evaluations that are the same everywhere, and in the match a pairing without a lost pair has no ratio of pairs.
const RUNS: &[&str] = &[
    "extract F/engine.pgn.zst --filter unique --sample 2000",
    "games F/engine.pgn.zst --unique --by-tag Result",
    "filters",
    "data stats",
    "data validate positions.parquet",
    "data shuffle positions.parquet -o shuffled.parquet",
    "data split positions.parquet",
    "data convert positions.parquet -o positions.csv",
    "data games positions.parquet -o games.pgn",
    "label",
    "wdl",
    "net init",
    "tune --hidden 4 --epochs 1 --validation 0.1 -o new.nnue",
    "tune hce --epochs 1 -o new.hce.toml",
    "net info new.nnue",
    "net features",
    "eval",
    "sprt base.nnue default-hce --nodes 30 --games 40 --seed 1",
    "match default-hce base.nnue untuned-hce --nodes 30 --games 20 --seed 7",
    "race base.nnue default-hce untuned-hce --nodes 30 --games 40 --seed 1",
    "screen default-hce --options factors.txt --nodes 30 --max-moves 30 --games 24 --pairs 4 --seed 1",
    "elo --ptnml 34,54,63,64,75",
    "why match.pgn --player default-hce --against untuned-hce --nodes 10",
    "why base.nnue default-hce --data positions.parquet",
    "elo match.pgn --player default-hce --against untuned-hce",
    "rate match.pgn",
    "selfplay default-hce --nodes 10 --games 2 --seed 1",
    "book make --count 4 --engine cmd=base.nnue --nodes 10 --seed 1 -o book.epd",
    "book show book.epd",
    "puzzles F/puzzles.csv --nodes 10",
    "moves predict positions.parquet --count 50 --nodes 10",
    "moves predict positions.parquet --engine ENGINE --count 20 --nodes 10",
    "bench --depth 3",
    "engine bench OLD NEW --runs 2",
    "perft 2",
    "engine perft ENGINE 2",
    "engine check ENGINE",
];

/// Adds the path of each value below `value`, with its types: `players[].elo` is a number or null.
fn paths(value: &Value, path: &str, found: &mut BTreeMap<String, BTreeSet<&'static str>>) {
    let kind = match value {
        Value::Object(fields) => {
            let dot = if path.is_empty() { "" } else { "." };
            return fields.iter().for_each(|(key, value)| paths(value, &format!("{path}{dot}{key}"), found));
        }
        Value::Array(items) if !items.is_empty() => {
            return items.iter().for_each(|item| paths(item, &format!("{path}[]"), found));
        }
        Value::Array(_) => "empty list",
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "number",
        Value::String(_) => "text",
    };
    found.entry(path.to_string()).or_default().insert(kind);
}

#[test]
fn the_json_keys_are_those_of_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");
    let mut text = String::from(
        "# JSON keys\n\nWhat `--json` prints on stdout, one object. The keys are what the runs below printed: names of \
         filters, of reasons\nand of dialects of scores are keys too, and others take their place with other data. \
         `[]` stands for each item of a list.\n",
    );
    let factors = "null: null_depth=1000\nkillers: killers=0\nnull*killers\nrfp: rfp_margin=40..90..150\n";
    std::fs::write(folder.path().join("factors.txt"), factors).unwrap();
    for line in RUNS {
        let line_of_files = line.replace("F/", &format!("{fixtures}/"));
        let program = env!("CARGO_BIN_EXE_patzer");
        let (engine, new) =
            (format!("cmd='{program}' args=uci"), format!("cmd='{program}' args='bench --depth 3' name=new"));
        let old = new.replace("name=new", "name=old");
        let word = |word| match word {
            "ENGINE" => &engine,
            "OLD" => &old,
            "NEW" => &new,
            other => other,
        };
        let args: Vec<&str> = line_of_files.split(' ').map(word).chain(["--json"]).collect();
        let output = patzer(folder.path(), &args);
        // A test that is undecided is no fault.
        assert!(matches!(output.status.code(), Some(0 | 11)), "{line}: {output:?}");
        let mut found = BTreeMap::new();
        paths(&serde_json::from_slice(&output.stdout).expect(line), "", &mut found);
        let width = found.keys().map(String::len).max().unwrap_or(0);
        text += &format!("\n## {}\n\n```text\n", line.replace("F/", ""));
        for (path, kinds) in found {
            text += &format!("{path:width$}  {}\n", kinds.into_iter().collect::<Vec<_>>().join(", "));
        }
        text += "```\n";
    }
    held("json.md", &text);
}
