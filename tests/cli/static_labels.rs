//! `patzer label --static` and `--verify`.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use patzer_chess::rng::mix;
use patzer_data::{AnyWriter, Dataset, Record, Target, flags};
use patzer_engine::leaf_search;
use patzer_eval::nnue::{Architecture, Network, Nnue};
use patzer_eval::{Evaluation, Evaluator, with_evaluator};
use serde_json::Value;
use tempfile::TempDir;

use crate::net_emit::random;
use crate::{done, error, patzer};

/// Positions of games.
fn folder(options: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let games = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/engine.pgn.zst");
    done(folder.path(), &format!("extract {} {options}", games.display()));
    folder
}

fn save(folder: &Path, name: &str, architecture: &Architecture, seed: u64) -> Network {
    let network = random(architecture, seed, 60);
    std::fs::write(folder.join(name), network.to_bytes()).unwrap();
    network
}

fn read(folder: &Path, name: &str) -> Vec<Record> {
    Dataset::open(&folder.join(name)).unwrap().read_all().unwrap()
}

fn bytes(folder: &Path, name: &str) -> Vec<u8> {
    std::fs::read(folder.join(name)).unwrap()
}

#[test]
fn every_position_gets_the_evaluation_of_its_own_board() {
    let folder = folder("--sample 3000 --seed 3");
    let here = folder.path();
    let head = Architecture { wdl_head: true, ..Architecture::plain(16) };
    let network = Arc::new(save(here, "wdl.nnue", &head, 1));
    save(here, "plain.nnue", &Architecture { mirror: true, psqt: true, ..Architecture::plain(24) }, 2);
    let before = read(here, "positions.parquet");
    for eval in ["wdl.nnue", "plain.nnue", "default", "default-hce"] {
        let said = done(here, &format!("label --static --eval {eval} -o {eval}.parquet"));
        assert!(said.contains("scored     3,000, 0 of them mates"), "{said}");
        let evaluation =
            Evaluation::embedded(eval).unwrap_or_else(|| Evaluation::load(&here.join(eval)).unwrap());
        let mut score: Box<dyn FnMut(&Record) -> i32> = with_evaluator!(&evaluation, mut evaluator => {
            Box::new(move |record| evaluator.evaluate(&record.position().unwrap(), 0))
        });
        for (before, after) in before.iter().zip(read(here, &format!("{eval}.parquet"))) {
            let expected = Record {
                score: Some(score(before) as i16),
                depth: Some(0),
                flags: before.flags & !(flags::MATE_SCORE | flags::PLACEHOLDER),
                wdl: after.wdl,
                ..*before
            };
            assert_eq!(after, expected, "{eval}");
            assert_eq!(after.wdl.is_some(), eval == "wdl.nnue");
        }
    }
    let mut nnue = Nnue::new(network);
    for record in read(here, "wdl.nnue.parquet") {
        let position = record.position().unwrap();
        let (_, chances) =
            nnue.evaluate_with_chances(shakmaty::Position::board(&position), record.halfmove, record.turn);
        let ([win, draw, _], wdl) = (chances.unwrap(), record.wdl.unwrap());
        assert!((1000.0 * win - f64::from(wdl.win)).abs() <= 0.5);
        assert!((1000.0 * draw - f64::from(wdl.draw)).abs() <= 1.0);
    }
    let metadata = Dataset::open(&here.join("default.parquet")).unwrap().metadata().clone();
    assert_eq!(metadata.teacher.as_deref(), Some("default, static"));
}

