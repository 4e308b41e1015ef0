//! `patzer wdl`.

use std::path::Path;
use std::process::Output;

use patzer_chess::rng::Rng;
use patzer_chess::{Line, PackedBoard, PackedMove};
use patzer_data::{Leaf, Metadata, Record, Writer};
use patzer_eval::hce::{Hce, Weights};
use patzer_fit::wdl::WdlModel;
use shakmaty::san::San;
use shakmaty::{Chess, Color, Position};

use crate::{mock, patzer};

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn sample(position: &Chess, game: u32) -> Record {
    Record {
        board: PackedBoard::pack(position),
        turn: position.turn(),
        ep: 255,
        halfmove: 0,
        fullmove: 1,
        ply: 0,
        game,
        result: 0,
        score: None,
        depth: None,
        played: PackedMove::NONE,
        flags: 0,
        to_capture: 255,
        to_check: 255,
        to_end: 255,
        leaf: None,
        mean: None,
        best: PackedMove::NONE,
        wdl: None,
    }
}

/// Positions of random games with results drawn from K = 1.25 on the untuned evaluation.
fn samples(count: usize) -> Vec<Record> {
    let hce = Hce::new(std::sync::Arc::new(Weights::untuned()));
    let mut rng = Rng::new(11);
    let mut samples = Vec::new();
    let (mut position, mut ply) = (Chess::default(), 0);
    while samples.len() < count {
        let moves = position.legal_moves();
        if moves.is_empty() || ply == 100 {
            (position, ply) = (Chess::default(), 0);
            continue;
        }
        position.play_unchecked(moves[rng.below(moves.len())]);
        ply += 1;
        let cp = hce.white(position.board(), position.turn());
        let expected = 1.0 / (1.0 + (-1.25 * f64::from(cp) / 400.0).exp());
        let result = if rng.unit() < expected { 1 } else { -1 };
        let score = position.turn().fold_wb(cp, -cp) as i16;
        let game = samples.len() as u32;
        samples.push(Record { result, score: Some(score), ..sample(&position, game) });
    }
    samples
}

fn write(path: &Path, samples: &[Record], resolved: Option<&str>) {
    let metadata = Metadata { resolved: resolved.map(str::to_string), ..Metadata::default() };
    let mut writer = Writer::create(path, metadata).unwrap();
    writer.write(samples).unwrap();
    writer.finish().unwrap();
}

