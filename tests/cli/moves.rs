//! `patzer moves`: what is foreseen of real games, and the table of strengths.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::{done, mock, patzer};

fn json(folder: &Path, line: &str) -> Value {
    serde_json::from_str(&done(folder, &format!("{line} --json -q"))).unwrap()
}

fn extracted() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let games = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/engine.pgn.zst");
    done(folder.path(), &format!("extract {games} -q"));
    folder
}

#[test]
fn a_fit_tells_strengths_with_errors_and_foresees_games_that_it_has_not_seen() {
    let folder = extracted();
    let line = "moves fit --count 4000 --iterations 30 -o m.toml";
    let v = json(folder.path(), &format!("{line} --threads 1"));
    let count = |key: &str| v[key]["choices"].as_u64().unwrap();
    assert_eq!(count("train") + count("held_out"), 4000);
    let dropped: u64 = v["dropped"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
    assert_eq!(v["positions_read"].as_u64().unwrap(), 4000 + dropped);
    let held_out = |key: &str| v["held_out"][key].as_f64().unwrap();
    assert!(held_out("log_likelihood") > held_out("uniform") + 0.5, "{}", v["held_out"]);
    let strength = |group: &str, level: &str| v["strengths"][group][level][0].as_f64().unwrap();
    // Common sense: do not give a piece away, take back, save an attacked piece.
    assert!(strength("exchange", "below -250") < 0.3);
    assert!(strength("recapture", "after a capture") > 1.5);
    assert!(strength("escape", "attacked by a lesser piece") > 1.5);
    assert!(v["strengths"]["check"]["sound"][1].as_f64().unwrap() > 0.0);
    assert_eq!(v, json(folder.path(), &format!("{line} --threads 2")));
    let text = done(folder.path(), &format!("{line} -q"));
    assert!(
        text.contains("recapture (whether it takes what has just moved)")
            && text.contains("written   m.toml")
    );
}

#[test]
fn searches_foresee_more_than_the_evaluation_alone() {
    let folder = extracted();
    done(folder.path(), "moves fit --count 1000 --iterations 3 -q --export c,rust");
    for (program, line) in [
        ("cc", "-std=c99 -Wall -Wextra -Werror -fsyntax-only use.c"),
        ("rustc", "--crate-type lib --emit metadata moves.rs"),
    ] {
        std::fs::write(
            folder.path().join("use.c"),
            "#include \"moves.h\"\nint32_t of(int c) { return move_capture[c]; }\n",
        )
        .unwrap();
        let output = Command::new(program).args(line.split(' ')).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let line = "moves predict --count 150 --nodes 50 --nodes 1000 --table moves.toml --ranks 3";
    let v = json(folder.path(), line);
    let rows = v["predictors"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["model", "evaluation", "50 nodes", "1000 nodes"]);
    let among = |row: usize, rank: usize| rows[row]["among"][rank].as_f64().unwrap();
    // The games are this engine's own, at 2,500 nodes.
    assert!(among(3, 0) > among(1, 0) && among(3, 0) > 0.3, "{v}");
    assert!(rows.iter().all(|row| row["choices"] == 150 && row["among"].as_array().unwrap().len() == 3));
    assert_eq!(v, json(folder.path(), &format!("{line} --threads 1")));
    let text = done(folder.path(), &format!("{line} -q"));
    assert!(text.contains("evaluation") && text.contains(" ± "), "{text}");
}

#[test]
fn a_uci_engine_is_asked_in_place_of_the_bundled_one() {
    let folder = extracted();
    let predicted = |args: &[&str], engine: &str| -> Value {
        let mut command = crate::program();
        command.args(["moves", "predict", "--count", "40", "--json", "-q"]).args(args);
        command.args(if engine.is_empty() { vec![] } else { vec!["--engine", engine] });
        let output = command.current_dir(folder.path()).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
    };
    let patzer = format!("\"cmd={}\" args=uci option.Hash=4", env!("CARGO_BIN_EXE_patzer"));
    let limits = ["--nodes", "50", "--nodes", "200", "--ranks", "3"];
    let (bundled, found) = (predicted(&limits, ""), predicted(&limits, &patzer));
    assert_eq!(
        (&found["engine"], found["predictors"].as_array().unwrap().len()),
        (&"patzer 0.1.0".into(), 2)
    );
    // The bundled engine has the row `evaluation` first.
    for row in 0..2 {
        let (program, own) = (&found["predictors"][row], &bundled["predictors"][row + 1]);
        assert_eq!([&program["name"], &program["ranks"]], [&own["name"], &own["ranks"]]);
        assert_eq!(program["failures"], 0);
    }
    let found = predicted(&["--concurrency", "2"], &format!("{patzer} depth=2"));
    assert_eq!((&found["predictors"][0]["name"], &found["predictors"][1]), (&"depth 2".into(), &Value::Null));
}

#[test]
fn an_engine_without_searchmoves_and_one_that_crashes_are_named() {
    let folder = extracted();
    let predicted = |mode: &str, ranks: &str| {
        let mut command = crate::program();
        command
            .env(mock::VARIABLE, "")
            .args(["moves", "predict", "--count", "60", "--json", "--ranks", ranks]);
        command.args(["--engine", &mock::command(&format!("option.Mode={mode}"))]);
        let output = command.current_dir(folder.path()).output().unwrap();
        (output.status.code(), output.stdout, String::from_utf8(output.stderr).unwrap())
    };
    let (code, _, said) = predicted("", "2");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("does not know `searchmoves`: it plays "), "{said}");
    assert!(said.contains("; --ranks 1 counts first choices alone"), "{said}");
    let (code, out, said) = predicted("crash@0", "1");
    let found: Value = serde_json::from_slice(&out).unwrap();
    let row = &found["predictors"][0];
    assert!(code == Some(0) && said.contains("warning: "), "{said}");
    assert!((1..60).contains(&row["failures"].as_u64().unwrap()) && row["choices"] == 60, "{found}");
    // Each failure is two crashes at one position.
    assert_eq!(found["restarts"].as_u64(), row["failures"].as_u64().map(|failures| 2 * failures), "{found}");
    assert!(said.contains(" times and was started again; first: "), "{said}");
}

#[test]
fn pairs_of_features_are_fitted_beside_the_model_without_them() {
    let folder = extracted();
    let here = folder.path();
    let line = "moves fit --count 1500 --iterations 15";
    let base = json(here, &format!("{line} -o base.toml"));
    let pairs = format!("{line} --interact check:exchange,capture:threat -o pairs.toml --export c,rust");
    let v = json(here, &format!("{pairs} --threads 1"));
    let without = &v["without_interactions"];
    assert_eq!([&without["train"], &without["held_out"]], [&base["train"], &base["held_out"]]);
    assert!(base.get("without_interactions").is_none());
    let mean = |v: &Value, part: &str| v[part]["log_likelihood"].as_f64().unwrap();
    assert!(mean(&v, "train") > mean(without, "train"));
    let gain = |at: usize| without["gain"][at].as_f64().unwrap();
    assert!((gain(0) - (mean(&v, "held_out") - mean(without, "held_out"))).abs() < 1e-9 && gain(1) > 0.0);
    assert_eq!(v["strengths"]["exchange:check"]["0 to 99 and sound"], serde_json::json!([1.0, 0.0]));
    assert_eq!(v, json(here, &format!("{pairs} --threads 2")));
    // The table is read with its pairs, and the sources have them.
    let table = std::fs::read_to_string(here.join("pairs.toml")).unwrap();
    assert!(table.contains("[\"exchange:check\"]\n\"below -250 and sound\" = ["), "{table}");
    let of = |model: &str| json(here, &format!("moves predict --count 200 --table {model} --ranks 3"));
    let among = |v: &Value| v["predictors"][0]["among"].clone();
    assert_ne!(among(&of("pairs.toml")), among(&of("base.toml")));
    let c = "#include \"pairs.h\"\nint32_t of(int a, int b) { return move_exchange_check[3 * a + b]; }\n";
    std::fs::write(here.join("use.c"), c).unwrap();
    for (program, line) in [
        ("cc", "-std=c99 -Wall -Wextra -Werror -fsyntax-only use.c"),
        ("rustc", "--crate-type lib --emit metadata pairs.rs"),
    ] {
        let output = Command::new(program).args(line.split(' ')).current_dir(here).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    // The report shows both models, with the numbers of the table.
    let report = json(here, "report pairs.toml base.toml -o moves.html");
    let [with, without] = [0, 1].map(|run| report["runs"][run].clone());
    assert_eq!([&with["kind"], &without["measures"]["choices"]], [&"moves".into(), &v["train"]["choices"]]);
    let figures = |run: &Value| run["figures"].as_array().unwrap().len();
    assert_eq!([figures(&with), figures(&without)], [10 + 6 + 2, 10 + 6]);
    let page = std::fs::read_to_string(here.join("moves.html")).unwrap();
    let row = table.lines().find(|line| line.starts_with("\"pawn and pawn\"")).unwrap();
    let strength = row.split(['[', ',']).nth(1).unwrap().trim_end_matches('0');
    assert!(
        page.contains("Models of moves compared") && page.contains(&format!(">{strength}<")),
        "{strength}"
    );
    let text = done(here, &format!("{pairs} -q"));
    assert!(
        text.contains(" nats a choice held out by interactions\n") && text.contains("  without "),
        "{text}"
    );
}

#[test]
fn what_cannot_be_foreseen_is_said() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.epd"), "4k3/8/8/8/8/8/8/K7 w - - c9 \"1-0\";\n").unwrap();
    for (args, says) in [
        ("moves fit", "patzer extract"),
        ("moves fit a.epd", "no position with two legal moves"),
        ("moves fit a.epd --validation 1", "--validation 1"),
        ("moves fit a.epd --interact check:chess", "chess: no such group of features"),
        ("moves fit a.epd --interact check:again,again:check", "check:again: is named twice"),
        ("moves fit a.epd --interact capture:place", "2328 strengths are more than 1500"),
        ("moves predict a.epd --table no.toml", "no.toml"),
    ] {
        let output = patzer(folder.path(), &args.split(' ').collect::<Vec<_>>());
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args}: {text}");
        assert!(text.contains(says), "{args}: {text}");
    }
}

