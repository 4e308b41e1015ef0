//! `patzer spsa`: values that arrive, runs that are killed, engines that misbehave, and weights.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use patzer_chess::rng::mix;
use serde_json::Value;

use crate::{done, mock, patzer};

/// A mock engine that reports a negative score resigns, so that its option `Score` is its strength.
const RULES: &str = "--nodes 1 --max-moves 4 --resign 1,1 --resign-by-loser";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("params.txt"), "# strength\nScore, int, -10, -200, 200, 20, 0.02\n")
        .unwrap();
    folder
}

fn command(folder: &Path, engine: &str, rest: &str) -> Command {
    let mut command = crate::program();
    command.current_dir(folder).env(mock::VARIABLE, "").stdin(Stdio::null());
    command.args(["spsa", "--engine", &mock::command(engine), "params.txt"]);
    command.args(RULES.split_whitespace()).args(rest.split_whitespace());
    command
}

fn tuned(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

fn error(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default().to_string()
}

#[test]
fn values_arrive_at_a_uci_engine_and_move_towards_the_winner() {
    let folder = folder();
    let run = |rest: &str| tuned(&command(folder.path(), "name=mock", rest).output().unwrap());
    let alone = run("--games 120 --in-flight 4 --concurrency 1 --json -o one.pgn");
    let value = alone["params"][0]["value"].as_f64().unwrap();
    assert!((10.0..60.0).contains(&value), "{alone}");
    assert!(value + 10.0 > alone["params"][0]["noise"].as_f64().unwrap(), "beyond chance: {alone}");
    assert_eq!((alone["games"].as_u64(), alone["iterations"].as_u64()), (Some(120), Some(60)));
    assert!(alone["test"].as_str().unwrap().contains(&format!("name=tuned option.Score={}", value.round())));
    // The engine said its value as its score in the games.
    let pgn = fs::read_to_string(folder.path().join("one.pgn")).unwrap();
    assert!(pgn.contains("[White \"mock+\"]") && pgn.contains("[White \"mock-\"]"), "{pgn}");
    assert!(pgn.contains("{-0.") && pgn.contains('/'), "{pgn}");
    let many = run("--games 120 --in-flight 4 --concurrency 3 --json -o many.pgn");
    assert_eq!(alone["params"], many["params"], "whatever the concurrency");
    let other = run("--games 120 --in-flight 4 --seed 5 --json -o other.pgn");
    assert_ne!(alone["params"], other["params"]);
    for (form, says) in [
        ("setoption", "setoption name Score value "),
        ("rust", "pub const SCORE: i32 = "),
        ("c", "static const int SCORE = "),
        ("openbench", "Score, int, "),
    ] {
        let mut again = command(folder.path(), "name=mock", "");
        again.args(["--games", "120", "--in-flight", "4", "--resume", "-o", "one.pgn", "--export", form]);
        let text = String::from_utf8(again.output().unwrap().stdout).unwrap();
        let rounded = value.round().to_string();
        assert!(text.starts_with(says) && text.contains(&rounded) && text.lines().count() == 1, "{text}");
    }
    let page = done(folder.path(), "report one.journal --svg plots --json");
    let page: Value = serde_json::from_str(&page).unwrap();
    assert_eq!(page["runs"][0]["measures"]["iterations"], 60, "{page}");
    assert!(fs::read_to_string(folder.path().join("plots/course-score.svg")).unwrap().contains("<svg"));
    let watched = done(folder.path(), "watch one.journal");
    assert!(watched.contains("setoption name Score value"), "{watched}");
}

#[test]
fn a_tuning_that_is_killed_again_and_again_ends_as_one_that_is_not() {
    let folder = folder();
    let args = "--games 160 --pairs 2 --in-flight 3 --json";
    let whole = tuned(&command(folder.path(), "", &format!("{args} -o whole.pgn")).output().unwrap());
    let mut kills = 0;
    let ended = loop {
        let mut resumed = crate::program();
        resumed.current_dir(folder.path()).env(mock::VARIABLE, "").args(["spsa", "--resume", "--json"]);
        // Killed at once, it leaves no command to go on with.
        let journal = fs::read_to_string(folder.path().join("spsa.journal")).unwrap_or_default();
        if !journal.contains('\n') {
            resumed = command(folder.path(), "", &format!("{args} --resume"));
        }
        resumed.args(["--concurrency", if kills % 2 == 0 { "2" } else { "1" }]);
        let mut child = resumed.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(100 + mix(5, kills) % (200 + 100 * kills)));
        if kills < 20 && crate::kill(&mut child) {
            kills += 1;
        } else {
            break child.wait_with_output().unwrap();
        }
    };
    assert!(kills > 0);
    assert_eq!(tuned(&ended)["params"], whole["params"]);
}