fn json(output: &Output) -> serde_json::Value {
    assert!(output.status.success(), "{}", stderr(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn k_is_found_for_weights_and_for_stored_scores() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(&folder.join("positions.parquet"), &samples(6_000), None);
    std::fs::write(folder.join("plain.hce.toml"), Weights::untuned().to_toml()).unwrap();
    let by_eval = patzer(folder, &["wdl", "--json", "--eval", "plain.hce.toml"]);
    assert!(stderr(&by_eval).contains("not resolved"), "{}", stderr(&by_eval));
    let by_eval = json(&by_eval);
    let by_score = json(&patzer(folder, &["wdl", "--json", "--score", "--threads", "1"]));
    let k = by_eval["k"].as_f64().unwrap();
    let error = by_eval["k_error"].as_f64().unwrap();
    assert!((k - 1.25).abs() < 4.0 * error && error < 0.1, "{k} ± {error}");
    assert_eq!(by_eval["k"], by_score["k"]);
    assert_eq!(by_eval["loss"], by_score["loss"]);
    assert_eq!(by_eval["positions"], 6_000);
    let text = patzer(folder, &["wdl", "--score"]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains(&format!("K     {k:.4} ± ")), "{text}");
    assert!(text.contains("-50 to 50"), "{text}");
}

#[test]
fn every_format_of_positions_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let with_draws = samples(3_000).into_iter().enumerate();
    let with_draws = with_draws.map(|(i, s)| if i % 3 == 0 { Record { result: 0, ..s } } else { s });
    write(&folder.join("positions.parquet"), &with_draws.collect::<Vec<_>>(), None);
    let run = |file: &str, args: &[&str]| {
        json(&patzer(folder, &[&["wdl", file, "--json", "--threads", "2"], args].concat()))
    };
    for (file, options) in
        [("x.csv", &[][..]), ("x.bullet", &[]), ("x.epd.gz", &["--no-score", "0"]), ("x.txt", &[])]
    {
        let convert = [&["data", "convert", "positions.parquet", "-o", file], options].concat();
        let output = patzer(folder, &convert);
        assert!(output.status.success(), "{file}: {}", stderr(&output));
        let k = |file: &str| run(file, &["--eval", "untuned-hce"])["k"].as_f64().unwrap();
        // Bullet's boards are the side to move's, so that sums of White's scores round otherwise.
        assert!((k(file) - k("positions.parquet")).abs() < 1e-6, "{file}");
        // Only CSV has a column of games.
        let output = patzer(folder, &["wdl", file]);
        let (text, apart) = (String::from_utf8_lossy(&output.stdout), file != "x.csv");
        assert_eq!(text.contains("positions taken as independent"), apart, "{file}: {text}");
        assert_eq!(text.contains("one observation a game"), !apart, "{file}: {text}");
        assert_eq!(stderr(&output).contains("too small"), apart, "{file}: {}", stderr(&output));
        assert_eq!(run(file, &[])["independent_positions"], apart, "{file}");
    }
    assert_eq!(run("x.csv", &["--score"]), run("positions.parquet", &["--score"]));
    let model = |file: &str| {
        let args = ["wdl", "model", file, "--json", "--min-count", "1", "--material", "0..78"];
        json(&patzer(folder, &args))
    };
    assert_eq!(model("x.csv"), model("positions.parquet"));
    // Games in a file whose name says text with positions.
    games(folder, "games.txt", 50, 1);
    assert_eq!(run("games.txt", &[])["source"], "scores of the games");
    let output = patzer(folder, &["data", "convert", "games.txt", "-o", "y.csv"]);
    assert!(stderr(&output).contains("games.txt: holds games in PGN, not positions"), "{}", stderr(&output));
}

#[test]
fn a_resolved_position_is_evaluated_at_its_leaf() {
    let folder = tempfile::tempdir().unwrap();
    let start = PackedBoard::pack(&Chess::default());
    let samples = samples(4_000);
    // The position itself says nothing; its leaf does. One leaf is a mate and has no static evaluation.
    let mut resolved: Vec<Record> = (samples.iter())
        .map(|s| {
            let leaf = Some(Leaf { board: s.board, turn: s.turn, score: 0 });
            Record { board: start, turn: Color::White, leaf, ..*s }
        })
        .collect();
    if let Some(leaf) = &mut resolved[0].leaf {
        leaf.score = -32_000;
    }
    write(&folder.path().join("labelled.parquet"), &resolved, Some("qsearch"));
    write(&folder.path().join("plain.parquet"), &samples[1..], None);
    std::fs::write(folder.path().join("w.hce.toml"), Weights::untuned().to_toml()).unwrap();
    let leaves = json(&patzer(folder.path(), &["wdl", "--json", "--eval", "w.hce.toml"]));
    let plain = json(&patzer(folder.path(), &["wdl", "plain.parquet", "--json", "--eval", "w.hce.toml"]));
    assert_eq!(leaves["resolved"], "qsearch");
    assert_eq!(leaves["positions"], 3_999);
    assert_eq!(leaves["left_out"], 1);
    assert_eq!(leaves["k"], plain["k"]);
}

#[test]
fn data_without_a_k_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let unscored: Vec<Record> = samples(50).iter().map(|s| Record { score: None, ..*s }).collect();
    let won: Vec<Record> = samples(50).iter().map(|s| Record { result: 1, ..*s }).collect();
    write(&folder.join("unscored.parquet"), &unscored, None);
    write(&folder.join("won.parquet"), &won, None);
    write(&folder.join("nothing.parquet"), &[], None);
    std::fs::write(folder.join("empty.parquet"), b"").unwrap();
    std::fs::write(folder.join("junk.hce.toml"), b"version = 1\nk = 1.0\n").unwrap();
    for (args, reason) in [
        (&["wdl", "unscored.parquet", "--score"][..], "unscored.parquet: none of its positions has a score"),
        (&["wdl", "won.parquet", "--score"], "won.parquet: all results are equal"),
        (&["wdl", "nothing.parquet"], "nothing.parquet: holds no positions"),
        (&["wdl", "empty.parquet"], "empty.parquet: is empty"),
        (&["wdl"], "no positions.parquet or labelled.parquet here"),
        (&["wdl", "won.parquet", "--eval", "no.hce.toml"], "no.hce.toml: no such file"),
        (
            &["wdl", "won.parquet", "--eval", "junk.hce.toml"],
            "junk.hce.toml: names no term of the evaluation",
        ),
    ] {
        let output = patzer(folder, args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(stderr(&output).contains(&format!("error: {reason}")), "{args:?}: {}", stderr(&output));
        assert!(output.stdout.is_empty());
    }
}

/// Games whose comments hold scores drawn with their results from a known model, in the dialect of cutechess; the
/// moves are a shuffle of knights, so that the material stays 78.
fn games(folder: &Path, name: &str, count: usize, seed: u64) {
    let moves = ["Nf3", "Nf6", "Ng1", "Ng8"];
    let mut rng = Rng::new(seed);
    let mut text = String::new();
    for _ in 0..count {
        let white: i32 = rng.below(601) as i32 - 300;
        let [win, draw] = {
            let chance = |cp: i32| 1.0 / (1.0 + ((120.0 - f64::from(cp)) / 50.0).exp());
            [chance(white), 1.0 - chance(white) - chance(-white)]
        };
        let u = rng.unit();
        let result = if u < win {
            "1-0"
        } else if u < win + draw {
            "1/2-1/2"
        } else {
            "0-1"
        };
        text += &format!("[White \"a\"]\n[Black \"b\"]\n[Result \"{result}\"]\n\n");
        for (ply, san) in moves.iter().cycle().take(8).enumerate() {
            let cp = if ply % 2 == 0 { white } else { -white };
            let sign = if cp < 0 { '-' } else { '+' };
            text += &format!("{san} {{{sign}{}.{:02}/9 1s}} ", cp.abs() / 100, cp.abs() % 100);
        }
        text += &format!("{result}\n\n");
    }
    std::fs::write(folder.join(name), text).unwrap();
}

#[test]
fn the_model_is_found_from_the_comments_of_games() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    games(folder, "games.pgn", 4_000, 1);
    let v = json(&patzer(folder, &["wdl", "model", "--json", "games.pgn", "--by", "move", "--svg", "plots"]));
    let number = |key: &str| v[key].as_f64().unwrap();
    assert_eq!((v["games"].as_u64(), v["positions"].as_u64()), (Some(4_000), Some(32_000)));
    assert!((number("normalize_to_pawn_value") - 120.0).abs() < 5.0, "{v}");
    assert!((number("spread") - 50.0).abs() < 4.0, "{v}");
    assert_eq!(v["move_target"], 32.0);
    assert_eq!(v["a"].as_array().unwrap().len(), 4);
    for name in ["parameters", "curves", "win", "draw"] {
        let svg = std::fs::read_to_string(folder.join(format!("plots/wdl-{name}.svg"))).unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{name}");
    }
    // The scores give K without an option.
    let k = json(&patzer(folder, &["wdl", "--json", "games.pgn", "--svg", "plots"]));
    assert_eq!((k["positions"].as_u64(), k["source"].as_str()), (Some(32_000), Some("scores of the games")));
    assert!(folder.join("plots/k.svg").exists());
}

