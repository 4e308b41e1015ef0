//! `patzer tune` with networks: what recipes need of the data. The tests of patzer-train cover learning.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use tempfile::TempDir;

use crate::{done, kill, patzer, program};

/// Positions of real games with scores.
pub fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let games = format!("{}/fixtures/engine.pgn.zst", env!("CARGO_MANIFEST_DIR"));
    done(folder.path(), &format!("extract {games} --sample 3000"));
    done(folder.path(), "net init");
    folder
}

pub fn tuned(folder: &TempDir, args: &str) -> Value {
    serde_json::from_str(&done(folder.path(), &format!("tune --json --hidden 16 {args}"))).unwrap()
}

pub fn fault(folder: &TempDir, args: &str) -> String {
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
    // Of P, Q and R only P is a position of the data.
    let counted = ["positions", "validation_positions"].map(|key| all[key].as_u64().unwrap());
    assert!((1001..=3000u64).contains(&counted.iter().sum::<u64>()), "{counted:?}");
    let few = tuned(&folder, &format!("{pqr} --set legal_quantile=0.5 -o b.nnue"));
    assert!(few["positions"].as_u64() < all["positions"].as_u64());
    // From a checkpoint: it starts where the other ended.
    let on = tuned(&folder, &format!("{pqr} --set start=a.nnue -o c.nnue"));
    assert!(loss(&on, "train_loss_before") < loss(&all, "train_loss_before"));
    // As do two output buckets, each with what the only one had learnt.
    let two = tuned(&folder, &format!("{pqr} --set start=a.nnue --set output_buckets=2 -o d.nnue"));
    assert!(loss(&two, "train_loss_before") < loss(&all, "train_loss_before"));
    // Further neurons change nothing at the start.
    let wider = done(folder.path(), &format!("tune --json --hidden 32 {pqr} --set start=a.nnue -o e.nnue"));
    let wider = serde_json::from_str(&wider).unwrap();
    let starts = [&wider, &on].map(|result| loss(result, "validation_loss_before"));
    assert!((starts[0] - starts[1]).abs() < 1e-6 * starts[1], "{starts:?}");
    assert!(fault(&folder, "--set loss=pqr").contains("--no-resolve"));
    assert!(fault(&folder, "--set start=a.nnue --hidden 8").contains("a.nnue: is (768->16)"));
}

#[test]
fn a_teacher_that_labels_while_it_is_read_gives_the_network_of_static_labels() {
    let folder = folder();
    done(folder.path(), "label --static --eval default -o taught.parquet");
    for data in ["", "--set superbatch=1000 --set buffer=500"] {
        let run = |file: &str, more: &str| {
            tuned(
                &folder,
                &format!("{file}.parquet --no-resolve --epochs 2 --wdl 0.3 -o {file}.nnue {data} {more}"),
            )
        };
        let read = run("positions", "--set teacher=default");
        let file: Value =
            serde_json::from_str(&fs::read_to_string(folder.path().join("runs/positions/run.json")).unwrap())
                .unwrap();
        assert_eq!(file["teacher"]["sha256"], "default");
        let taught = run("taught", "");
        for key in ["k", "train_loss", "validation_loss", "quantisation"] {
            assert_eq!(read[key], taught[key], "{data} {key}");
        }
        assert_ne!(run("positions", "")["validation_loss"], read["validation_loss"]);
    }
    assert!(fault(&folder, "--set teacher=default-hce").contains("default-hce: is not a network"));
    assert!(fault(&folder, "--set teacher=none.nnue").contains("none.nnue"));
}