#[test]
fn visits_of_playouts_are_fitted_as_moves_played_are() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    done(here, "selfplay --search mcts --nodes 150 --games 6 --seed 3 -o a.parquet -q");
    let line = "moves fit a.parquet --count 400 --iterations 40 --validation 0.4";
    let (visits, played) =
        (json(here, &format!("{line} --visits -o v.toml")), json(here, &format!("{line} -o p.toml")));
    let held_out = |v: &Value, key: &str| v["held_out"][key].as_f64().unwrap();
    for key in ["attainable", "log_likelihood", "uniform"] {
        assert!(held_out(&visits, key) < 0.0, "{key}");
    }
    assert!(held_out(&visits, "attainable") > held_out(&visits, "log_likelihood"));
    assert!(
        held_out(&visits, "log_likelihood") > held_out(&visits, "uniform") + 0.1,
        "{}",
        visits["held_out"]
    );
    assert_eq!(held_out(&played, "attainable"), 0.0);
    // Equal choices are held out; each of them has its ranks.
    assert_eq!(visits["held_out"]["choices"], played["held_out"]["choices"]);
    assert!(visits["held_out"]["by_exchange"][4].as_f64().unwrap() > 0.05);
    assert_eq!(visits, json(here, &format!("{line} --visits -o v.toml --threads 1")));
    done(here, "moves predict a.parquet --count 20 --nodes 20 --table v.toml -q");
    let text = done(here, &format!("{line} --visits -o v.toml -q"));
    assert!(text.contains(" if all visits were known)") && text.contains("in order of exchange"), "{text}");
    done(here, "data convert a.parquet -o b.csv -q");
    let output = patzer(here, &["moves", "fit", "b.csv", "--visits"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && text.contains("b.csv: has no visits of moves"), "{text}");
}
