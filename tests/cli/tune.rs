//! `patzer tune`: its files and its choices. How well it fits is for the tests of `tune` and `train`.

use std::fs;
use std::io::BufRead;
use std::process::Command;

use patzer_eval::Evaluation;
use patzer_eval::hce::{TERMS, Weights};
use tempfile::TempDir;

use crate::{done, patzer, signal};

/// A labelled dataset of made-up games: won, drawn and lost ones.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let game =
        |moves: &str, result: &str| format!("[Event \"x\"]\n[Result \"{result}\"]\n\n{moves} {result}\n\n");
    let games = [
        game(
            "1. e4 {+0.20/5 1s} e5 {-0.10/5 1s} 2. Nf3 {+0.30/5 1s} d6 {-0.20/5 1s} 3. Bc4 {+0.40/5 1s}",
            "1-0",
        ),
        game(
            "1. d4 {+0.10/5 1s} d5 {+0.00/5 1s} 2. c4 {+0.20/5 1s} e6 {-0.20/5 1s} 3. Nc3 {+0.20/5 1s}",
            "1/2-1/2",
        ),
        game("1. f3 {-0.40/5 1s} e5 {+0.60/5 1s} 2. g4 {-9.00/5 1s} d6 {+0.90/5 1s}", "0-1"),
    ];
    fs::write(folder.path().join("games.pgn"), games.concat().repeat(40)).unwrap();
    done(folder.path(), "extract games.pgn");
    done(folder.path(), "label");
    folder
}

fn weights(folder: &TempDir, name: &str) -> std::sync::Arc<Weights> {
    match Evaluation::load(&folder.path().join(name)).unwrap() {
        Evaluation::Hce(weights) => weights,
        _ => panic!("{name} is a network"),
    }
}

#[test]
fn only_the_named_terms_move_and_the_source_code_is_beside_them() {
    let folder = folder();
    done(folder.path(), "tune hce --k 1 --epochs 5 --terms material,tempo --export rust,json");
    let (tuned, start) = (weights(&folder, "new.hce.toml"), Weights::untuned());
    for term in TERMS {
        let moved = tuned.pairs()[term.range()] != start.pairs()[term.range()];
        assert!(!moved || ["material", "tempo"].contains(&term.name), "{}", term.name);
    }
    assert!(tuned.pairs() != start.pairs());
    assert!(fs::read_to_string(folder.path().join("new.hce.rs")).unwrap().contains("const"));
    done(folder.path(), "tune hce --terms material,tempo --k 1 --epochs 1 --export cpp -o other.hce.toml");
    assert!(folder.path().join("other.hce.hpp").exists());
}

#[test]
fn the_run_folder_says_what_was_done() {
    let folder = folder();
    done(folder.path(), "tune --epochs 3 --hidden 16 --validation 0.25 --learning-rate 0.00001 --seed 9");
    let read = |name: &str| fs::read_to_string(folder.path().join("runs/new").join(name)).unwrap();
    let recipe = read("recipe.toml");
    for line in ["hidden = 16", "epochs = 3", "validation = 0.25", "seed = 9"] {
        assert!(recipe.lines().any(|l| l == line), "{line}: {recipe}");
    }
    assert_eq!(read("log.csv").lines().count(), 1 + 3);
    let run: serde_json::Value = serde_json::from_str(&read("run.json")).unwrap();
    assert_eq!(run["data"][0]["path"], "labelled.parquet");
    assert_eq!(run["data"][0]["made_from"]["sources"][0]["sha256"].as_str().unwrap().len(), 64);

    // The recipe that was written is one that can be read, and it gives the same network.
    let first = fs::read(folder.path().join("new.nnue")).unwrap();
    fs::copy(folder.path().join("runs/new/recipe.toml"), folder.path().join("again.toml")).unwrap();
    done(folder.path(), "tune --recipe again.toml -o again.nnue --run elsewhere");
    assert!(fs::read(folder.path().join("again.nnue")).unwrap() == first);
    assert!(folder.path().join("elsewhere/log.csv").exists());
}