#[test]
fn a_wdl_head_learns_chances_and_plays() {
    let folder = folder();
    let recipe =
        "--set wdl_head=true --set loss=cross-entropy --set score_offset=120 --k 1.5 --learning-rate 0.003";
    for (name, layers) in [("one", "[]"), ("two", "[8]")] {
        let result =
            tuned(&folder, &format!("{recipe} --set layers={layers} --epochs 6 --batch 100 -o {name}.nnue"));
        let loss = |key: &str| result[key].as_f64().unwrap();
        assert!(loss("train_loss") < loss("train_loss_before"), "{result}");
        assert!(loss("validation_loss") < loss("validation_loss_before"), "{result}");
        let quantised = &result["quantisation"];
        assert!(quantised["mean_error"].as_f64().unwrap() < 20.0, "{quantised}");
        let info = done(folder.path(), &format!("net info {name}.nnue"));
        assert!(info.contains("->3 screlu"), "{info}");
        let up = "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        let output = patzer(folder.path(), &["eval", "--json", "--eval", &format!("{name}.nnue"), up]);
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        // Only a network without further layers starts with material.
        let least = if layers == "[]" { 200 } else { -200 };
        assert!(value["score"].as_i64().unwrap() > least, "a queen up: {value}");
    }
    // The own layout alone keeps K.
    done(folder.path(), "net convert one.nnue -o raw.bin");
    let set = "--recipe small --set wdl_head=true --set loss=cross-entropy";
    done(folder.path(), &format!("net convert raw.bin -o back.nnue {set}"));
    done(folder.path(), "net convert back.nnue -o again.bin");
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert!(read("raw.bin") == read("again.bin"));
    let output = patzer(folder.path(), &["net", "convert", "one.nnue", "-o", "x.bin", "--to", "bullet"]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("a WDL head (`wdl_head`) has the layout"));
    let error = fault(&folder, "--set wdl_head=true");
    assert!(error.contains("wdl_head = true: needs loss = \"cross-entropy\""), "{error}");
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
        assert!(error.contains("checkpoint.bin: the checkpoint is damaged"), "{error}");
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
    done(folder.path(), "data convert positions.parquet -o all.bullet");
    let reason = "all.bullet: does not say which positions are of one game, and td_lambda needs games";
    assert!(fault(&folder, "all.bullet --no-resolve --wdl 1 --set td_lambda=0.5").contains(reason));
    let by_ply = "all.bullet --no-resolve --set position_weight={by=\"ply\",at=[[0,0.2],[40,1]]}";
    assert!(fault(&folder, by_ply).contains("position_weight by ply: the data do not say how far"));
    // Shuffled, every position has the same target; batches and losses differ by rounding alone.
    done(folder.path(), "data shuffle positions.parquet -o shuffled.parquet");
    let line = "--no-resolve --k 1 --wdl 1 --epochs 1 --validation 0 --batch 1000000 --set td_lambda=0.5";
    let start = |file: &str| tuned(&folder, &format!("{file} {line}"))["train_loss_before"].as_f64().unwrap();
    let (ordered, shuffled) = (start("positions.parquet"), start("shuffled.parquet"));
    assert!((ordered - shuffled).abs() < 1e-5, "{ordered} {shuffled}");
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
    // A format that turns boards to the side to move sums in another order.
    let same = |loss: &(u64, f64)| loss.0 == losses[0].0 && (loss.1 - losses[0].1).abs() < 1e-6 * losses[0].1;
    assert!(losses[0].0 > 1000 && losses.iter().all(same), "{losses:?}");
}

