//! The loop as a whole: games in, a verdict out, on the first games of `fixtures/games.pgn.zst`.
//!
//! Every test runs the program in a folder of its own, as an author would.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output};

use patzer_data::Dataset;
use patzer_data::filter::PRESETS;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// The first games of a file under `fixtures`.
fn games(fixture: &str, games: usize) -> Vec<u8> {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(fixture);
    let lines = BufReader::new(zstd::Decoder::new(fs::File::open(fixture).unwrap()).unwrap()).split(b'\n');
    let (mut pgn, mut begun) = (Vec::new(), 0);
    for line in lines.map(Result::unwrap) {
        begun += usize::from(line.starts_with(b"[Event "));
        if begun > games {
            break;
        }
        pgn.extend_from_slice(&line);
        pgn.push(b'\n');
    }
    pgn
}

/// A folder with the first games of people as `games.pgn`.
fn folder(number: usize) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("games.pgn"), games("games.pgn.zst", number)).unwrap();
    folder
}

fn patzer(folder: &TempDir, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_patzer"));
    command.current_dir(folder.path()).args(line.split_whitespace()).output().unwrap()
}

/// Runs a command that has to succeed: its stdout and stderr.
#[track_caller]
fn done(folder: &TempDir, line: &str) -> (String, String) {
    let output = patzer(folder, line);
    let texts = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(output.status.code(), Some(0), "patzer {line}: {}", texts[1]);
    let [stdout, stderr] = texts;
    (stdout, stderr)
}

#[track_caller]
fn json(folder: &TempDir, line: &str) -> Value {
    serde_json::from_str(&done(folder, &format!("{line} --json")).0).unwrap()
}

fn bytes(folder: &TempDir, name: &str) -> Vec<u8> {
    fs::read(folder.path().join(name)).unwrap()
}