#[test]
fn engines_that_misbehave_do_not_end_a_tuning() {
    for mode in [
        "crash@9",
        "hang@9",
        "flood@9",
        "garbage@2",
        "silent@1",
        "illegal@2",
        "null@2",
        "none@2",
        "empty@2",
        "unended@3",
        "twice@3",
        "stale@3",
    ] {
        let folder = folder();
        let args = "--games 12 --stall-timeout 1 --concurrency 2 --json";
        let output = command(folder.path(), &format!("option.Mode={mode}"), args).output().unwrap();
        let said = tuned(&output);
        assert_eq!((said["games"].as_u64(), said["complete"].as_bool()), (Some(12), Some(true)), "{mode}");
    }
    // One that never finishes a game does.
    let folder = folder();
    let output = command(folder.path(), "name=bad option.Mode=crash@1", "--games 1000").output().unwrap();
    assert!(
        error(&output).contains("spsa.pgn: holds no game that was played to its end, so there is no result"),
        "{output:?}"
    );
}

#[test]
fn what_cannot_be_tuned_is_named_before_any_game() {
    for (params, engine, rest, says) in [
        ("Score, int, 0, -200, 200, 20", "", "", "params.txt: line 1: has 6 fields"),
        (
            "Score, int, 0, -9, 9, 1, 1\nscore, int, 0, -9, 9, 1, 1",
            "",
            "",
            "line 2: `score` comes a second time",
        ),
        ("", "", "", "params.txt: holds no parameter"),
        ("Speed, int, 0, -9, 9, 1, 1", "", "", "has no option `Speed`; it offers: Seed"),
        ("Seed, int, 5, 0, 10, 1, 1", "", "", "option `Seed` takes a number from 0 to 9, not `10`"),
        ("Seed, float, 5, 0, 8.5, 1, 1", "", "", "option `Seed` takes a number from 0 to 9, not `8.5`"),
        (
            "Seed, float, 5, 0, 9, 1, 1",
            "",
            "",
            "option `Seed` takes a number from 0 to 9, not `3.437694`: declared float, but the engine has a spin",
        ),
        ("Seed, int, 5, 0, 9, 1, 1", "", "--decay-alpha 3", "--decay-alpha 3: must be 0 to 2"),
        ("Seed, int, 5, 0, 9, 1, 1", "", "--terms tempo", "--terms are of an evaluation"),
        ("Seed, int, 5, 0, 9, 1, 1", "", "--engine cmd=default", "a tuning has one engine, not 2"),
    ] {
        let folder = folder();
        fs::write(folder.path().join("params.txt"), params).unwrap();
        let said = error(&command(folder.path(), engine, rest).output().unwrap());
        assert!(said.starts_with("error: ") && said.contains(says), "{params}: {said}");
        assert!(!folder.path().join("spsa.pgn").exists());
    }
    let folder = folder();
    for (line, says) in [
        ("spsa default params.txt", "no option `Score`"),
        ("spsa default", "there is nothing to tune"),
        ("spsa default-hce --terms material.quen", "no weight matches `material.quen`"),
        ("spsa", "a tuning has one engine, not 0"),
    ] {
        let said = error(&patzer(folder.path(), &line.split_whitespace().collect::<Vec<_>>()));
        assert!(said.contains(says), "{line}: {said}");
    }
}