#[test]
fn networks_of_epochs_are_saved_and_the_last_is_that_of_a_shorter_run() {
    let folder = folder();
    // A warm-up of more steps than a tenth of the run is shorter.
    let line = "--validation 0 --set keep=\"last\" --set schedule=\"constant\" --set warmup=0";
    tuned(&folder, &format!("--epochs 5 --save-every 2 {line} -o long.nnue"));
    let saved = |name: &str| fs::read(folder.path().join("runs/long").join(name));
    let [two, four] = ["epoch-0002.nnue", "epoch-0004.nnue"].map(|name| saved(name).unwrap());
    assert!(two != four && ["epoch-0001.nnue", "epoch-0005.nnue"].iter().all(|name| saved(name).is_err()));
    // A network's file has its settings, so the shorter run's has another number of epochs.
    tuned(&folder, &format!("--epochs 4 {line} -o short.nnue"));
    fs::write(folder.path().join("four.nnue"), four).unwrap();
    let value = |net: &str| {
        let output = patzer(folder.path(), &["eval", "--eval", net]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        output.stdout
    };
    assert_eq!(value("four.nnue"), value("short.nnue"));
    tuned(&folder, &format!("--epochs 2 --save-every 2 --overwrite {line} -o long.nnue"));
    assert!(saved("epoch-0002.nnue").is_ok() && saved("epoch-0004.nnue").is_err());
}

#[test]
fn the_device_is_named_and_one_that_is_not_there_is_an_error() {
    let folder = folder();
    let result = tuned(&folder, "--epochs 1 --device cpu");
    assert_eq!(result["device"], "cpu");
    assert!(fault(&folder, "--device gpu:999").starts_with("error: --device gpu:999: "));
    assert!(fault(&folder, "--device cuda").contains("has to be auto, cpu, gpu or gpu:N"));
    assert!(fault(&folder, "hce --device cpu").contains("--device"));
}

/// Runs a command that succeeds: its stderr.
pub fn said(folder: &TempDir, args: &str) -> String {
    let line = format!("tune --hidden 16 --epochs 1 {args}");
    let output = patzer(folder.path(), &line.split_whitespace().collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn other_games_can_validate_and_positions_without_games_leak() {
    let folder = folder();
    done(folder.path(), "data convert positions.parquet -o all.bullet");
    let leak = "all.bullet does not say which positions are of one game";
    assert!(said(&folder, "all.bullet --no-resolve").contains(leak));
    assert!(!said(&folder, "all.bullet --no-resolve --validation 0").contains(leak));
    assert!(!said(&folder, "positions.parquet").contains(leak));
    // A format that keeps games by the order of positions, shuffled, and filters that ask for moves.
    let games = format!("{}/fixtures/games.pgn.zst", env!("CARGO_MANIFEST_DIR"));
    done(folder.path(), &format!("extract {games} --shard 1/200 -o whole.parquet"));
    done(folder.path(), "data convert whole.parquet -o whole.binpack --no-score 0");
    done(folder.path(), "data shuffle whole.binpack -o broken.binpack");
    let (broken, moves) = ("as in a shuffled file", "all.bullet: does not say what these filters judge by");
    assert!(said(&folder, "broken.binpack --no-resolve").matches(broken).count() == 1);
    let streamed = said(&folder, "broken.binpack --no-resolve --set superbatch=1000");
    assert!(streamed.matches(broken).count() == 1, "{streamed}");
    assert!(!said(&folder, "whole.binpack --no-resolve").contains(broken));
    assert!(said(&folder, "all.bullet --no-resolve --validation 0 --filter capture").contains(moves));
    assert!(!said(&folder, "all.bullet --no-resolve --validation 0 --filter piece_count").contains(moves));
    done(folder.path(), &format!("extract {games} --sample 500 -o other.parquet"));
    let other = tuned(&folder, "all.bullet --no-resolve --epochs 1 --validation-data other.parquet");
    let whole = tuned(&folder, "all.bullet --no-resolve --epochs 1 --validation 0");
    assert_eq!((&other["positions"], &other["validation_positions"]), (&whole["positions"], &500.into()));
    assert!(!said(&folder, "all.bullet --no-resolve --validation-data other.parquet").contains(leak));
    let run = fs::read_to_string(folder.path().join("runs/new/run.json")).unwrap();
    let run: Value = serde_json::from_str(&run).unwrap();
    assert_eq!(run["validation_data"][0]["path"], "other.parquet");
    assert_eq!(run["data"].as_array().unwrap().len(), 1);
    let error = fault(&folder, "positions.parquet --validation-data ./positions.parquet");
    assert!(error.contains("is among the training data"), "{error}");
    // Another choice of the best epoch is another run.
    let line = "all.bullet --no-resolve --hidden 16 --epochs 2 -o a.nnue --validation-data";
    done(folder.path(), &format!("tune {line} other.parquet"));
    done(folder.path(), &format!("extract {games} --sample 400 --seed 1 -o third.parquet"));
    assert!(
        fault(&folder, &format!("{line} third.parquet --resume")).contains("other settings or positions")
    );
}

#[test]
fn a_network_that_learnt_nothing_or_has_few_positions_is_warned_of() {
    let folder = folder();
    let nothing = "the network has learnt nothing";
    // Without validation the start cannot be kept.
    let output = said(&folder, "--recipe default --set learning_rate=10 --validation 0");
    assert!(output.contains(nothing), "{output}");
    assert!(!said(&folder, "--recipe default --batch 100 --validation 0").contains(nothing));
    let kept = said(&folder, "--recipe default --batch 100 --set learning_rate=10");
    assert!(kept.contains("the start is kept"), "{kept}");
    let line = "tune --hidden 16 --epochs 30 --recipe default --batch 100 --set learning_rate=0.002";
    let output = patzer(folder.path(), &line.split_whitespace().collect::<Vec<_>>());
    let few = String::from_utf8(output.stderr).unwrap();
    assert!(few.contains("about ") && few.contains(" would bring it below a tenth"), "{few}");
}

#[test]
fn the_recipe_for_few_positions_is_named_before_they_are_read_with_its_changes() {
    let folder = folder();
    let text = said(&folder, "");
    let (recipe, read) = (text.find("recipe `small` (").unwrap(), text.find("positions read").unwrap());
    assert!(recipe < read, "{text}");
    assert!(text.contains("batch 512 for 8192"), "{text}");
    assert!(!text.contains("hidden 16 for"), "--hidden says otherwise: {text}");
    assert!(!said(&folder, "--recipe default").contains("recipe `small`"));
    // The number of lines of text is known once they are read.
    done(folder.path(), "data convert positions.parquet -o x.epd");
    assert_eq!(said(&folder, "x.epd --no-resolve").matches("recipe `small` (").count(), 1);
    let positions = "x.epd --no-resolve --validation 0 --set positions=10000";
    let result = tuned(&folder, positions);
    assert_eq!(result["epochs"], 10_000u64.div_ceil(result["positions"].as_u64().unwrap()), "{result}");
    let error = fault(&folder, "--set hiden=16");
    assert!(error.contains("unknown field `hiden`; did you mean `hidden`?"), "{error}");
    assert!(fault(&folder, "--recipe smal").contains("did you mean `small`?"));
}

/// Two files of different weights, another filter and λ in the second stage.
const STAGES: &str = r#"
hidden = 64
batch = 100
validation = 0.2

[[stage]]
data = ["positions.parquet", "human.parquet"]
weights = [1.0, 3.0]
positions = 12_000
wdl = 0.5

[[stage]]
data = ["positions.parquet"]
filter = ["quiet"]
epochs = 4
learning_rate = 0.0002
final_learning_rate = 0.00001
pull = 1.0
"#;

fn staged() -> TempDir {
    let folder = folder();
    let games = format!("{}/fixtures/games.pgn.zst", env!("CARGO_MANIFEST_DIR"));
    done(folder.path(), &format!("extract {games} --sample 2000 -o human.parquet"));
    fs::write(folder.path().join("staged.toml"), STAGES).unwrap();
    folder
}

#[test]
fn stages_train_one_after_another_with_their_own_data() {
    let folder = staged();
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    done(folder.path(), "tune --recipe staged.toml -o one.nnue --threads 1");
    let output =
        patzer(folder.path(), &["tune", "--recipe", "staged.toml", "-o", "three.nnue", "--threads", "3"]);
    assert!(read("one.nnue") == read("three.nnue"));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("stage 1 of 2") && text.contains("stage 2 of 2"), "{text}");
    let run: Value = serde_json::from_slice(&read("runs/one/run.2.json")).unwrap();
    assert_eq!((&run["filters"][0], run["data"].as_array().unwrap().len()), (&"quiet".into(), 1));
    // K is fitted once, and the recipe that was written gives the same network.
    let written = String::from_utf8(read("runs/one/recipe.toml")).unwrap();
    assert!(written.contains("\nk = ") && written.matches("[[stage]]").count() == 2, "{written}");
    done(folder.path(), "tune --recipe runs/one/recipe.toml -o again.nnue");
    assert!(read("one.nnue") == read("again.nnue"));
    let weighted = "data = [\"positions.parquet\", \"human.parquet\"]\nweights = [1.0, 3.0]\n";
    fs::write(folder.path().join("weighted.toml"), weighted).unwrap();
    for (data, files) in [("human.parquet", 1), ("human.parquet positions.parquet other.parquet", 3)] {
        let error = fault(&folder, &format!("--recipe weighted.toml {data}"));
        assert!(error.contains(&format!("weights: 2 of them for {files} files of `data`")), "{error}");
    }
    let error = fault(&folder, "--recipe staged.toml positions.parquet");
    assert!(error.contains("leave out DATA"), "{error}");
    // A third of 1 for the first file: the second is passed whole in each epoch.
    let log = String::from_utf8(read("runs/one/log.csv")).unwrap();
    assert!(log.lines().count() > 1 + 4, "{log}");
}

#[test]
fn a_staged_run_that_is_killed_anywhere_goes_on_to_the_same_bytes() {
    let folder = staged();
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    done(folder.path(), "tune --recipe staged.toml -o whole.nnue");
    let rows = |run: &str| {
        let text =
            fs::read_to_string(folder.path().join("runs").join(run).join("log.csv")).unwrap_or_default();
        text.lines().count().saturating_sub(1)
    };
    let all = rows("whole");
    let mut killed = 0;
    for at in 1..all {
        let name = format!("cut{at}");
        let line = format!("tune --recipe staged.toml -o {name}.nnue");
        let mut child = program()
            .args(line.split_whitespace())
            .current_dir(folder.path())
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        while rows(&name) < at && child.try_wait().unwrap().is_none() {}
        killed += usize::from(kill(&mut child));
        let checkpoint = Path::new("runs").join(&name).join("checkpoint.bin");
        assert!(folder.path().join(checkpoint).exists() || at == 1);
        fs::remove_file(folder.path().join("runs").join(&name).join("result.json")).ok();
        done(folder.path(), &format!("{line} --resume"));
        assert!(read(&format!("{name}.nnue")) == read("whole.nnue"), "killed after epoch {at}");
        assert_eq!(rows(&name), all, "the log has every stage's epochs");
    }
    assert!(killed > 0, "no run was cut short");
}

#[test]
#[cfg(unix)]
fn a_terminated_training_writes_no_network_and_names_the_command_that_goes_on() {
    let folder = folder();
    let line = "tune --hidden 8 --epochs 100000 --validation 0 --device cpu -o big.nnue";
    let mut command = program();
    command.args(line.split_whitespace()).current_dir(folder.path());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let checkpoint = folder.path().join("runs/big/checkpoint.bin");
    while !checkpoint.exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    crate::signal("TERM", &child.id().to_string());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(143), 0), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("patzer tune --resume -o big.nnue goes on after the last whole epoch"), "{said}");
    assert!(said.contains("error: interrupted; nothing was written"), "{said}");
    let there = |name: &str| folder.path().join(name).exists();
    assert!(checkpoint.exists() && !there("big.nnue") && !there("runs/big/result.json"));
    done(folder.path(), "report runs/big -o r.html");
    let page = fs::read_to_string(folder.path().join("r.html")).unwrap();
    assert!(page.contains("Not finished."), "{page}");
}

