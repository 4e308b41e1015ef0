//! `patzer elo`.

use std::process::{Command, Output};

fn patzer(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_patzer")).args(args).output().unwrap()
}

fn elo(args: &[&str]) -> Output {
    patzer(&[&["elo"], args].concat())
}

fn read(output: &Output) -> serde_json::Value {
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn json(args: &[&str]) -> serde_json::Value {
    read(&elo(&[args, &["--json"]].concat()))
}

#[track_caller]
fn close(value: &serde_json::Value, want: f64) {
    let got = value.as_f64().unwrap();
    assert!((got - want).abs() <= 1e-4 * want.abs(), "{got} is not {want}");
}

#[test]
fn counts_of_pairs_give_the_published_values() {
    let v = json(&["--ptnml", "34,54,63,64,75"]);
    close(&v["elo"], 55.57978);
    close(&v["elo_error"], 27.65343);
    close(&v["los"], 0.999970);
    let v = json(&["--ptnml", "365,16618,36229,16974,390", "--elo1", "2"]);
    close(&v["llr"], 2.250368);
    assert_eq!(v["verdict"], "undecided");
    let counts = "223,9863,21279,10037,246";
    let v = json(&["--ptnml", counts, "--elo-model", "logistic", "--elo0", "0.5", "--elo1", "2.5"]);
    close(&v["llr"], -3.074126);
    assert_eq!(v["verdict"], "H0");
    assert_eq!(v["pentanomial"], serde_json::json!([223, 9863, 21279, 10037, 246]));
}

#[test]
fn counts_of_games_give_the_published_values() {
    let v = json(&["--wdl", "136,111,96"]);
    close(&v["elo"], 40.70246);
    close(&v["nelo_error"], 36.76845);
    assert_eq!((&v["wins"], &v["draws"], &v["losses"]), (&136.into(), &111.into(), &96.into()));
    let v = json(&["--wdl", "68965,128429,68526", "--elo-model", "bayesian", "--elo1", "2"]);
    close(&v["llr"], -1.262156);
    // Bounds may be negative numbers.
    let v = json(&[
        "--ptnml",
        "10789,19328,33806,19402,10543",
        "--elo-model",
        "logistic",
        "--elo0",
        "-3",
        "--elo1",
        "1",
    ]);
    close(&v["llr"], 2.131068);
}

#[test]
fn one_sided_counts_are_null_where_nothing_bounds_them() {
    let v = json(&["--ptnml", "0,0,0,0,5550"]);
    close(&v["llr"], 111.797555);
    assert!(v["elo"].is_null() && v["elo_error"].is_null());
    assert_eq!(v["verdict"], "H1");
}

#[test]
fn senseless_input_is_refused_in_one_line() {
    for args in [
        &["--ptnml", "1,2,3,4,5", "--elo-model", "bayesian"][..],
        &["--ptnml", "1,2,3,4,5", "--elo0", "5", "--elo1", "0"],
        &["--wdl", "1,2,3", "--alpha", "0"],
    ] {
        let output = elo(args);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert_eq!(String::from_utf8(output.stderr).unwrap().lines().count(), 1);
    }
    for args in [&["--ptnml", "1,2,3"][..], &["--wdl", "1,-2,3"], &[]] {
        assert!(!elo(args).status.success());
    }
}

#[test]
fn a_test_is_judged_without_the_bias_of_its_stopping() {
    // An independent computation with the formulas of fishtest's analytics.
    let v = json(&["--ptnml", "127,4883,10712,5150,104", "--elo0", "-1.75", "--elo1", "0.25"]);
    close(&v["adjusted"]["elo"], 1.658_786);
    close(&v["adjusted"]["low"], -0.100_947_6);
    close(&v["adjusted"]["high"], 3.402_585);
    close(&v["adjusted"]["los"], 0.967_722);
    close(&v["draw_ratio"], 10712.0 / 20976.0);
    close(&v["pair_ratio"], 5254.0 / 5010.0);
}

#[test]
fn identical_pairs_are_remarked_upon() {
    let v = json(&["--ptnml", "0,0,0,40,0"]);
    assert!(v["note"].as_str().unwrap().contains("all 40 pairs ended alike"));
    assert!(json(&["--ptnml", "0,0,1,40,0"])["note"].is_null());
}

#[test]
fn a_plan_gives_games_and_chances_by_formula_and_by_simulation() {
    let json = |args: &[&str]| read(&patzer(&[&["plan"], args, &["--json"]].concat()));
    let args = ["0,15,30", "--elo1", "30", "--draws", "0.6", "--bias", "60", "--simulations", "300"];
    let v = json(&args);
    assert_eq!(v, json(&[&args[..], &["--threads", "1"]].concat()));
    let rows = v["rows"].as_array().unwrap();
    for (row, pass) in rows.iter().zip([0.05, 0.5, 0.95]) {
        let number = |value: &serde_json::Value| value.as_f64().unwrap();
        assert!((number(&row["pass"]) - pass).abs() < 0.01, "{row}");
        assert!((number(&row["simulated"]["pass"]) - pass).abs() < 0.1, "{row}");
        assert!((number(&row["simulated"]["games"]) / number(&row["games"]) - 1.0).abs() < 0.2, "{row}");
    }
    // Normalised Elo is what makes a test's length independent of draws: (ln 19 · 800/ln 10 / 30)² at the middle.
    assert!((rows[1]["games"].as_f64().unwrap() / 1162.7 - 1.0).abs() < 0.06, "{}", rows[1]);
    let five = json(&["--simulations", "0"]);
    assert_eq!(five["rows"].as_array().unwrap().len(), 5);
    let below = json(&["-2.5,0", "-q", "--simulations", "0"]);
    assert_eq!(below["rows"].as_array().unwrap().len(), 2);
    for line in ["plan 300 --elo-model logistic --draws 0.9", "plan --elo-model bayesian", "plan -x"] {
        assert_eq!(patzer(&line.split(' ').collect::<Vec<_>>()).status.code(), Some(1));
    }
}

/// A match's PGN, its journal and its result tell the same; other players' games and unpaired ones are left out.
#[test]
fn finished_games_give_what_their_match_printed() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_patzer"));
        command.current_dir(folder.path()).args(args.split_whitespace()).output().unwrap()
    };
    let json = |args: &str| -> serde_json::Value {
        let output = run(&format!("{args} --json"));
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let refused = |args: &str| {
        let output = run(args);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let line = "match default-hce untuned-hce --nodes 30 --games 40 --seed 7";
    let printed = json(&format!("{line} -o a.pgn"));
    let of_pgn = json("elo a.pgn --elo1 5");
    for key in ["pentanomial", "elo", "elo_error", "nelo"] {
        assert_eq!(of_pgn[key], printed[key], "{key}");
    }
    assert_eq!(of_pgn["players"], serde_json::json!(["default-hce", "untuned-hce"]));
    assert_eq!(of_pgn["games_unpaired"], 0);
    let of_journal = json("elo a.journal --elo1 5");
    assert_eq!(of_journal["llr"], of_pgn["llr"]);
    // A second machine's games, and the other player's view.
    json(&format!("{line}1 -o b.pgn"));
    let pairs = |v: &serde_json::Value| -> Vec<u64> {
        v["pentanomial"].as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).collect()
    };
    let (a, b, both) = (pairs(&of_pgn), pairs(&json("elo b.pgn")), json("elo a.journal b.pgn"));
    assert_eq!(pairs(&both), a.iter().zip(&b).map(|(a, b)| a + b).collect::<Vec<_>>());
    let turned = pairs(&json("elo a.pgn b.pgn --player untuned-hce"));
    assert_eq!(turned, pairs(&both).into_iter().rev().collect::<Vec<_>>());
    assert!(refused("elo a.pgn ./a.pgn").contains("would count twice"));
    assert!(refused("elo a.pgn a.journal").contains("would count twice"));
    // One game without its partner, one without a result, one of another player.
    let game = |white: &str, black: &str, result: &str| {
        format!(
            "[White \"{white}\"]\n[Black \"{black}\"]\n[Round \"1\"]\n[Result \"{result}\"]\n\n1. e4 {result}\n\n"
        )
    };
    let pair = game("A", "B", "1-0") + &game("B", "A", "1/2-1/2");
    let more = game("A", "B", "0-1") + &game("A", "B", "*") + &game("A", "C", "1-0");
    std::fs::write(folder.path().join("c.pgn"), pair + &more).unwrap();
    assert!(refused("elo c.pgn").contains("the games are of 3 players: A, B, C; choose two"));
    assert!(refused("elo c.pgn --player D").contains("`D` plays in no game: A, B, C"));
    let v = json("elo c.pgn --player A --against B");
    assert_eq!(pairs(&v), [0, 0, 0, 1, 0]);
    assert_eq!([&v["games_unpaired"], &v["games_without_result"], &v["games_of_others"]], [1, 1, 1]);
    std::fs::write(folder.path().join("d.pgn"), game("A", "B", "0-1")).unwrap();
    let single = run("elo d.pgn");
    assert!(String::from_utf8(single.stderr).unwrap().contains("single games are counted"));
}

#[test]
fn games_of_a_test_are_judged_by_its_hypotheses() {
    let folder = tempfile::tempdir().unwrap();
    let line = "sprt untuned-hce default-hce --nodes 50 --max-moves 40 --hash 1 --games 12 --elo1 200 --json";
    let test = crate::patzer(folder.path(), &line.split(' ').collect::<Vec<_>>()).stdout;
    let test: serde_json::Value = serde_json::from_slice(&test).unwrap();
    let judged = |args: &[&str]| {
        let output = crate::patzer(folder.path(), &[&["elo"], args, &["--json"]].concat());
        let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        (value, String::from_utf8(output.stderr).unwrap())
    };
    for file in ["sprt.journal", "sprt.pgn"] {
        let (value, said) = judged(&[file]);
        assert_eq!((&value["llr"], &value["upper"]), (&test["llr"], &test["upper"]), "{file}");
        assert!(said.contains("judged as the games were") && said.contains("200"), "{said}");
        let (other, said) = judged(&[file, "--elo1", "5"]);
        assert_ne!(other["llr"], test["llr"]);
        assert!(said.contains("played for another test"), "{said}");
    }
}
