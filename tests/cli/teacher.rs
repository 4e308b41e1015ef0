//! `patzer label --engine` and `--tb`.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use patzer_chess::rng::mix;
use patzer_chess::{Line, PackedMove};
use patzer_data::{Dataset, Record, Wdl, flags};
use serde_json::Value;
use shakmaty::Position;
use tempfile::TempDir;

use crate::mock::{self, is_hard, taught};
use crate::{done, patzer, rewritten};

/// Positions of games, and a few of Chess960 castling.
fn folder(positions: usize) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let games = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/engine.pgn.zst");
    done(folder.path(), &format!("extract {} --sample {positions} --seed 3", games.display()));
    folder
}

fn command(folder: &Path, engine: &str, rest: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_patzer"));
    command.current_dir(folder).env(mock::VARIABLE, "teacher").stdin(Stdio::null());
    command.args(["label", "--json", "--engine", &mock::command(engine)]).args(rest.split_whitespace());
    command
}

fn label(folder: &Path, engine: &str, rest: &str) -> Output {
    command(folder, engine, rest).output().unwrap()
}

fn labelled(folder: &Path, engine: &str, rest: &str) -> Value {
    let output = label(folder, engine, rest);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn read(folder: &Path, name: &str) -> Vec<Record> {
    Dataset::open(&folder.join(name)).unwrap().read_all().unwrap()
}

fn bytes(folder: &Path, name: &str) -> Vec<u8> {
    std::fs::read(folder.join(name)).unwrap()
}

fn error(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    text.lines().last().unwrap_or_default().to_string()
}

fn key(record: &Record) -> u64 {
    Line::new(record.position().unwrap()).key()
}

/// The move that the mock plays with the seed 0.
fn best(record: &Record) -> PackedMove {
    let position = record.position().unwrap();
    let moves = position.legal_moves();
    PackedMove::pack(moves[mix(0, key(record)) as usize % moves.len()])
}

#[test]
fn every_position_gets_the_answer_of_its_place_in_its_block() {
    let folder = folder(300);
    let said = labelled(folder.path(), "option.Seed=0", "--nodes 100 --block 8 --concurrency 3");
    let (before, after) = (read(folder.path(), "positions.parquet"), read(folder.path(), "rescored.parquet"));
    assert_eq!((before.len(), after.len()), (300, 300));
    for (row, (before, after)) in before.iter().zip(&after).enumerate() {
        let (score, depth, [win, draw]) = taught(key(before), row as u64 % 8);
        let expected = Record {
            score: Some(score as i16),
            depth: Some(depth as u8),
            best: best(before),
            wdl: Some(Wdl { win: win as u16, draw: draw as u16 }),
            flags: before.flags & !(flags::MATE_SCORE | flags::PLACEHOLDER),
            ..*before
        };
        assert_eq!(*after, expected, "row {row}");
    }
    for (count, value) in
        [("positions", 300), ("scored", 300), ("searched", 300), ("failed", 0), ("restarts", 0)]
    {
        assert_eq!(said[count], value, "{count}");
    }
    let metadata = Dataset::open(&folder.path().join("rescored.parquet")).unwrap().metadata().clone();
    let teacher = "Mock 1.0 (Seed=0), 100 nodes a move, ucinewgame every 8 positions";
    assert_eq!(metadata.teacher.as_deref(), Some(teacher));
    assert!(!folder.path().join("rescored.parquet.journal").exists());
}

#[test]
fn the_number_of_engines_changes_no_byte_and_pieces_merge_to_the_whole() {
    let folder = folder(300);
    let run = |rest: &str| labelled(folder.path(), "", &format!("--depth 3 --block 7 {rest}"));
    run("--concurrency 1 -o one.parquet");
    run("--concurrency 4 -o four.parquet");
    let whole = bytes(folder.path(), "one.parquet");
    assert!(whole == bytes(folder.path(), "four.parquet"));
    for piece in 1..=3 {
        run(&format!("--shard {piece}/3 -o {piece}.parquet"));
    }
    done(folder.path(), "data merge 3.parquet 1.parquet 2.parquet");
    assert!(whole == bytes(folder.path(), "merged.parquet"));
    let lacking = patzer(folder.path(), &["data", "merge", "1.parquet", "3.parquet"]);
    assert!(error(&lacking).contains("shard 2/3 is missing"), "{lacking:?}");
    // Another block is another memory of the engine.
    labelled(folder.path(), "", "--depth 3 --block 8 -o eight.parquet");
    assert!(read(folder.path(), "one.parquet") != read(folder.path(), "eight.parquet"));
}

#[test]
fn engines_that_misbehave_cost_a_position_at_most() {
    let folder = folder(120);
    let before = read(folder.path(), "positions.parquet");
    let hard = before.iter().filter(|record| is_hard(key(record))).count();
    assert!(hard > 2, "{hard}");
    // A fault at every hard position: its count, and how many restarts it takes.
    for (fault, count, restarts) in [
        ("crash", "failed", 2 * hard),
        ("silent", "no_score", 0),
        ("illegal", "no_move", 0),
        ("garbage", "", 0),
        ("flood", "failed", 2 * hard),
    ] {
        let mode = format!("option.Mode={fault}@0");
        let limits = "--nodes 9 --block 4 --stall-timeout 1 --overwrite --concurrency";
        let said = labelled(folder.path(), &mode, &format!("{limits} 3"));
        let after = read(folder.path(), "rescored.parquet");
        for (before, after) in before.iter().zip(&after) {
            let (score, depth) = (after.score.is_some(), after.depth.is_some());
            let hard = is_hard(key(before));
            let scored = !hard || matches!(fault, "illegal" | "garbage");
            assert_eq!((score, depth), (scored, scored), "{fault}");
            assert_eq!(after.played, before.played);
            let moved = !hard || matches!(fault, "silent" | "garbage");
            assert_eq!(after.best == best(before), moved, "{fault}");
        }
        for name in ["failed", "no_score", "no_move"] {
            assert_eq!(said[name], if name == count { hard } else { 0 }, "{fault}: {name}");
        }
        assert_eq!(said["restarts"], restarts, "{fault}");
        let three = bytes(folder.path(), "rescored.parquet");
        labelled(folder.path(), &mode, &format!("{limits} 1"));
        assert!(three == bytes(folder.path(), "rescored.parquet"), "{fault}");
    }
}

#[test]
fn a_crash_or_a_hang_that_does_not_happen_again_loses_nothing() {
    let folder = folder(40);
    labelled(folder.path(), "", "--nodes 9 --block 1 -o whole.parquet");
    for fault in ["crash", "hang"] {
        let mode = format!("option.Mode={fault}@11");
        let said = labelled(folder.path(), &mode, "--nodes 9 --block 1 --stall-timeout 1 --concurrency 1");
        // Every 11th search of a process; a restart begins the count again.
        assert_eq!((&said["restarts"], &said["failed"]), (&3.into(), &0.into()), "{fault}");
        assert!(read(folder.path(), "whole.parquet") == read(folder.path(), "rescored.parquet"), "{fault}");
    }
}

#[test]
fn answers_without_a_move_are_no_repeats_of_one_another() {
    let folder = folder(20);
    let limits = "--nodes 9 --stall-timeout 2 --concurrency 1";
    let said = labelled(folder.path(), "option.Mode=nothing", limits);
    for (count, value) in [("restarts", 0), ("failed", 0), ("no_score", 20)] {
        assert_eq!(said[count], value, "{count}: {said}");
    }
}

#[test]
fn an_engine_that_always_fails_ends_the_run_and_leaves_nothing() {
    let folder = folder(40);
    let output = label(folder.path(), "option.Mode=crash@1", "--nodes 9 --concurrency 1");
    let said = error(&output);
    assert!(said.contains("failed on 16 positions in a row") && said.contains("assertion failed"), "{said}");
    let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(files, ["positions.parquet"]);
}

#[test]
fn wrong_arguments_are_named() {
    let folder = folder(20);
    for (engine, rest, says) in [
        ("", "", "needs a limit"),
        ("option.Speed=3", "--nodes 5", "has no option `Speed`"),
        ("tc=1+1", "--nodes 5", "tc= is for games"),
        ("history=short", "--nodes 5", "history= is for games"),
        ("", "--nodes 5 -o -", "needs a file as its output"),
        ("", "--nodes 5 --score-scale 0", "for '--score-scale <FACTOR>': `0` is not a number above 0"),
        ("", "- --nodes 5", "cannot be read twice"),
    ] {
        let said = error(&label(folder.path(), engine, rest));
        assert!(said.contains(says), "{rest}: {said}");
    }
    let output = patzer(folder.path(), &["label", "--engine", "cmd=default", "--nodes", "5"]);
    assert!(error(&output).contains("is an evaluation, not a program"), "{output:?}");
}

#[test]
fn a_unit_of_scores_and_a_scale_are_said() {
    let folder = folder(200);
    labelled(folder.path(), "", "--nodes 9 -o one.parquet");
    let said = labelled(folder.path(), "", "--nodes 9 --score-scale 0.5 -o half.parquet");
    let (one, half) = (read(folder.path(), "one.parquet"), read(folder.path(), "half.parquet"));
    for (one, half) in one.iter().zip(&half) {
        assert_eq!(half.score.unwrap(), (f64::from(one.score.unwrap()) / 2.0).round() as i16);
    }
    // The mock's scores are random: no K, or hardly one.
    let k = said["scale"]["k"].as_f64();
    assert!(k.map_or(said["no_scale"].is_string(), |k| k < 0.5), "{said}");
}

/// Kills the run at growing random times until it ends by itself; returns the number of kills.
fn killed_until_done(folder: &Path, engine: &str, rest: &str) -> u32 {
    let mut kills = 0;
    for attempt in 0.. {
        let rest = format!("{rest} --resume --concurrency {}", 1 + attempt % 3);
        let mut command = command(folder, engine, &rest);
        let mut child: Child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(mix(5, attempt) % (30_000 * (1 + attempt))));
        if crate::kill(&mut child) {
            kills += 1;
            continue;
        }
        assert_eq!(child.wait().unwrap().code(), Some(0));
        break;
    }
    kills
}