fn names(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[track_caller]
fn has_keys(value: &Value, keys: &[&str]) {
    for key in keys {
        assert!(value.get(key).is_some(), "no `{key}` in {value:#}");
    }
}

#[test]
fn the_three_lines_of_an_author_work_in_this_order() {
    let folder = folder(250);
    done(&folder, "net init -o base.nnue");

    let (said, _) = done(&folder, "extract games.pgn");
    assert!(said.contains("positions written") && said.contains("positions.parquet"), "{said}");

    let (said, notes) = done(&folder, "tune --filter unique");
    assert!(notes.contains("positions.parquet is not resolved"), "{notes}");
    assert!(notes.contains("labelled.parquet"), "{notes}");
    assert!(said.contains("new.nnue"), "{said}");
    // The file that is kept is what the method means: every position with its quiet leaf.
    let labelled = Dataset::open(&folder.path().join("labelled.parquet")).unwrap();
    assert_eq!(labelled.rows(), Dataset::open(&folder.path().join("positions.parquet")).unwrap().rows());
    assert!(labelled.read_all().unwrap().iter().all(|sample| sample.leaf.is_some()));

    // The third line, but cut short: as it stands it plays until the test is decided.
    let output = patzer(&folder, "sprt new.nnue base.nnue --games 8 --nodes 100 --hash 1");
    assert_eq!(output.status.code(), Some(11), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("undecided"), "{said}");
    let pgn = String::from_utf8(bytes(&folder, "sprt.pgn")).unwrap();
    assert_eq!(pgn.matches("[White \"new.nnue\"]").count(), 4);
    assert_eq!(pgn.matches("[Black \"new.nnue\"]").count(), 4);
    assert_eq!(
        names(&folder),
        [
            "base.nnue",
            "games.pgn",
            "labelled.parquet",
            "new.nnue",
            "positions.parquet",
            "runs",
            "sprt.journal",
            "sprt.pgn"
        ]
    );

    // The games of the test are games like any others.
    let again = json(&folder, "extract sprt.pgn -o sprt.parquet");
    assert_eq!((&again["games"], &again["games_bad"]), (&8.into(), &0.into()));
    let scored = Dataset::open(&folder.path().join("sprt.parquet")).unwrap().read_all().unwrap();
    assert!(scored.iter().any(|sample| sample.score.is_some()));
}

#[test]
fn every_stage_gives_the_keys_that_other_programs_rely_on() {
    let folder = folder(60);
    let extract = json(&folder, "extract games.pgn --filter unique");
    has_keys(
        &extract,
        &["games", "games_bad", "positions_read", "positions_written", "seconds", "positions_per_second"],
    );
    let dropped: u64 = extract["dropped"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
    let written = extract["positions_written"].as_u64().unwrap();
    assert_eq!(extract["positions_read"], dropped + written);
    assert_eq!(extract["games"], 60);

    let label = json(&folder, "label");
    assert_eq!(label["positions"], written);

    let wdl = json(&folder, "wdl");
    has_keys(&wdl, &["k", "loss"]);
    assert!((0.1..5.0).contains(&wdl["k"].as_f64().unwrap()), "{wdl}");

    let keys = ["positions", "parameters", "epochs", "train_loss", "validation_loss"];
    let hce = json(&folder, "tune hce --terms material --epochs 2");
    has_keys(&hce, &keys);
    has_keys(&hce, &["positions_per_second", "output"]);
    assert_eq!((&hce["epochs"], &hce["output"]), (&2.into(), &"new.hce.toml".into()));
    let net = json(&folder, "tune --epochs 2 --hidden 16");
    has_keys(&net, &keys);
    has_keys(&net, &["positions_per_second", "output"]);
    // 768·16 feature weights, 16 biases, 2·16 output weights, 1 bias.
    assert_eq!((&net["parameters"], &net["output"]), (&12_337.into(), &"new.nnue".into()));

    let output = patzer(&folder, "sprt new.hce.toml untuned-hce --games 2 --nodes 50 --hash 1 --json");
    assert_eq!(output.status.code(), Some(11), "{output:?}");
    let sprt: Value = serde_json::from_slice(&output.stdout).unwrap();
    let statistics = ["elo", "elo_error", "nelo", "nelo_error", "los", "llr", "lower", "upper", "verdict"];
    has_keys(&sprt, &statistics);
    has_keys(&sprt, &["wins", "draws", "losses", "pentanomial", "games_per_second", "reasons"]);
    assert_eq!(sprt["verdict"], "undecided");

    let pairs = sprt["pentanomial"].as_array().unwrap().iter().map(Value::to_string);
    let elo = json(&folder, &format!("elo --ptnml {}", pairs.collect::<Vec<_>>().join(",")));
    has_keys(&elo, &statistics);
    for key in statistics {
        assert_eq!(elo[key], sprt[key], "{key}");
    }
}

#[test]
fn tuned_weights_have_less_loss_than_the_untuned_and_load() {
    let folder = folder(250);
    done(&folder, "extract games.pgn --filter quiet");
    let tuned = json(&folder, "tune hce --terms material,mobility --epochs 12");
    let before = tuned["validation_loss_before"].as_f64().unwrap();
    let after = tuned["validation_loss"].as_f64().unwrap();
    assert!(after < before, "{before} → {after}");
    // By the command that knows nothing of tuning, on all positions.
    let loss = |eval: &str| json(&folder, &format!("wdl --eval {eval}"))["loss"].as_f64().unwrap();
    let losses = ["new.hce.toml", "untuned-hce"].map(loss);
    assert!(losses[0] < losses[1], "{losses:?}");
    let parts = json(&folder, "eval --eval new.hce.toml");
    assert!(parts["parts"]["terms"].as_array().unwrap().len() >= 7);
    let (white, score) = (&parts["white"], &parts["score"]);
    assert!(white == score && white.as_i64().unwrap().abs() < 200, "{parts}");
}

#[test]
fn a_labelled_twin_is_kept_taken_again_and_made_anew_for_new_data() {
    let folder = folder(40);
    let tune = "tune hce --terms material --epochs 1";
    let twin = || bytes(&folder, "labelled.parquet");
    let labelled = |notes: &str| notes.contains("labelling it by qsearch → labelled.parquet");

    done(&folder, "extract games.pgn");
    assert!(labelled(&done(&folder, tune).1));
    let (first, weights) = (twin(), bytes(&folder, "new.hce.toml"));

    // The newest dataset is the twin itself; named, the positions lead to it. Both give the same.
    for line in [tune.to_string(), format!("{tune} positions.parquet"), format!("{tune} labelled.parquet")] {
        let (_, notes) = done(&folder, &line);
        assert!(!notes.contains("labelling"), "{line}: {notes}");
        assert_eq!(notes.contains("taking labelled.parquet"), line.contains("positions"), "{notes}");
        assert!(bytes(&folder, "new.hce.toml") == weights && twin() == first, "{line}");
    }

    // Other positions: the twin is out of date, by its time and by what it says of itself.
    done(&folder, "extract games.pgn --filter capt");
    assert!(labelled(&done(&folder, tune).1));
    let second = twin();
    assert!(second != first);
    assert!(!done(&folder, tune).1.contains("labelling"));
    assert!(twin() == second);

    // As they are, the positions have no leaf and need none.
    fs::remove_file(folder.path().join("labelled.parquet")).unwrap();
    done(&folder, &format!("{tune} --no-resolve"));
    assert!(!folder.path().join("labelled.parquet").exists());
    // A dataset of another name gets a twin of its own.
    fs::rename(folder.path().join("positions.parquet"), folder.path().join("mine.parquet")).unwrap();
    done(&folder, &format!("{tune} mine.parquet"));
    assert!(bytes(&folder, "mine.labelled.parquet") == second);
}

/// The demo's steps and the formats of their files, small: command line, file, and its SHA-256 from the left.
///
/// A change of these bytes is one that users see: say it in CHANGELOG.md. Datasets and networks name the version.
const GOLDEN: [(&str, &str, &str); 25] = [
    ("extract games.pgn --filter capt --per-game 30 --seed 5 -o", "few.parquet", "d8deea4b3adfc6ab"),
    ("extract games.pgn engine.pgn --filter unique --seed 5 -o", "positions.parquet", "a7e1b51ee97ecdcf"),
    ("extract engine.pgn -o", "all.bullet", "eb5a0ab4dc1edb0e"),
    ("extract engine.pgn -o", "all.marlin", "881518414081ba1f"),
    ("extract engine.pgn -o", "all.viri", "3299bea05458e3e9"),
    ("extract engine.pgn -o", "all.monty", "aae1830b992e462a"),
    ("extract engine.pgn -o", "all.montyvalue", "bbc8686342691f07"),
    ("extract engine.pgn -o", "all.binpack", "45f8ae87c9e8398f"),
    ("extract engine.pgn -o", "all.bin", "b3f6f0416e9d46f5"),
    ("extract engine.pgn -o", "all.plain", "fb0940579c6f82e3"),
    ("extract engine.pgn -o", "all.csv", "43ce51d39d482afd"),
    ("extract engine.pgn -o", "all.epd", "d8da5184ab9b6f47"),
    ("label positions.parquet -o", "labelled.parquet", "bca499379d4be4c7"),
    (
        "tune hce labelled.parquet --terms material,tempo,mobility --run r -o",
        "new.hce.toml",
        "e565ff5fb7e19c66",
    ),
    (
        "tune hce labelled.parquet --terms mobility --optimizer adam --epochs 2 --run r -o",
        "adam.hce.toml",
        "1da44bb8998a7e5d",
    ),
    ("net init -o", "base.nnue", "b51502909780af74"),
    (
        "tune labelled.parquet --epochs 2 --batch 512 --hidden 16 --seed 5 --run r -o",
        "new.nnue",
        "de384ac70699abbf",
    ),
    (
        "tune labelled.parquet --recipe bucketed --epochs 1 --batch 512 --hidden 16,8 --run r -o",
        "bucketed.nnue",
        "003269068f284a48",
    ),
    ("net convert bucketed.nnue -o", "bucketed.bin", "d3eceb193bdcfb16"),
    ("sprt new.hce.toml untuned-hce --nodes 100 --games 8 --hash 1 -o", "hce.pgn", "9e43608b086b82ea"),
    ("sprt new.nnue base.nnue --nodes 100 --games 8 --hash 1 --seed 5 -o", "net.pgn", "ba7939d0b02652aa"),
    ("selfplay default-hce --nodes 60 --games 8 --hash 1 --seed 5 -o", "selfplay.pgn", "05589aeb72b1d2a3"),
    (
        "selfplay default-hce --nodes 60 --games 8 --hash 1 --seed 5 -o",
        "selfplay.parquet",
        "c6a8c4895bdf69d3",
    ),
    ("selfplay --search mcts --nodes 60 --games 4 --hash 1 --seed 5 -o", "mcts.monty", "e03f21241d2fa2b1"),
    ("book make --count 50 --nodes 60 --hash 1 --seed 5 -o", "book.epd", "dd5f95ea999eb732"),
];

#[test]
fn the_demos_files_have_the_committed_bytes_for_any_number_of_threads() {
    let folder = folder(80);
    fs::write(folder.path().join("engine.pgn"), games("engine.pgn.zst", 40)).unwrap();
    let mut changed = String::new();
    for (line, name, golden) in GOLDEN {
        let run = |options: &str| {
            let output = patzer(&folder, &format!("{line} {name} {options}"));
            assert!(matches!(output.status.code(), Some(0 | 11)), "{line}: {output:?}");
            let file = bytes(&folder, name);
            fs::remove_file(folder.path().join(name)).unwrap();
            file
        };
        let one = run("--threads 1");
        if name == "net.pgn" {
            assert!(one == run("--concurrency 2") && one == run("--threads 2 --concurrency 1"));
        }
        // The last run's files stay for the steps that follow.
        assert!(one == run("--threads 2"), "{name}");
        fs::write(folder.path().join(name), &one).unwrap();
        let digest = format!("{:x}", Sha256::digest(&one));
        if !digest.starts_with(golden) {
            changed += &format!("\n{name}: {} now, {golden} committed; of patzer {line}", &digest[..16]);
        }
    }
    assert!(changed.is_empty(), "bytes changed:{changed}");
    assert_eq!(json(&folder, "wdl labelled.parquet")["k"], 3.3198062476772847);
}

#[test]
fn a_preset_leaves_the_same_positions_at_extract_and_at_tune() {
    let folder = folder(100);
    done(&folder, "extract games.pgn -o all.parquet");
    let tune = "tune hce --terms material --no-resolve --epochs 1 --k 1";
    for (preset, _) in PRESETS {
        let extract = json(&folder, &format!("extract games.pgn --filter {preset}"));
        if extract["positions_written"] == 0 {
            assert!(["bullet", "stockfish", "nnue-pytorch"].contains(preset), "{preset} needs no scores");
            continue;
        }
        let early = json(&folder, &format!("{tune} positions.parquet -o early.hce.toml"));
        let late = json(&folder, &format!("{tune} all.parquet --filter {preset} -o late.hce.toml"));
        let count = |tuned: &Value| {
            ["positions", "validation_positions"].map(|key| tuned[key].as_u64().unwrap()).iter().sum::<u64>()
        };
        assert!(count(&early) > 0);
        assert_eq!(extract["positions_written"], count(&early), "{preset}");
        assert_eq!(extract["positions_written"], count(&late), "{preset}");
        for key in ["positions", "train_loss", "validation_loss"] {
            assert_eq!(early[key], late[key], "{preset}: {key}");
        }
        assert!(bytes(&folder, "early.hce.toml") == bytes(&folder, "late.hce.toml"), "{preset}");
    }
}