#[test]
fn the_options_of_another_engine_are_lines_of_parameters() {
    let folder = folder();
    let list = |terms: &[&str]| {
        let mut command = crate::program();
        command.current_dir(folder.path()).env(mock::VARIABLE, "").stdin(Stdio::null());
        command.args(["spsa", "list", &mock::command("")]).args(terms).output().unwrap()
    };
    let said = String::from_utf8(list(&[]).stdout).unwrap();
    assert!(said.contains("Seed, int, 0, 0, 9") && said.contains("Score, int, 0, -9999, 9999"), "{said}");
    assert!(!said.contains("Move Overhead") && !said.contains("Clear"), "{said}");
    let chosen = String::from_utf8(list(&["--terms", "Sc*,Move Overhead"]).stdout).unwrap();
    assert_eq!(chosen, "Score, int, 0, -9999, 9999, 999.9, 0.002\nMove Overhead, int, 0, 0, 9, 0.5, 0.002\n");
    assert!(error(&list(&["--terms", "Knight"])).contains("no option matches `Knight`"));
    let of_evaluation = patzer(folder.path(), &["spsa", "list", "default-hce"]);
    assert!(error(&of_evaluation).contains("--terms names the weights"), "{of_evaluation:?}");
}

#[test]
fn the_bundled_engine_is_tuned_in_this_process() {
    let folder = folder();
    let lines = done(folder.path(), "spsa list");
    assert!(lines.contains("rfp_margin, int, 74, 30, 150, 6, 0.002\n"), "{lines}");
    let listed: Value = serde_json::from_str(&done(folder.path(), "spsa list --json")).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), lines.lines().count());
    assert_eq!(
        (&listed[0]["name"], listed[0]["float"].is_boolean()),
        (&lines.split(',').next().unwrap().into(), true)
    );
    let chosen: Vec<&str> =
        lines.lines().filter(|line| line.starts_with("rfp") || line.starts_with("lmr_b")).collect();
    fs::write(folder.path().join("params.txt"), chosen.join("\n")).unwrap();
    let play = "--nodes 60 --hash 1 --max-moves 20 --games 24 --json";
    let run = |rest: &str| -> Value {
        serde_json::from_str(&done(folder.path(), &format!("spsa untuned-hce params.txt {play} {rest}")))
            .unwrap()
    };
    let (one, three) = (run("--concurrency 1"), run("--concurrency 3 -o b.pgn"));
    assert_eq!(one["params"], three["params"]);
    assert_eq!(
        fs::read(folder.path().join("spsa.pgn")).unwrap(),
        fs::read(folder.path().join("b.pgn")).unwrap()
    );
    assert_eq!(one["params"].as_array().unwrap().len(), 3);
    // The command that it names runs.
    let test = one["test"].as_str().unwrap();
    assert!(test.contains("option.rfp_margin=74") && test.contains("--nodes 60"), "{test}");
    let test = test.replace("patzer", env!("CARGO_BIN_EXE_patzer")) + " --games 2";
    let output = Command::new("sh").current_dir(folder.path()).args(["-c", &test]).output().unwrap();
    assert_eq!(output.status.code(), Some(11), "{test}: {output:?}");
}

#[test]
fn a_finished_tuning_goes_on_with_more_games_and_a_parameter_may_be_held() {
    let folder = folder();
    let run = |rest: &str| tuned(&command(folder.path(), "name=mock", rest).output().unwrap());
    run("--games 60 --in-flight 4 --json -o short.pgn");
    let mut resumed = crate::program();
    resumed.current_dir(folder.path()).env(mock::VARIABLE, "").stdin(Stdio::null());
    let resumed =
        resumed.args("spsa --resume --games 120 -o short.pgn --json -q".split(' ')).output().unwrap();
    let resumed = tuned(&resumed);
    assert_eq!((resumed["iterations"].as_u64(), resumed["planned"].as_u64()), (Some(60), Some(30)));
    // As if both numbers had been known from the start.
    let whole = run("--games 120 --schedule-games 60 --in-flight 4 --json -o whole.pgn");
    assert_eq!(resumed["params"], whole["params"]);
    let watched = done(folder.path(), "watch short.journal -q");
    assert!(watched.contains("setoption name Score value "), "{watched}");
    fs::write(folder.path().join("two.txt"), "killers, 1, 0, 1, 1, 0.02\nrfp_margin,74,30,150,6,0.02\n")
        .unwrap();
    let line = "spsa default two.txt --hold killers --nodes 20 --max-moves 8 --games 16 --hash 1 -o two.pgn --json -q";
    let held: Value = serde_json::from_str(&done(folder.path(), line)).unwrap();
    assert_eq!(held["params"].as_array().unwrap().len(), 1);
    assert_eq!(held["test"].as_str().unwrap().matches("option.killers=1").count(), 2);
    let output = patzer(folder.path(), &["spsa", "default", "two.txt", "--hold", "x"]);
    assert!(error(&output).contains("--hold x: no option among the parameters"), "{output:?}");
}