#[test]
fn killed_at_any_moment_and_resumed_it_is_the_dataset_of_an_uninterrupted_run() {
    let folder = folder(400);
    let rest = "--nodes 9 --block 5";
    labelled(folder.path(), "", &format!("{rest} -o whole.parquet"));
    let kills = killed_until_done(folder.path(), "", &format!("{rest} -o cut.parquet"));
    assert!(kills >= 1);
    assert!(bytes(folder.path(), "whole.parquet") == bytes(folder.path(), "cut.parquet"));
}

#[test]
fn an_unfinished_run_goes_on_only_with_its_own_settings() {
    let folder = folder(60);
    // The engine hangs, so that there is time to kill the run.
    let mut command = command(folder.path(), "option.Mode=hang@20", "--nodes 9 --block 4 --concurrency 1");
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let journal = folder.path().join("rescored.parquet.journal");
    let answers = |text: Vec<u8>| text.iter().position(|&byte| byte == b'\n').map(|line| text.len() - line);
    while std::fs::read(&journal).ok().and_then(answers).is_none_or(|length| length < 100) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(crate::kill(&mut child));
    for (engine, rest, says) in [
        ("option.Mode=hang@20", "--nodes 9 --block 4", "--resume goes on with it, --overwrite starts over"),
        ("option.Mode=hang@20", "--nodes 8 --block 4 --resume", "engine limit nodes was 9 and is now 8"),
        ("option.Mode=hang@20", "--nodes 9 --block 5 --resume", "block was 4 and is now 5"),
        ("option.Seed=1", "--nodes 9 --block 4 --resume", "engine settings program options was"),
        (
            "option.Mode=hang@20",
            "--nodes 9 --block 4 --shard 1/2 --resume",
            "shard index was nothing and is now 0",
        ),
    ] {
        let said = error(&label(folder.path(), engine, rest));
        assert!(said.contains("rescored.parquet.journal") && said.contains(says), "{says}: {said}");
    }
    // Other positions of the same number.
    done(folder.path(), "data shuffle positions.parquet -o other.parquet");
    let said =
        error(&label(folder.path(), "option.Mode=hang@20", "other.parquet --nodes 9 --block 4 --resume"));
    assert!(said.contains("other.parquet: has other positions"), "{said}");
    let resumed = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_patzer"));
        command.current_dir(folder.path()).env(mock::VARIABLE, "teacher").stdin(Stdio::null());
        command.args(["label", "--resume", "--stall-timeout", "1", "--json"]).args(more).output().unwrap()
    };
    assert!(error(&resumed(&["-o", "none.parquet"])).contains("has no unfinished run to resume"));
    let bytes = std::fs::read(&journal).unwrap();
    let (end, signed) = (bytes.iter().position(|&byte| byte == b'\n').unwrap(), b"\"signature\":\"");
    let at = bytes[..end].windows(signed.len()).position(|text| text == signed).unwrap() + signed.len();
    let mut foreign = bytes.clone();
    foreign[at] = if foreign[at] == b'0' { b'1' } else { b'0' };
    std::fs::write(&journal, foreign).unwrap();
    assert!(error(&resumed(&[])).contains("not written by this user"));
    std::fs::write(&journal, bytes).unwrap();
    let said = resumed(&[]);
    let said: Value = serde_json::from_slice(&said.stdout).unwrap();
    assert!(said["searched"].as_u64().unwrap() < 60 && said["positions"] == 60);
}

