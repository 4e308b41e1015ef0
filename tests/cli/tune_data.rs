//! `patzer tune` with networks: what it takes from each format and path of reading.

use std::fs;

use patzer_io::number::grouped;
use serde_json::Value;
use tempfile::TempDir;

use crate::tune_net::{fault, folder, said, tuned};
use crate::{done, patzer};

fn loss(folder: &TempDir, args: &str) -> f64 {
    let result = tuned(folder, &format!("--k 1 --epochs 2 --validation 0 --batch 100 {args}"));
    result["train_loss"].as_f64().unwrap()
}

#[test]
fn clocks_and_plies_are_read_from_streams_and_lines_as_with_filters() {
    let folder = folder();
    done(folder.path(), "data convert positions.parquet -o x.epd --dialect bracket");
    let by_ply = "--set position_weight={by=\"ply\",at=[[0,0.2],[40,1]]}";
    for (key, plain) in [(by_ply, ""), ("--features all+clock", "--features all")] {
        for file in ["positions.parquet --set superbatch=1000", "x.epd"] {
            let line = format!("{file} --no-resolve");
            let found = loss(&folder, &format!("{line} {key}"));
            // A filter that drops nothing reads everything.
            let expected = loss(&folder, &format!("{line} {key} --filter piece_count"));
            assert!((found - expected).abs() < 1e-6 * expected, "{line} {key}: {found} is not {expected}");
            assert_ne!(found, loss(&folder, &format!("{line} {plain}")), "{line} {key}");
        }
    }
}

#[test]
fn labels_that_a_user_made_are_never_replaced() {
    let folder = folder();
    let line = "tune --hidden 16 --epochs 1 --k 1 --validation 0 positions.parquet -q";
    let touch = || {
        let path = folder.path().join("positions.parquet");
        fs::File::options()
            .append(true)
            .open(path)
            .unwrap()
            .set_modified(std::time::SystemTime::now())
            .unwrap();
    };
    done(folder.path(), "label --nodes 20 --rescore");
    let own = fs::read(folder.path().join("labelled.parquet")).unwrap();
    done(folder.path(), line);
    touch();
    let said = fault(&folder, &line["tune ".len()..]);
    assert!(
        said.contains("labelled.parquet: is not the labelled copy") && said.contains("rescored"),
        "{said}"
    );
    assert!(said.lines().count() == 1 && fs::read(folder.path().join("labelled.parquet")).unwrap() == own);
    done(folder.path(), &format!("{line} --no-resolve"));
    // A copy by quiescence search is made again.
    fs::rename(folder.path().join("labelled.parquet"), folder.path().join("own.parquet")).unwrap();
    done(folder.path(), line);
    touch();
    done(folder.path(), line);
}

#[test]
fn a_labelled_copy_of_a_replaced_file_is_made_again() {
    let folder = folder();
    done(folder.path(), "data convert positions.parquet -o a.bullet");
    let path = folder.path().join("a.bullet");
    let first = fs::read(&path).unwrap();
    // Another file of the same size and an old time, as `cp -p` leaves one.
    let replace = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        let old = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
        fs::File::options().append(true).open(&path).unwrap().set_modified(old).unwrap();
    };
    replace(&first);
    let line = "a.bullet --validation 0";
    assert!(said(&folder, line).contains("labelling it by qsearch"));
    assert!(
        said(&folder, line)
            .contains("taking a.bullet.labelled.parquet, made from it (qsearch by default-hce)")
    );
    replace(&first.chunks(32).rev().flatten().copied().collect::<Vec<u8>>());
    assert!(said(&folder, line).contains("labelling it by qsearch"));
    // With equal content the copy stays current.
    replace(&fs::read(&path).unwrap());
    assert!(said(&folder, line).contains("taking a.bullet.labelled.parquet"));
}

#[test]
fn resolved_positions_of_formats_without_games_or_moves_are_warned_of_too() {
    let folder = folder();
    done(folder.path(), "data convert positions.parquet -o all.bullet");
    let leak = "all.bullet does not say which positions are of one game";
    // The second run reads the labelled copy of the first.
    for _ in 0..2 {
        assert!(said(&folder, "all.bullet --filter capture").contains(leak));
        assert!(
            said(&folder, "all.bullet --filter capture")
                .contains("so they judge otherwise than in its games: capture en_passant=true (move played)")
        );
    }
    assert!(!said(&folder, "positions.parquet").contains(leak));
}

#[test]
fn a_stream_of_several_files_warns_of_text_once() {
    let folder = folder();
    done(folder.path(), "data convert positions.parquet -o x.epd");
    let block = "x.epd: positions of text come in one block";
    let line = "--no-resolve --set superbatch=1000";
    assert_eq!(said(&folder, &format!("x.epd positions.parquet {line}")).matches(block).count(), 1);
    assert!(!said(&folder, &format!("x.epd {line}")).contains(block));
    assert!(!said(&folder, "x.epd positions.parquet --no-resolve").contains(block));
}