#[test]
fn an_engines_own_chances_are_compared_with_the_model() {
    let folder = tempfile::tempdir().unwrap();
    games(folder.path(), "games.pgn", 4_000, 1);
    // The mock's scores reach further than those of the games, so one game does too.
    let path = folder.path().join("games.pgn");
    let far = "[Result \"1-0\"]\n\nNf3 {+9.95/9 1s} Nf6 {-9.95/9 1s} 1-0\n\n";
    std::fs::write(&path, std::fs::read_to_string(&path).unwrap() + far).unwrap();
    let run = |engine: &str, start: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_patzer"));
        command.current_dir(folder.path()).env(mock::VARIABLE, start);
        command.args(["wdl", "model", "--json", "games.pgn", "--max-score", "1000", "--engine", engine]);
        command.output().unwrap()
    };
    let v = json(&run(&mock::command(""), "teacher"));
    let list = |key: &str| -> [f64; 4] { std::array::from_fn(|i| v[key][i].as_f64().unwrap()) };
    let model = WdlModel { a: list("a"), b: list("b"), target: 58.0 };
    // The four positions of the knights' shuffle, as the mock scores them.
    let (mut position, mut off, mut left_out) = (Chess::default(), Vec::new(), 0);
    for san in ["Nf3", "Nf6", "Ng1", "Ng8"] {
        let (score, _, [win, draw]) = mock::taught(Line::new(position.clone()).key(), 0);
        if score.abs() <= 995 {
            let [w, d, _] = model.chances(78.0, f64::from(score));
            off.push([f64::from(win) / 10.0 - 100.0 * w, f64::from(draw) / 10.0 - 100.0 * d]);
        } else {
            left_out += 1;
        }
        let played = san.parse::<San>().unwrap().to_move(&position).unwrap();
        position.play_unchecked(played);
    }
    let check = &v["check"];
    assert_eq!(
        (check["positions"].as_u64(), check["left_out"].as_u64()),
        (Some(off.len() as u64), Some(left_out))
    );
    assert!(!off.is_empty());
    for i in 0..2 {
        let mean = off.iter().map(|off| off[i]).sum::<f64>() / off.len() as f64;
        assert!((check["mean"][i].as_f64().unwrap() - mean).abs() < 1e-6, "{check} {mean}");
    }
    let silent = stderr(&run(&mock::command(""), "player"));
    assert!(silent.contains("shows no wins, draws and losses (UCI_ShowWDL)"), "{silent}");
    let mute = run(&mock::command("option.Mode=mute"), "player");
    assert_eq!(mute.status.code(), Some(1));
    assert!(stderr(&mute).contains("none of 4 positions got a score"), "{}", stderr(&mute));
    assert!(stderr(&run("default-hce", "")).contains("is an evaluation, not a program"));
}

