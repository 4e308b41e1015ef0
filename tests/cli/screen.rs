//! `patzer screen`: factors of options and of builds, decisions, resumption, figures, simulation.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::{done, kill, patzer};

const FACTORS: &str = "# switches of the search, a range and an interaction\n\
    null: null_depth=1000\n\
    killers: killers=1>0\n\
    history: bonus_slope=0, threats=0\n\
    null*killers\n\
    rfp: rfp_margin=40..90..150\n";

const LIMITS: &str = "--nodes 100 --max-moves 30 --hash 1 --pairs 4";

fn timeless(text: &str) -> Value {
    let mut value: Value = serde_json::from_str(text).unwrap();
    value.as_object_mut().unwrap().remove("games_per_second");
    value
}

fn refused(at: &Path, line: &str, says: &str) {
    let output = patzer(at, &line.split_whitespace().collect::<Vec<_>>());
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && text.contains(says), "{line}: {text}");
    assert_eq!(text.trim().lines().count(), 1, "{line}: {text}");
}

#[test]
fn a_screen_is_the_same_for_any_number_of_boards_and_after_kills() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("factors.txt"), FACTORS).unwrap();
    let line = format!("screen default --options factors.txt {LIMITS} --games 120");
    let whole = timeless(&done(at, &format!("{line} --json -q -o whole.pgn")));
    let boards = timeless(&done(at, &format!("{line} --concurrency 4 --json -q -o boards.pgn")));
    let games = |name: &str| fs::read_to_string(at.join(name)).unwrap();
    assert_eq!(whole, boards);
    assert!(games("whole.pgn") == games("boards.pgn"), "the games differ");
    let mut first = line.as_str();
    let mut kills = 0;
    for pairs in [3, 17, 40] {
        let mut command = crate::program();
        command.current_dir(at).args(first.split_whitespace()).args(["--resume", "-q"]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        while child.try_wait().unwrap().is_none()
            && fs::read_to_string(at.join("screen.journal")).unwrap_or_default().lines().count() <= pairs
        {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        kills += usize::from(kill(&mut child));
        first = "screen";
    }
    assert!(kills >= 2, "{kills}");
    assert_eq!(timeless(&done(at, "screen --resume --json -q")), whole);
    assert!(games("screen.pgn") == games("whole.pgn"), "the games differ");
    assert_eq!(timeless(&done(at, "watch screen.pgn --json -q")), whole);
    let names = |key: &str| -> Vec<String> {
        let rows = whole[key].as_array().unwrap().iter();
        rows.map(|row| row["name"].as_str().unwrap().to_string()).collect()
    };
    let mut effects = names("effects");
    effects.sort();
    assert_eq!(effects, ["history", "killers", "null"]);
    assert_eq!((names("ranges"), names("interactions")), (vec!["rfp".into()], vec!["null*killers".into()]));
    let change = whole["effects"].as_array().unwrap().iter().find(|row| row["name"] == "history").unwrap();
    assert_eq!(change["change"], "bonus_slope=175>0, threats=1>0");
    // Factors without an interaction differ in every pair, those with one in about half of them.
    assert_eq!(change["games"], 120);
    let null = whole["effects"].as_array().unwrap().iter().find(|row| row["name"] == "null").unwrap();
    assert!((30..90).contains(&null["games"].as_u64().unwrap()), "{null}");
    let report = done(at, "report screen.journal -o screen.html --json -q");
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["runs"][0]["measures"]["games"], 120);
    let figures = report["runs"][0]["figures"].as_array().unwrap();
    assert!(
        ["screen-effects", "screen-open", "effect-null"].iter().all(|id| figures.contains(&Value::from(*id)))
    );
}