#[test]
fn an_output_that_the_recipe_reads_is_refused() {
    let folder = folder();
    for name in ["a.parquet", "b.parquet"] {
        fs::copy(folder.path().join("positions.parquet"), folder.path().join(name)).unwrap();
    }
    done(folder.path(), "tune --hidden 16 --epochs 1 -o start.nnue");
    let recipe = "hidden = 16\nepochs = 1\nstart = \"start.nnue\"\ndata = [\"positions.parquet\"]\n\
                  [[stage]]\n[[stage]]\ndata = [\"a.parquet\"]\nvalidation_data = [\"b.parquet\"]\n";
    fs::write(folder.path().join("r.toml"), recipe).unwrap();
    for name in ["positions.parquet", "a.parquet", "./b.parquet", "start.nnue"] {
        for option in ["-o", "--floats"] {
            let before = fs::read(folder.path().join(name)).unwrap();
            let said = fault(&folder, &format!("--recipe r.toml {option} {name}"));
            assert!(
                said.contains(&format!("{name}: is one of the recipe's inputs; name another file")),
                "{said}"
            );
            assert!(fs::read(folder.path().join(name)).unwrap() == before);
        }
    }
}

#[test]
fn a_stage_keeps_its_k_to_itself_and_a_fitted_k_holds_for_the_rest() {
    let folder = folder();
    let recipe = |stages: &str| {
        let text = format!("hidden = 16\nbatch = 300\nepochs = 1\ndata = [\"positions.parquet\"]\n{stages}");
        fs::write(folder.path().join("r.toml"), text).unwrap();
    };
    let tuned = |rest: &str| -> Value {
        serde_json::from_str(&done(folder.path(), &format!("tune --json --recipe r.toml {rest}"))).unwrap()
    };
    recipe("");
    let fitted = tuned("-o plain.nnue")["k"].as_f64().unwrap();
    for first in ["k = 5.0", "k = 5.0\n[[stage]]\nk = 4.0"] {
        recipe(&format!("[[stage]]\n{first}\n[[stage]]\n"));
        assert_eq!(tuned("--overwrite -o own.nnue")["k"].as_f64().unwrap(), fitted, "{first}");
    }
    // The checkpoint of the last stage goes on, whatever K the stage before it had.
    recipe("[[stage]]\n[[stage]]\nk = 3.0\n[[stage]]\n");
    assert_eq!(tuned("-o a.nnue")["k"].as_f64().unwrap(), fitted);
    let whole = fs::read(folder.path().join("a.nnue")).unwrap();
    fs::remove_file(folder.path().join("runs/a/result.json")).unwrap();
    assert_eq!(tuned("-o a.nnue --resume")["k"].as_f64().unwrap(), fitted);
    assert!(fs::read(folder.path().join("a.nnue")).unwrap() == whole);
}

#[test]
fn a_stream_trains_on_the_positions_that_were_asked_for() {
    let folder = folder();
    // Epochs of 1,999 positions are 19 batches of 100.
    let line = "positions.parquet --no-resolve --k 1 --validation 0 --batch 100 --set superbatch=1999";
    for (positions, epochs) in [(1_900, 1), (5_700, 3), (5_701, 4)] {
        assert_eq!(tuned(&folder, &format!("{line} --set positions={positions}"))["epochs"], epochs);
    }
}

/// The records of a file in Stockfish's plain text, without the scores of those that `stripped` picks by number.
fn without_scores(folder: &TempDir, name: &str, stripped: impl Fn(usize) -> bool) {
    let text = fs::read_to_string(folder.path().join("all.plain")).unwrap();
    let mut record = 0;
    let line = |line: &str| {
        let strips = line.starts_with("score ") && stripped(record);
        record += usize::from(line == "e");
        format!("{}\n", if strips { "score 32002" } else { line })
    };
    fs::write(folder.path().join(name), text.lines().map(line).collect::<String>()).unwrap();
}

#[test]
fn scores_of_leaves_are_never_mixed_with_scores_of_the_data() {
    let folder = folder();
    done(folder.path(), "data convert positions.parquet -o all.plain");
    without_scores(&folder, "none.plain", |_| true);
    without_scores(&folder, "some.plain", |record| record % 4 != 3);
    for (file, resolve, expected) in [
        ("none.plain", "", "take the score of their quiescence leaf (qsearch by default-hce)"),
        ("none.plain", "--no-resolve", "no position has a score: the result alone is the target"),
        ("some.plain", "", "positions have no score: the result alone is their target"),
    ] {
        for stream in ["", "--set superbatch=1000"] {
            let said = said(&folder, &format!("{file} --recipe default --validation 0 {resolve} {stream}"));
            assert!(said.contains(expected), "{file} {resolve} {stream}: {said}");
            let number = |before: &str| -> Option<u32> {
                let text = said.split(before).nth(1)?.split(' ').next()?;
                text.replace(',', "").parse().ok()
            };
            if file == "some.plain" {
                let all: u32 = number(" of ").unwrap();
                let fitted = number("fitted to ").unwrap();
                assert!(all / 8 < fitted && fitted < all / 2, "{said}");
                assert!(said.contains(&format!("{} of ", grouped((all - fitted).into()))), "{said}");
            }
        }
    }
}