#[test]
fn every_recipe_trains_and_its_network_plays() {
    let folder = folder();
    let recipes = ["mirrored", "bucketed", "thesis", "perspective"];
    let nets = [
        "(768hm->16)x2->1 screlu",
        "(768x5hm->16)x2->1x8 screlu",
        "(768->16)x2->32->1 crelu",
        "(768->16)x2->1 screlu",
    ];
    for (recipe, name) in recipes.into_iter().zip(nets) {
        done(folder.path(), &format!("tune --recipe {recipe} --epochs 1 --hidden 16 -o {recipe}.nnue"));
        assert!(done(folder.path(), &format!("net info {recipe}.nnue")).contains(name), "{recipe}");
        done(folder.path(), &format!("eval --eval {recipe}.nnue"));
        done(folder.path(), &format!("net convert {recipe}.nnue -o raw.bin"));
        let set = if recipe == "thesis" { "--set layers=[32]" } else { "" };
        let line = format!("net convert raw.bin -o back.nnue --recipe {recipe} --set hidden=16 {set}");
        done(folder.path(), &line);
        done(folder.path(), "net convert back.nnue -o again.bin");
        let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
        assert!(read("raw.bin") == read("again.bin"), "{recipe}");
    }
    done(
        folder.path(),
        "tune --features all+mc --set activation=pairwise --set psqt=true --epochs 1 -o mc.nnue --hidden 16,8",
    );
    assert!(done(folder.path(), "net info mc.nnue").contains("(974->16)x2->8->1 pairwise psqt"));
}