#[test]
fn what_is_decided_leaves_the_games_and_the_chosen_set_is_tested() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(
        at.join("factors.txt"),
        "search: lmr_depth=1000>3, bonus_slope=0>175, gain_slope=0>6\nkillers: killers=0\n",
    )
    .unwrap();
    let line = "screen default --options factors.txt --nodes 400 --max-moves 100 --hash 1 --pairs 8 --games 4000 \
                --worth 60 --seed 3 --json -q";
    let result = timeless(&done(at, line));
    assert_eq!(result["end"], "verdict", "{result}");
    let standings: Vec<_> =
        result["effects"].as_array().unwrap().iter().map(|row| (&row["name"], &row["standing"])).collect();
    assert!(standings.contains(&(&"search".into(), &"kept".into())), "{standings:?}");
    assert!(standings.contains(&(&"killers".into(), &"dropped".into())), "{standings:?}");
    let confirm = result["confirm"].as_str().unwrap();
    let words = "patzer sprt --engine \"cmd=default name=chosen option.lmr_depth=3 option.bonus_slope=175 \
                 option.gain_slope=6\" --engine \"cmd=default name=base option.lmr_depth=1000 option.bonus_slope=0 \
                 option.gain_slope=0\"";
    assert!(confirm.starts_with(words), "{confirm}");
    assert!(confirm.contains("--nodes 400") && confirm.ends_with("--seed 4"), "{confirm}");
    let text = done(at, "screen --resume --confirm -q");
    assert!(text.contains("chosen      search") && text.contains("H1 accepted"), "{text}");
    assert!(at.join("screen.sprt.pgn").is_file());
    // The test that ran is the one that was printed, with games of its own.
    let journal = fs::read_to_string(at.join("screen.sprt.journal")).unwrap();
    assert!(journal.lines().next().unwrap().contains("\"seed\":4"), "{journal}");
}

#[test]
fn builds_are_screened_by_their_changes() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let build = |options: &str, changes: &str| format!("cmd=default name=n{changes} {options}: {changes}\n");
    let builds = build("", "")
        + &build("option.null_depth=1000", "null")
        + &build("option.lmr_depth=1000", "lmr")
        + &build("option.null_depth=1000 option.lmr_depth=1000", "null, lmr");
    fs::write(at.join("builds.txt"), builds.replace("nnull, lmr", "both")).unwrap();
    let result = timeless(&done(at, &format!("screen --builds builds.txt {LIMITS} --games 200 --json -q")));
    let names: Vec<_> =
        result["effects"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"null") && names.contains(&"lmr"), "{names:?}");
    let pgn = fs::read_to_string(at.join("screen.pgn")).unwrap();
    assert!(["\"n\"", "\"nnull\"", "\"nlmr\"", "\"both\""].iter().all(|name| pgn.contains(name)));
    fs::write(at.join("few.txt"), "cmd=default:\ncmd=default-hce: a, b\n").unwrap();
    refused(at, "screen --builds few.txt", "leave the effect of b undetermined");
}

#[test]
fn a_simulated_screen_depends_on_its_seed_alone_and_keeps_its_promise() {
    let folder = tempfile::tempdir().unwrap();
    let line = "screen simulate --count 60 --effects 60,30,0,0,-40 --games 3000 --draws 0.3 --json";
    let one = done(folder.path(), &format!("{line} --threads 1"));
    assert_eq!(one, done(folder.path(), &format!("{line} --threads 3")));
    assert_ne!(one, done(folder.path(), &format!("{line} --seed 1")));
    let value: Value = serde_json::from_str(&one).unwrap();
    let number = |key: &str| value["simulated"][key].as_f64().unwrap();
    assert!(number("wrong") <= 0.1 && number("kept") > 0.9 && number("coverage") > 0.88, "{value}");
}

#[test]
fn wrong_screens_are_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("f.txt"), "null: null_depth=1000\n").unwrap();
    fs::write(at.join("unknown.txt"), "x: no_such_option=1\n").unwrap();
    fs::write(at.join("bad.txt"), "x: no_such_option=1>2\n").unwrap();
    fs::write(at.join("same.txt"), "x: killers=1\n").unwrap();
    for (line, says) in [
        ("screen", "name the factors"),
        ("screen default", "name the factors"),
        ("screen --options f.txt", "one engine, not 0"),
        ("screen default --engine cmd=default --options f.txt", "one engine, not 2"),
        ("screen default --builds f.txt", "are in its file"),
        ("screen default --options f.txt --worth -1", "--worth -1"),
        ("screen default --options f.txt --confidence 1", "--confidence 1"),
        ("screen default --options unknown.txt", "does not say its value of no_such_option"),
        ("screen default --options bad.txt", "factor x"),
        ("screen default --options same.txt", "x changes nothing: killers=1>1"),
        ("screen --resume", "patzer screen ENGINE --options FILE"),
        ("screen simulate", "--effects"),
    ] {
        refused(at, line, says);
        assert_eq!(fs::read_dir(at).unwrap().count(), 4, "{line}");
    }
}