#[test]
fn a_flag_that_a_stage_would_overrule_is_refused() {
    let folder = folder();
    let recipe = "hidden = 16\nbatch = 300\npositions = 9000\n[[stage]]\nwdl = 0.5\nepochs = 2\n[[stage]]\n";
    fs::write(folder.path().join("r.toml"), recipe).unwrap();
    let named =
        |flag: &str, key: &str| format!("{flag}: a stage of the recipe names `{key}`; change it there");
    for (line, reason) in [
        ("--wdl 0.3", named("--wdl", "wdl")),
        ("--set wdl=0.3", named("--set", "wdl")),
        ("--epochs 3", named("--epochs", "epochs")),
        ("--set positions=99", named("--set", "epochs")),
        ("--batch 100 --set batch=200", "--batch: not with --set batch".to_string()),
    ] {
        let said = fault(&folder, &format!("--recipe r.toml {line}"));
        assert!(said.contains(&reason), "{line}: {said}");
    }
    assert!(fault(&folder, "--epochs 3 --set positions=99").contains("--epochs: not with --set positions"));
    // Without stages a flag goes before the recipe, and what was written trains as long again.
    fs::write(folder.path().join("r.toml"), "hidden = 16\npositions = 9000\n").unwrap();
    assert_eq!(tuned(&folder, "--recipe r.toml --epochs 3")["epochs"], 3);
    let whole = tuned(&folder, "--recipe r.toml -o a.nnue")["epochs"].clone();
    assert!(whole.as_u64().unwrap() > 3);
    assert_eq!(tuned(&folder, "--recipe runs/a/recipe.toml -o b.nnue")["epochs"], whole);
}

#[test]
fn random_filters_draw_again_in_each_pass() {
    let folder = folder();
    let line = "tune positions.parquet --no-resolve --hidden 16 --k 1 --validation 0 --batch 100 --epochs 3 --filter";
    let trained = |filter: &str, threads: usize| {
        let line = format!("{line} {filter} -o a.nnue --threads {threads}");
        let output = patzer(folder.path(), &line.split_whitespace().collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        (fs::read(folder.path().join("a.nnue")).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    for streamed in ["", " --set superbatch=1000 --set buffer=500"] {
        let (network, text) = trained(&format!("random_skip{streamed}"), 1);
        assert!(text.contains("; random filters draw again in each pass"), "{text}");
        assert!(network == trained(&format!("random_skip{streamed}"), 2).0);
    }
    assert!(!trained("ply", 1).1.contains("draw again"));
}

#[test]
fn a_pass_that_draws_nothing_is_followed_by_the_next() {
    let folder = folder();
    let line = |fen| format!("{fen} KQkq - [0.5]\n");
    let lines =
        ["rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w", "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b"];
    fs::write(folder.path().join("tiny.epd"), lines.map(line).concat().repeat(3)).unwrap();
    let random = "--filter random_skip --filter-set random_skip.probability=0.8";
    for streamed in ["", "--set superbatch=10 --set buffer=10 --set batch=5"] {
        let result = tuned(
            &folder,
            &format!("tiny.epd --no-resolve --k 1 --validation 0 --epochs 60 {random} {streamed}"),
        );
        assert_eq!(result["epochs"], 60, "{result}");
    }
}

#[test]
fn a_recipe_takes_positions_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    done(dir, concat!("extract ", env!("CARGO_MANIFEST_DIR"), "/fixtures/engine.pgn.zst --sample 500"));
    std::fs::write(dir.join("plain.toml"), "hidden = 8\nepochs = 2\n").unwrap();
    std::fs::write(dir.join("whole.toml"), "hidden = 8\nepochs = 2\nresolve = false\n").unwrap();
    done(dir, "tune positions.parquet --recipe plain.toml --no-resolve -o flag.nnue");
    done(dir, "tune positions.parquet --recipe whole.toml -o recipe.nnue");
    done(dir, "tune positions.parquet --recipe plain.toml -o resolved.nnue");
    let bytes = |name: &str| std::fs::read(dir.join(name)).unwrap();
    assert!(bytes("flag.nnue") == bytes("recipe.nnue") && bytes("flag.nnue") != bytes("resolved.nnue"));
    let kept = |run: &str| std::fs::read_to_string(dir.join("runs").join(run).join("recipe.toml")).unwrap();
    assert!(kept("flag").contains("resolve = false") && !kept("resolved").contains("resolve"));
}