#[test]
fn a_second_training_leaves_the_first_its_network_and_a_changed_one_is_said() {
    let folder = folder();
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    let result =
        |run: &str| -> Value { serde_json::from_slice(&read(&format!("{run}/result.json"))).unwrap() };
    let line = "tune --hidden 8 --epochs 1 --device cpu -o new.nnue --seed";
    done(folder.path(), &format!("{line} 1"));
    let first = read("new.nnue");
    assert!(read("runs/new/network.nnue") == first);
    assert_eq!(result("runs/new")["sha256"], patzer_io::sha256(&first));
    done(folder.path(), &format!("{line} 2"));
    let second = read("new.nnue");
    assert!(
        second != first
            && read("runs/new.1/network.nnue") == first
            && read("runs/new/network.nnue") == second
    );
    let page = |run: &str| {
        done(folder.path(), &format!("report {run} -o r.html"));
        String::from_utf8(read("r.html")).unwrap()
    };
    let changed = "new.nnue has changed since the run";
    assert!(!page("runs/new.1").contains(changed));
    // Without its own copy, the file that the second run replaced is not taken for the first's network.
    fs::remove_file(folder.path().join("runs/new.1/network.nnue")).unwrap();
    assert!(page("runs/new.1").contains(changed));
    fs::write(folder.path().join("new.nnue"), &first).unwrap();
    assert!(!page("runs/new.1").contains(changed));
    fs::write(folder.path().join("runs/new/network.nnue"), &first).unwrap();
    assert!(page("runs/new").contains("network.nnue has changed since the run"));
}
