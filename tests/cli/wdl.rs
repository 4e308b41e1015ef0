//! `patzer wdl`.

use std::path::Path;
use std::process::Output;

use patzer::chess::{PackedBoard, PackedMove};
use patzer::eval::hce::{Hce, Weights};
use patzer::positions::{Leaf, Metadata, Sample, Writer};
use patzer::rng::Rng;
use shakmaty::{Chess, Color, Position};

use crate::patzer;

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn sample(position: &Chess, game: u32) -> Sample {
    Sample {
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
    }
}

/// Positions of random games with results drawn from K = 1.25 on the untuned evaluation.
fn samples(count: usize) -> Vec<Sample> {
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
        samples.push(Sample { result, score: Some(score), ..sample(&position, game) });
    }
    samples
}

fn write(path: &Path, samples: &[Sample], resolved: Option<&str>) {
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
    Weights::untuned().save(&folder.join("plain.hce.toml")).unwrap();
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
fn a_resolved_position_is_evaluated_at_its_leaf() {
    let folder = tempfile::tempdir().unwrap();
    let start = PackedBoard::pack(&Chess::default());
    let samples = samples(4_000);
    // The position itself says nothing; its leaf does. One leaf is a mate and has no static evaluation.
    let mut resolved: Vec<Sample> = (samples.iter())
        .map(|s| {
            let leaf = Some(Leaf { board: s.board, turn: s.turn, score: 0 });
            Sample { board: start, turn: Color::White, leaf, ..*s }
        })
        .collect();
    if let Some(leaf) = &mut resolved[0].leaf {
        leaf.score = -32_000;
    }
    write(&folder.path().join("labelled.parquet"), &resolved, Some("qsearch"));
    write(&folder.path().join("plain.parquet"), &samples[1..], None);
    Weights::untuned().save(&folder.path().join("w.hce.toml")).unwrap();
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
    let unscored: Vec<Sample> = samples(50).iter().map(|s| Sample { score: None, ..*s }).collect();
    let won: Vec<Sample> = samples(50).iter().map(|s| Sample { result: 1, ..*s }).collect();
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
        (&["wdl", "won.parquet", "--eval", "junk.hce.toml"], "junk.hce.toml: the term `material` is missing"),
    ] {
        let output = patzer(folder, args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(stderr(&output).contains(&format!("error: {reason}")), "{args:?}: {}", stderr(&output));
        assert!(output.stdout.is_empty());
    }
}