#[test]
fn resolved_scores_are_those_of_the_quiescence_search_and_checks_are_said() {
    let folder = folder("--sample 1000 --seed 4");
    let here = folder.path();
    let output = patzer(here, &["label", "--static"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("are in check, where a static evaluation says little; --resolve"), "{said}");
    let output = patzer(here, &["label", "--static", "--resolve", "-o", "resolved.parquet"]);
    assert!(!String::from_utf8(output.stderr).unwrap().contains("in check"));
    let mut search = leaf_search(&Evaluation::default_hce());
    let plain = read(here, "rescored.parquet");
    let mut other = 0;
    for (plain, resolved) in plain.iter().zip(read(here, "resolved.parquet")) {
        let score = search.quiescence_score(&resolved.position().unwrap());
        assert_eq!(resolved.score, Some(score as i16));
        other += u64::from(plain.score != resolved.score);
    }
    assert!((10..900).contains(&other), "{other}");
}

#[test]
fn threads_and_pieces_change_no_byte_and_teachers_are_not_mixed() {
    let folder = folder("");
    let here = folder.path();
    save(here, "a.nnue", &Architecture::plain(16), 1);
    save(here, "b.nnue", &Architecture::plain(16), 2);
    let run = |rest: &str| done(here, &format!("label --static {rest}"));
    run("--eval a.nnue --threads 1 -o one.parquet");
    run("--eval a.nnue --threads 3 -o three.parquet");
    let whole = bytes(here, "one.parquet");
    assert!(whole == bytes(here, "three.parquet"));
    for piece in 1..=3 {
        run(&format!("--eval a.nnue --shard {piece}/3 -o {piece}.parquet"));
    }
    done(here, "data merge 3.parquet 1.parquet 2.parquet");
    assert!(whole == bytes(here, "merged.parquet"));
    run("--eval b.nnue --shard 2/3 -o other.parquet");
    let mixed =
        patzer(here, &["data", "merge", "1.parquet", "other.parquet", "3.parquet", "-o", "m.parquet"]);
    assert!(error(&mixed).contains("other.parquet"), "{mixed:?}");
}

#[test]
fn killed_at_any_moment_and_resumed_it_is_the_dataset_of_an_uninterrupted_run() {
    let folder = folder("");
    let here = folder.path();
    save(here, "a.nnue", &Architecture::plain(512), 1);
    done(here, "label --static --eval a.nnue -o whole.parquet");
    let mut kills = 0;
    for attempt in 0.. {
        let mut command = crate::program();
        command.current_dir(here).args(["label", "--static", "--eval", "a.nnue", "-o", "cut.parquet"]);
        command.args(["--resume", "--threads", ["1", "2"][attempt as usize % 2]]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(mix(5, attempt) % (20_000 * (1 + attempt))));
        if !crate::kill(&mut child) {
            assert_eq!(child.wait().unwrap().code(), Some(0));
            break;
        }
        kills += 1;
    }
    assert!(kills > 1, "{kills}");
    assert!(bytes(here, "whole.parquet") == bytes(here, "cut.parquet"));
    assert!(!here.join("cut.parquet.journal").exists());
}

#[test]
fn a_sample_finds_the_one_shard_that_is_not_the_teachers() {
    let folder = folder("");
    let here = folder.path();
    save(here, "a.nnue", &Architecture::plain(16), 1);
    save(here, "b.nnue", &Architecture::plain(16), 2);
    let teacher = ["label", "--static", "--eval", "a.nnue"];
    for piece in 1..=10 {
        let shard = format!("{piece}/10");
        let output =
            patzer(here, &[&teacher[..], &["--shard", &shard, "-o", &format!("{piece}.parquet")]].concat());
        assert!(output.status.success(), "{output:?}");
    }
    // One in fifty scores is off by a centipawn.
    let dataset = Dataset::open(&here.join("7.parquet")).unwrap();
    let (metadata, mut records) = (dataset.metadata().clone(), dataset.read_all().unwrap());
    for record in records.iter_mut().step_by(50) {
        record.score = record.score.map(|score| score + 1);
    }
    let mut writer = AnyWriter::create(&here.join("7.parquet"), &Target::default(), &metadata).unwrap();
    writer.write_with(&records, None).unwrap();
    writer.finish().unwrap();
    for piece in 1..=10 {
        let name = format!("{piece}.parquet");
        let output = patzer(here, &[&teacher[..], &["--verify", "10%", &name, "--json"]].concat());
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        let (faulty, positions) = (piece == 7, found["positions"].as_u64().unwrap());
        assert!(positions * 9 <= found["of"].as_u64().unwrap() + 9 * 64, "{found}");
        assert_eq!(output.status.code(), Some(faulty.into()), "{name}: {found}");
        assert_eq!(found["differing"].as_u64().unwrap() > 0, faulty, "{found}");
    }
    let said = patzer(here, &[&teacher[..], &["--verify", "0.1", "7.parquet"]].concat());
    let said = String::from_utf8(said.stdout).unwrap();
    assert!(said.contains(" not as a.nnue (SHA-256 ") && said.contains(", the teacher "), "{said}");
    let other = patzer(here, &["label", "--static", "--eval", "b.nnue", "--verify", "0.1", "7.parquet"]);
    assert!(error(&other).contains("7.parquet: was labelled by a.nnue (SHA-256 "), "{other:?}");
    let unknown =
        patzer(here, &["label", "--static", "--eval", "b.nnue", "--verify", "0.1", "positions.parquet"]);
    assert!(error(&unknown).contains("names no teacher of its scores"), "{unknown:?}");
    for (share, says) in [("0", "share"), ("150%", "share"), ("x", "share")] {
        let refused = patzer(here, &[&teacher[..], &["--verify", share, "7.parquet"]].concat());
        assert_eq!(refused.status.code(), Some(1));
        assert!(String::from_utf8(refused.stderr).unwrap().contains(says));
    }
}

#[test]
fn scores_are_taken_from_files_and_the_teacher_answers_the_others() {
    let folder = folder("--sample 600 --seed 6");
    let here = folder.path();
    done(here, "label --static --eval default -o all.parquet");
    done(here, "data convert all.parquet -o half.parquet --filter nodraw");
    let (all, half) = (read(here, "all.parquet"), read(here, "half.parquet"));
    assert!(half.len() > 50 && half.len() < 550, "{}", half.len());
    let scores = |name: &str| read(here, name).iter().map(|record| record.score).collect::<Vec<_>>();
    let keys: std::collections::HashSet<u128> = half.iter().map(Record::key).collect();
    let known = |record: &Record| keys.contains(&record.key());
    let count = all.iter().filter(|record| known(record)).count();
    let result = done(here, "label --scores-from half.parquet --json");
    let result: Value = serde_json::from_str(&result).unwrap();
    assert_eq!([&result["joined"], &result["no_score"]], [count, 600 - count], "{result}");
    assert_eq!(result["teacher"], "scores of half.parquet");
    let expected: Vec<_> = all.iter().map(|record| record.score.filter(|_| known(record))).collect();
    assert_eq!(scores("rescored.parquet"), expected);
    let output = patzer(here, &["label", "--scores-from", "half.parquet", "-o", "silent.parquet"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!said.contains("in check"), "nothing is evaluated: {said}");
    // The teacher's unit is its own.
    done(here, "label --static --scores-from half.parquet --score-scale 0.5 -o both.parquet");
    done(here, "label --static --score-scale 0.5 -o hce.parquet");
    let both = scores("both.parquet");
    for ((record, both), other) in all.iter().zip(both).zip(scores("hce.parquet")) {
        assert_eq!(both, if known(record) { record.score } else { other });
    }
    for piece in 1..=2 {
        let shard = format!("--shard {piece}/2 -o {piece}.parquet");
        done(here, &format!("label --static --scores-from half.parquet --score-scale 0.5 {shard}"));
    }
    done(here, "data merge 1.parquet 2.parquet");
    assert!(bytes(here, "both.parquet") == bytes(here, "merged.parquet"));
    let none = patzer(here, &["label", "--scores-from", "none.parquet", "-o", "x.parquet"]);
    assert!(error(&none).contains("none.parquet"), "{none:?}");
}