#[test]
fn shards_and_threads_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    games(folder, "a.pgn", 900, 1);
    games(folder, "b.pgn", 1_100, 2);
    let whole = patzer(folder, &["wdl", "model", "--json", "a.pgn", "b.pgn", "--histogram", "ab.json"]);
    let alone = patzer(folder, &["wdl", "model", "--json", "b.pgn", "a.pgn", "--threads", "1"]);
    assert_eq!(json(&whole), json(&alone));
    for shard in ["a", "b"] {
        let (games, out) = (format!("{shard}.pgn"), format!("{shard}.json"));
        json(&patzer(folder, &["wdl", "model", "--json", &games, "--histogram", &out]));
    }
    let args =
        ["wdl", "model", "--json", "--merge", "a.json", "--merge", "b.json", "--histogram", "sum.json"];
    let merged = json(&patzer(folder, &args));
    let whole = json(&whole);
    for key in ["a", "b", "objective", "positions", "wins", "draws", "losses"] {
        assert_eq!(merged[key], whole[key], "{key}");
    }
    let read = |name| std::fs::read(folder.join(name)).unwrap();
    assert_eq!(read("sum.json"), read("ab.json"));
    // Half of it as a dataset, half as games.
    json(&patzer(folder, &["extract", "a.pgn", "-o", "a.parquet", "--json"]));
    let mixed = json(&patzer(folder, &["wdl", "model", "--json", "a.parquet", "b.pgn"]));
    assert_eq!((&mixed["a"], &mixed["objective"]), (&whole["a"], &whole["objective"]));
}

#[test]
fn a_broken_game_is_named_and_takes_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    games(folder, "good.pgn", 500, 3);
    let good = std::fs::read_to_string(folder.join("good.pgn")).unwrap();
    let half = good[good.len() / 2..].find("[White").unwrap() + good.len() / 2;
    let broken = "[White \"a\"]\n[Result \"1-0\"]\n\n1. e4 {+0.30/9\n1s} Ke4 {+0.30/9 1s} 1-0\n\n";
    std::fs::write(folder.join("bad.pgn"), format!("{}{broken}{}", &good[..half], &good[half..])).unwrap();
    let bad = patzer(folder, &["wdl", "model", "--json", "bad.pgn"]);
    assert!(stderr(&bad).contains("warning: bad.pgn: game "), "{}", stderr(&bad));
    let (bad, good) = (json(&bad), json(&patzer(folder, &["wdl", "model", "--json", "good.pgn"])));
    assert_eq!(
        (&bad["games"], &bad["games_bad"], &bad["dropped"]["bad_game"]),
        (&501.into(), &1.into(), &1.into())
    );
    for key in ["a", "b", "objective", "positions"] {
        assert_eq!(bad[key], good[key], "{key}");
    }
}

#[test]
fn what_the_model_cannot_use_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    games(folder, "games.pgn", 300, 4);
    std::fs::write(folder.join("unscored.pgn"), "[Result \"1-0\"]\n\n1. e4 e5 1-0\n").unwrap();
    std::fs::write(folder.join("bad.json"), "{\"x\": 1}").unwrap();
    for (args, reason) in [
        (&["unscored.pgn"][..], "unscored.pgn: there are no scored positions"),
        (&["no.pgn"], "no.pgn: no such file"),
        (
            &["games.pgn", "--material", "80..90"],
            "games.pgn: there are no scored positions within the bounds",
        ),
        (&["games.pgn", "--moves", "9..1"], "invalid value '9..1' for '--moves <A..B>'"),
        (&["games.pgn", "--normalized-by", "1,2"], "--normalized-by takes one number or four"),
        (&["--merge", "bad.json"], "bad.json: is no histogram of scores"),
        (
            &["--merge", "bad.json", "--merge", "./bad.json"],
            "./bad.json: has the games of bad.json, which would",
        ),
    ] {
        let output = patzer(folder, &[&["wdl", "model"], args].concat());
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        let text = stderr(&output);
        assert!(text.contains(&format!("error: {reason}")) && text.lines().count() == 1, "{args:?}: {text}");
    }
    write(&folder.join("positions.parquet"), &samples(10), None);
    for option in ["--player", "--exclude-termination"] {
        for files in [&["positions.parquet"][..], &["games.pgn", "positions.parquet"]] {
            let output = patzer(folder, &[&["wdl", "--score", option, "none"], files].concat());
            let text = stderr(&output);
            assert!(
                text.contains(&format!("error: {option}: only games")) && text.contains(".parquet"),
                "{text}"
            );
        }
    }
    let output = patzer(folder, &["wdl", "games.pgn", "--eval", "default-hce"]);
    assert!(stderr(&output).contains("games.pgn: holds games"), "{}", stderr(&output));
}