#[test]
fn the_bundled_engine_as_a_teacher_gives_its_own_scores() {
    let folder = folder(120);
    let engine = format!("cmd={} args=uci option.Hash=1", env!("CARGO_BIN_EXE_patzer"));
    let args = ["label", "--engine", &engine, "--depth", "4", "--block", "1"];
    let output = patzer(folder.path(), &args);
    assert!(output.status.success(), "{output:?}");
    done(folder.path(), "label --eval default --depth 4 --rescore");
    let (own, taught) = (read(folder.path(), "labelled.parquet"), read(folder.path(), "rescored.parquet"));
    for (own, taught) in own.iter().zip(&taught) {
        assert_eq!((own.score, own.depth), (taught.score, taught.depth));
    }
}

/// A game that White wins by the tables and draws in fact.
const ENDGAME: &str = "[FEN \"4k3/8/4K3/4P2p/8/8/8/8 b - - 0 60\"]\n[Result \"1/2-1/2\"]\n\n\
    60... h4 {+0.10/9} 61. Kd6 {+0.10/9} h3 {+0.10/9} 62. e6 {+0.10/9} h2 {+0.10/9} 63. e7 {+0.10/9} \
    h1=Q {+0.10/9} 64. Ke6 {+0.10/9} Qh6+ {+0.10/9} 65. Kd5 {0.00/9} Kxe7 {0.00/9} 66. Kc5 {0.00/9} 1/2-1/2\n";