#[test]
fn a_run_that_was_stopped_goes_on_to_the_same_bytes() {
    let folder = folder();
    let line = "tune --epochs 4 --hidden 16 -o";
    done(folder.path(), &format!("{line} whole.nnue"));
    // As if stopped after the last epoch, before the network was written.
    done(folder.path(), &format!("{line} again.nnue --run runs/whole --resume"));
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert!(read("whole.nnue") == read("again.nnue"));
    fs::remove_file(folder.path().join("again.nnue")).unwrap();
    done(folder.path(), "tune --resume --run runs/whole");
    assert!(read("whole.nnue") == read("again.nnue"), "the run's folder has all arguments");
    let fault = |args: &str| {
        let output = patzer(folder.path(), &args.split_whitespace().collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    let nothing = fault("tune --resume");
    assert!(nothing.starts_with("error: runs/new: holds no run to resume"), "{nothing}");
    let stranger = fault("tune --epochs 5 --hidden 16 -o other.nnue --run runs/whole --resume");
    assert!(stranger.contains("other settings or positions"), "{stranger}");
    let recipe = fs::read_to_string(folder.path().join("runs/whole/recipe.toml")).unwrap();
    assert!(recipe.contains("epochs = 4"), "the recipe of the refused run is not written: {recipe}");
    // Finished runs are moved aside; an unfinished one stops a run without --resume or --overwrite.
    let other = "tune --epochs 1 --hidden 16 -o other.nnue --run runs/whole";
    let output = patzer(folder.path(), &other.split_whitespace().collect::<Vec<_>>());
    assert!(String::from_utf8_lossy(&output.stderr).contains("runs/whole.1"), "{output:?}");
    let recipe = |run: &str| fs::read_to_string(folder.path().join(run).join("recipe.toml")).unwrap();
    assert!(recipe("runs/whole.1").contains("epochs = 4") && recipe("runs/whole").contains("epochs = 1"));
    fs::remove_file(folder.path().join("runs/whole/result.json")).unwrap();
    let unfinished = fault(&format!("{line} again.nnue --run runs/whole"));
    assert!(unfinished.contains("--resume") && unfinished.contains("--overwrite"), "{unfinished}");
    assert!(recipe("runs/whole").contains("epochs = 1"));
    done(folder.path(), &format!("{line} again.nnue --run runs/whole --overwrite"));
    assert!(read("whole.nnue") == read("again.nnue"));
    assert!(fault("tune --set speed=11").contains("--set speed=11: unknown field `speed`"));
}

#[test]
fn a_stream_is_cut_into_epochs_of_positions_and_can_go_on() {
    let folder = folder();
    // More positions an epoch than there are: they are read more than once.
    let set = "--hidden 16 --set superbatch=3000 --set buffer=1000 --set batch=250";
    let result = done(folder.path(), &format!("tune {set} --epochs 3 -o a.nnue --json"));
    let result: serde_json::Value = serde_json::from_str(&result).unwrap();
    assert_eq!(result["epochs"], 3);
    assert!(
        result["positions"].as_u64().unwrap() < 3000 && result["validation_positions"].as_u64().unwrap() > 0
    );
    done(folder.path(), &format!("tune {set} --epochs 3 -o b.nnue"));
    done(folder.path(), &format!("tune {set} --epochs 3 -o c.nnue --run runs/a --resume"));
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert!(read("a.nnue") == read("b.nnue") && read("a.nnue") == read("c.nnue"));
}

#[test]
fn a_network_on_standard_output_is_alone_there() {
    let folder = folder();
    done(folder.path(), "tune --epochs 1 --hidden 16");
    let output = patzer(folder.path(), &["tune", "--epochs", "1", "--hidden", "16", "-o", "-", "--json"]);
    assert!(output.status.success(), "{output:?}");
    assert!(output.stdout == fs::read(folder.path().join("new.nnue")).unwrap());
    assert!(folder.path().join("runs/stdout/log.csv").exists());
}

#[test]
fn there_is_no_place_beside_standard_output_to_export_to() {
    let folder = folder();
    let output =
        patzer(folder.path(), &["tune", "hce", "--k", "1", "--epochs", "1", "--export", "cpp", "-o", "-"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    assert!(!folder.path().join("-.hpp").exists());
}

#[test]
fn without_a_dataset_the_user_is_told_how_to_make_one() {
    let folder = tempfile::tempdir().unwrap();
    let output = patzer(folder.path(), &["tune"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("`patzer extract games.pgn`"));
}

#[test]
fn exported_traces_tune_to_the_same_weights_as_the_bundled_evaluation() {
    let folder = folder();
    let json = |line: &str| -> serde_json::Value {
        serde_json::from_str(&done(folder.path(), &format!("{line} --validation 0 --l2 0.001 --k 1 --json")))
            .unwrap()
    };
    done(folder.path(), "data convert labelled.parquet --format traces -o traces.txt");
    let bundled = json("tune hce labelled.parquet");
    let traced = json("tune traces traces.txt --terms traces.toml --wdl 1 --export csv --no-keep-scale");
    assert_eq!(bundled["positions"], traced["positions"]);
    for key in ["train_loss_before", "train_loss_exact", "train_loss"] {
        let [a, b] = [&bundled, &traced].map(|result| result[key].as_f64().unwrap());
        assert!((a - b).abs() < 1e-7, "{key}: {a} and {b}");
    }
}

#[test]
fn exported_traces_are_packed_by_their_name_and_replace_no_file_that_nobody_named() {
    let folder = folder();
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    done(folder.path(), "data convert labelled.parquet --format traces -o traces.txt");
    done(folder.path(), "data convert labelled.parquet --format traces -o traces.txt.zst --compress 5");
    assert!(zstd::decode_all(&read("traces.txt.zst")[..]).unwrap() == read("traces.txt"));
    fs::write(folder.path().join("mine.toml"), "own").unwrap();
    for (rest, says) in [
        ("-o mine.txt", "mine.toml: exists"),
        ("-o small.terms.toml", "is a name of terms"),
        ("-o x.txt --with fen", "not with --format traces"),
        ("-o x.txt --licence CC0", "not with --format traces"),
        ("-o x.txt --map fen=board", "not with --format traces"),
        ("-o x.txt --compress 5", "traces are not compressed"),
    ] {
        let line = format!("data convert labelled.parquet --format traces {rest}");
        let said = crate::error(&patzer(folder.path(), &line.split(' ').collect::<Vec<_>>()));
        assert!(said.contains(says), "{line}: {said}");
    }
    assert_eq!(read("mine.toml"), b"own");
    assert!(!folder.path().join("mine.txt").exists());
}

#[test]
fn labels_blend_scores_and_seeds_tell_how_far_weights_spread() {
    let folder = folder();
    let hce = "tune hce labelled.parquet --terms material,tempo --l2 0.001 --k 1";
    done(folder.path(), &format!("{hce} --wdl 0.5 --score-k 2 --weigh-games -o blend.hce.toml"));
    done(folder.path(), &format!("{hce} -o plain.hce.toml"));
    assert!(weights(&folder, "blend.hce.toml").pairs() != weights(&folder, "plain.hce.toml").pairs());
    done(folder.path(), &format!("{hce} --validation 0.3 --seeds 3 -o spread.hce.toml"));
    let table = fs::read_to_string(folder.path().join("runs/spread.hce/weights.csv")).unwrap();
    let tempo = table.lines().find(|line| line.starts_with("tempo.turn midgame")).unwrap();
    assert!(tempo.split(',').nth(5).unwrap().parse::<f64>().unwrap() > 0.0, "{tempo}");
}

#[test]
fn own_games_judge_the_bundled_evaluation() {
    let folder = tempfile::tempdir().unwrap();
    let games = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/engine.pgn.zst");
    done(folder.path(), &format!("extract {games} --filter unique --sample 2000 -o own.parquet"));
    let line =
        "tune hce own.parquet --terms material --k 1 --l2 0 --no-errors --judge own.parquet --force --json";
    let fit: serde_json::Value = serde_json::from_str(&done(folder.path(), line)).unwrap();
    let judge = &fit["judge"];
    assert_eq!(judge["positions"], 2_000);
    let loss = |key: &str| judge[key].as_f64().unwrap();
    let change = loss("loss_after") - loss("loss_before");
    let verdict = match 2.0 * loss("error") {
        doubt if change > doubt.max(0.001) && loss("results_change") >= 0.0 => "worse",
        doubt if change < -doubt => "better",
        _ => "undecided",
    };
    assert!(judge["verdict"] == verdict && change != 0.0, "{fit}");
}

#[test]
fn options_of_first_order_optimisers_choose_one() {
    let folder = folder();
    let line = "tune hce --terms material,tempo --k 1 --epochs 2 --no-errors --json";
    let optimizer = |options: &str| {
        let fit: serde_json::Value =
            serde_json::from_str(&done(folder.path(), &format!("{line}{options}"))).unwrap();
        fit["optimizer"].as_str().unwrap().to_string()
    };
    assert_eq!(optimizer(""), "gauss-newton");
    assert_eq!(optimizer(" --learning-rate 2 --schedule linear"), "adam");
    assert_eq!(optimizer(" --optimizer sgd --batch 0"), "sgd");
}

#[cfg(unix)]
#[test]
fn a_terminated_tuning_writes_nothing_and_says_so() {
    let folder = folder();
    fs::write(folder.path().join("new.hce.toml"), "of an earlier run").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_patzer"));
    let args = "tune hce --optimizer adam --epochs 1000000 --patience 1000000 --k 1";
    command.current_dir(folder.path()).args(args.split_whitespace()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut said = std::io::BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(said.any(|line| line.unwrap().contains("optimiser adam")));
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert!(signal("TERM", &child.id().to_string()));
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert!(said.any(|line| line.unwrap() == "error: interrupted; nothing was written"));
    assert_eq!(fs::read(folder.path().join("new.hce.toml")).unwrap(), b"of an earlier run");
    assert!(!folder.path().join("runs").exists());
}

#[test]
fn options_without_effect_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let (data, network) = (
        ["--filter unique", "--filter-set a=1", "--no-resolve", "--input-format epd"],
        [
            "--hidden 16",
            "--recipe small",
            "--set wdl=1",
            "--floats f",
            "--features all",
            "--device cpu",
            "--resume",
        ],
    );
    let hce = ["--eval default-hce", "--symmetric psqt.king", "--plain-taper"];
    let fit = [
        "--optimizer adam --patience 3",
        "--patience 3",
        "--schedule cosine",
        "--l2 0",
        "--keep-scale",
        "--no-keep-scale",
        "--seeds 2",
        "--weigh-games",
        "--fix tempo",
        "--no-errors",
        "--score-k 1",
        "--export c",
        "--eval default-hce",
        "--plain-taper",
    ];
    let of_terms = [&data[..], &network, &hce].concat();
    let without_fit = [&fit[1..12], &["--epochs 3", "--wdl 0.4", "-o foo.h", "--run r", "--k 1"]].concat();
    for (line, options) in [
        ("tune traces x.txt --terms x.toml", &of_terms[..]),
        ("traces patch x.c --terms x.toml", &of_terms[..]),
        ("traces indices --terms x.toml", &of_terms[..]),
        ("traces check x.txt --terms x.toml", &of_terms[..]),
        ("traces check x.txt --terms x.toml", &without_fit[..]),
        ("traces patch x.c --terms x.toml", &without_fit[..]),
        ("traces indices --terms x.toml", &without_fit[..]),
        ("tune", &fit),
    ] {
        for option in options {
            let line = format!("{line} {option}");
            let output = patzer(folder.path(), &line.split_whitespace().collect::<Vec<_>>());
            let text = String::from_utf8(output.stderr).unwrap();
            let name = option.split(' ').next().unwrap();
            assert!(
                text.starts_with(&format!("error: unexpected argument '{name}' found")),
                "{line}: {text}"
            );
        }
    }
}
