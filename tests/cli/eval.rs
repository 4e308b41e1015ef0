//! `patzer eval`.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn eval(args: &[&str]) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let output = Command::new(env!("CARGO_BIN_EXE_patzer"))
        .arg("eval")
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&eval(&[args, &["--json"]].concat())).unwrap()
}

#[test]
fn the_parts_are_those_of_both_sides_and_mirror_each_other() {
    let fen = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3";
    let mirrored = "rnbqkb1r/pppp1ppp/5n2/4p3/4P3/2N5/PPPP1PPP/R1BQKBNR b KQkq - 2 3";
    for evaluation in ["default-hce", "untuned-hce", "default"] {
        let [ours, theirs] = [fen, mirrored].map(|fen| json(&[fen, "--eval", evaluation]));
        // From the side to move it is the same position; from White's side the sign turns.
        assert_eq!(ours["score"], theirs["score"], "{evaluation}");
        assert_eq!(ours["white"].as_i64().unwrap(), -theirs["white"].as_i64().unwrap(), "{evaluation}");
        if let Some(terms) = ours["parts"]["terms"].as_array() {
            for (a, b) in terms.iter().zip(theirs["parts"]["terms"].as_array().unwrap()) {
                assert_eq!((&a["white"], &a["black"]), (&b["black"], &b["white"]), "{evaluation}");
            }
        }
    }
}

#[test]
fn the_terms_of_the_start_position_cancel_but_for_the_tempo() {
    let parts = json(&["--eval", "default-hce"]);
    for term in parts["parts"]["terms"].as_array().unwrap() {
        let equal = term["white"] == term["black"];
        assert!(equal || term["term"] == "tempo", "{term}");
    }
}

#[test]
fn the_sums_tapered_are_the_evaluation() {
    let fen = "r1bqkb1r/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQ1RK1 w kq - 2 3";
    let result = json(&[fen, "--eval", "default-hce"]);
    let parts = &result["parts"];
    let sum = |half: usize| -> i64 {
        let of = |term: &Value| term["white"][half].as_i64().unwrap() - term["black"][half].as_i64().unwrap();
        parts["terms"].as_array().unwrap().iter().map(of).sum()
    };
    let [phase, scale] = ["phase", "scale"].map(|key| parts[key].as_i64().unwrap());
    let expected = (sum(0) * phase * 64 + sum(1) * (24 - phase) * scale) / (24 * 64);
    assert_eq!(result["white"].as_i64().unwrap(), expected, "{result}");
    let text = eval(&[fen, "--eval", "default-hce"]);
    assert!(text.contains("king") && text.contains("midgame counts"), "{text}");
}

#[test]
fn a_network_tells_what_each_piece_is_worth() {
    let text = eval(&["4k3/8/8/8/8/8/8/QR2K3 w - - 0 1"]);
    assert!(text.contains('Q') && text.contains('R') && text.contains("centipawns for White"), "{text}");
    let parts = json(&["4k3/8/8/8/8/8/8/QR2K3 w - - 0 1"]);
    let pieces = parts["parts"]["pieces"].as_array().unwrap();
    // Kings cannot be taken off.
    assert_eq!(pieces.len(), 2);
    assert!(pieces.iter().all(|piece| piece["worth"].as_i64().unwrap() > 0), "{parts}");
    // Exactly one output bucket counts, and it says what the network says.
    let buckets = parts["parts"]["buckets"].as_array().unwrap();
    let used: Vec<&Value> = buckets.iter().filter(|bucket| bucket["used"] == true).collect();
    assert_eq!((used.len(), &used[0]["white"]), (1, &parts["white"]), "{parts}");
}

#[test]
fn a_term_that_a_weights_file_lacks_counts_as_nothing_and_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let weights = patzer_eval::hce::Weights::default().to_toml();
    let (head, _) = weights.split_once("[tempo]").unwrap();
    std::fs::write(folder.path().join("old.hce.toml"), head).unwrap();
    let output = crate::patzer(folder.path(), &["eval", "--eval", "old.hce.toml"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let warning = "warning: old.hce.toml: tempo is missing and counts as 0";
    assert!(said.contains(warning), "{said}");
    for args in [
        "match old.hce.toml untuned-hce --games 2 --nodes 20 --max-moves 3 -o m.pgn",
        "selfplay old.hce.toml --games 1 --nodes 20 --max-moves 3 -o s.pgn",
    ] {
        let output = crate::patzer(folder.path(), &args.split_whitespace().collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(warning), "{args}: {output:?}");
    }
}