#[test]
fn endgame_tables_correct_results_and_scores_and_games_before_them() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("games.pgn"), ENDGAME).unwrap();
    done(folder.path(), "extract games.pgn");
    let tables = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/syzygy");
    let said = done(folder.path(), &format!("label --tb {tables}"));
    let after = read(folder.path(), "rescored.parquet");
    let before = read(folder.path(), "positions.parquet");
    // Only the last position has three pieces: White to move, a queen down.
    let (last, earlier) = after.split_last().unwrap();
    assert_eq!((last.result, last.score, last.depth), (-1, Some(-20_000), None));
    assert!(earlier == &before[..before.len() - 1]);
    assert!(said.contains("1 positions decided, 1 scores corrected"), "{said}");
    assert!(said.contains("results of these: 1/2-1/2 → 0-1 1"), "{said}");
    let said = done(folder.path(), &format!("label --tb {tables} --tb-game"));
    let all = read(folder.path(), "rescored.parquet");
    assert!(all.iter().all(|record| record.result == -1));
    assert!(all.iter().zip(&after).all(|(all, after)| all.score == after.score));
    let count = format!("results of earlier positions: 1/2-1/2 → 0-1 {}", before.len() - 1);
    assert!(said.contains(&count), "{said}");
    let metadata = Dataset::open(&folder.path().join("rescored.parquet")).unwrap().metadata().clone();
    assert_eq!(metadata.steps, ["Syzygy tables: 5 files, up to 3 pieces, results of games too"]);
    // After a teacher, the tables have the last word.
    labelled(folder.path(), "", &format!("--nodes 5 --tb {tables} -o both.parquet"));
    let both = read(folder.path(), "both.parquet");
    assert_eq!(both.last().unwrap().score, Some(-20_000));
    assert_eq!(both.last().unwrap().wdl, Some(Wdl { win: 0, draw: 0 }));
    assert_eq!(both[0].score, Some(taught(key(&both[0]), 0).0 as i16));
}

#[test]
fn unknown_columns_stay_with_their_positions() {
    let folder = tempfile::tempdir().unwrap();
    let file = rewritten::fixture("extra.parquet");
    for shard in [1, 2] {
        let rest = format!("{} --nodes 10 --block 16 --shard {shard}/2 -o {shard}.parquet", file.display());
        labelled(folder.path(), "", &rest);
    }
    done(folder.path(), "data merge 1.parquet 2.parquet -o both.parquet");
    assert_eq!(rewritten::extra(&folder.path().join("both.parquet")), rewritten::extra(&file));
}
