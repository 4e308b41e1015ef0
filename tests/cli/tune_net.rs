//! `patzer tune` with networks: what recipes need of the data. The tests of patzer-train cover learning.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::{done, patzer};

/// Positions of real games with scores.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let games = format!("{}/fixtures/engine.pgn.zst", env!("CARGO_MANIFEST_DIR"));
    done(folder.path(), &format!("extract {games} --sample 3000"));
    folder
}

fn tuned(folder: &TempDir, args: &str) -> Value {
    serde_json::from_str(&done(folder.path(), &format!("tune --json --hidden 16 {args}"))).unwrap()
}

fn fault(folder: &TempDir, args: &str) -> String {
    let line = format!("tune {args}");
    let output = patzer(folder.path(), &line.split_whitespace().collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn moves_alone_are_enough_to_learn_from() {
    let folder = folder();
    let pqr = "--no-resolve --set loss=pqr --epochs 3 --set batch=300";
    let all = tuned(&folder, &format!("{pqr} -o a.nnue"));
    let loss = |result: &Value, key: &str| result[key].as_f64().unwrap();
    assert!(loss(&all, "train_loss") < loss(&all, "train_loss_before"), "{all}");
    // P, Q and R of every position with a choice.
    assert_eq!(all["positions"].as_u64().unwrap() % 3, 0);
    let few = tuned(&folder, &format!("{pqr} --set legal_quantile=0.5 -o b.nnue"));
    assert!(few["positions"].as_u64() < all["positions"].as_u64());
    // From a checkpoint: it starts where the other ended.
    let on = tuned(&folder, &format!("{pqr} --set start=a.nnue -o c.nnue"));
    assert!(loss(&on, "train_loss_before") < loss(&all, "train_loss_before"));
    // As do two output buckets, each with what the only one had learnt.
    let two = tuned(&folder, &format!("{pqr} --set start=a.nnue --set output_buckets=2 -o d.nnue"));
    assert!(loss(&two, "train_loss_before") < loss(&all, "train_loss_before"));
    assert!(fault(&folder, "--set loss=pqr").contains("--no-resolve"));
    assert!(fault(&folder, "--set start=a.nnue --hidden 32").contains("a.nnue: is (768->16)"));
}

#[test]
fn a_damaged_checkpoint_is_refused_and_floats_have_their_checksum_beside_them() {
    let folder = folder();
    tuned(&folder, "--epochs 2 -o a.nnue --floats a.safetensors");
    assert!(patzer_io::verify_companion(&folder.path().join("a.safetensors")).unwrap());
    let checkpoint = folder.path().join("runs/a/checkpoint.bin");
    let whole = fs::read(&checkpoint).unwrap();
    for bit in [0, 8 * whole.len() / 2 + 3, 8 * whole.len() - 1] {
        let mut damaged = whole.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        fs::write(&checkpoint, damaged).unwrap();
        let error = fault(&folder, "--hidden 16 --epochs 3 -o a.nnue --resume -q");
        assert!(error.contains("the checkpoint is damaged"), "{error}");
    }
}

#[test]
fn targets_along_the_game_lie_between_score_and_result() {
    let folder = folder();
    let loss = |set: &str| {
        let result = tuned(&folder, &format!("--k 1 --wdl 1 --epochs 1 --seed 3 {set}"));
        result["train_loss"].as_f64().unwrap()
    };
    let (result, near, mixed) = (loss(""), loss("--set td_lambda=1"), loss("--set td_lambda=0.5"));
    assert_eq!(result, near, "λ = 1 is the result");
    assert!(mixed < result, "scores are nearer to what a position says than the result");
    assert!(fault(&folder, "--set td_lambda=2").contains("td_lambda = 2"));
    assert!(fault(&folder, "--set td_lambda=0.5 --set superbatch=1000").contains("in memory"));
}

#[test]
fn other_formats_are_read_without_conversion() {
    let folder = folder();
    done(folder.path(), "label");
    let mut losses = Vec::new();
    for name in ["x.parquet", "x.bullet", "x.vf", "x.binpack"] {
        if name != "x.parquet" {
            done(folder.path(), &format!("data convert positions.parquet -o {name}"));
        } else {
            fs::copy(folder.path().join("positions.parquet"), folder.path().join(name)).unwrap();
        }
        let result = tuned(&folder, &format!("{name} --no-resolve --k 1 --epochs 1 --validation 0"));
        losses.push((result["positions"].as_u64().unwrap(), result["train_loss"].as_f64().unwrap()));
    }
    assert!(losses[0].0 > 1000 && losses.iter().all(|loss| *loss == losses[0]), "{losses:?}");
}

#[test]
fn the_device_is_named_and_one_that_is_not_there_is_an_error() {
    let folder = folder();
    let result = tuned(&folder, "--epochs 1 --device cpu");
    assert_eq!(result["device"], "cpu");
    assert!(fault(&folder, "--device gpu:999").starts_with("error: --device gpu:999: "));
    assert!(fault(&folder, "--device cuda").contains("has to be auto, cpu, gpu or gpu:N"));
    assert!(fault(&folder, "--hce --device cpu").contains("--hce"));
}