#[test]
fn weights_are_tuned_into_a_file_of_their_own() {
    let folder = folder();
    let play = "--nodes 40 --hash 1 --games 24 --json";
    let run = |rest: &str| -> Value {
        serde_json::from_str(&done(folder.path(), &format!("spsa {rest} {play}"))).unwrap()
    };
    let queen = "material.queen.mg, int, 900, 0, 1800, 45, 0.2\n";
    fs::write(folder.path().join("w.txt"), queen).unwrap();
    let said = run("untuned-hce w.txt --terms material.queen,material.pawn.eg");
    assert_eq!(said["output"], "tuned.hce.toml");
    let names = ["material.queen.mg", "material.pawn.eg", "material.queen.eg"];
    assert_eq!([0, 1, 2].map(|at| said["params"][at]["name"].as_str().unwrap()), names);
    let tuned = fs::read_to_string(folder.path().join("tuned.hce.toml")).unwrap();
    let weight = |at: usize| said["params"][at]["text"].as_str().unwrap().to_string();
    let queen = tuned.lines().find(|line| line.starts_with("queen = ")).unwrap();
    assert!(
        queen.contains(&format!("{}, ", weight(0))) && queen.contains(&format!(" {}]", weight(2))),
        "{queen}"
    );
    assert_ne!(weight(0), "900", "{said}");
    let own = run("untuned-hce w.txt -o own.pgn -o own.hce.toml");
    assert_eq!(own["output"], "own.hce.toml", "a name with a dot is a weight");
    let test = said["test"].as_str().unwrap();
    assert!(
        test.contains("cmd=tuned.hce.toml name=tuned\" --engine \"cmd=untuned-hce name=base\""),
        "{test}"
    );
    let said = run("default --terms output.0.*.bias -o new.nnue -o net.pgn");
    assert_eq!(said["output"], "new.nnue");
    done(folder.path(), "match new.nnue default --hash 1 --nodes 10 --games 2");
}

#[test]
#[cfg(unix)]
fn an_interrupted_tuning_writes_no_weights() {
    let folder = folder();
    let interrupted = |line: &str| {
        fs::remove_file(folder.path().join("spsa.pgn")).ok();
        let mut command = crate::program();
        command.current_dir(folder.path()).args(line.split_whitespace()).stdin(Stdio::null());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let games = folder.path().join("spsa.pgn");
        while fs::metadata(&games).map_or(0, |file| file.len()) == 0 {
            std::thread::sleep(Duration::from_millis(20));
        }
        crate::signal("TERM", &child.id().to_string());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(143), "{output:?}");
        assert!(!folder.path().join("tuned.hce.toml").exists());
        output
    };
    let line = "spsa default-hce --terms tempo --games 1000000 --nodes 60 --hash 1 --overwrite";
    let result: Value = serde_json::from_slice(&interrupted(&format!("{line} --json")).stdout).unwrap();
    assert_eq!(
        (&result["complete"], &result["output"], &result["test"]),
        (&false.into(), &Value::Null, &Value::Null)
    );
    assert!(result["params"].is_array());
    let printed = interrupted(&format!("{line} --export rust"));
    let said = String::from_utf8(printed.stderr).unwrap();
    assert!(
        printed.stdout.is_empty() && said.contains("the values are printed at the end; --resume goes on"),
        "{said}"
    );
}
