//! `patzer sprt` between programs: every way in which they can end a game, and every way in which they can fail.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::{mock, signal};

/// A folder with a book of one opening, the start position.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("start.epd"), "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\n")
        .unwrap();
    folder
}

/// Plays two mock engines against each other, or one against an evaluation.
fn play(folder: &Path, start: &str, engines: &[&str], args: &str) -> Output {
    let mut command = crate::program();
    command.current_dir(folder).arg("sprt").env(mock::VARIABLE, start);
    for engine in engines {
        command.args(["--engine", &mock::command(engine)]);
    }
    let common = ["--openings", "start.epd", "--concurrency", "1"];
    command.args(common).args(args.split_whitespace()).stdin(Stdio::null()).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn pgn(folder: &Path) -> String {
    fs::read_to_string(folder.join("sprt.pgn")).unwrap()
}

fn reasons(output: &Output) -> serde_json::Value {
    let v: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    v["reasons"].clone()
}

/// Plays one pair of which `mode` of the first engine decides the first game; the second game has no such fault.
#[track_caller]
fn first_game(mode: &str, args: &str) -> (Output, String) {
    let folder = folder();
    let engines =
        [format!("name=bad option.Mode={mode} option.Seed=1"), "name=good option.Seed=2".to_string()];
    let engines: Vec<&str> = engines.iter().map(String::as_str).collect();
    let args = format!("--nodes 5 --games 2 --max-moves 3 --json {args}");
    let output = play(folder.path(), "", &engines, &args);
    assert_eq!(output.status.code(), Some(11), "{output:?}");
    let text = pgn(folder.path());
    (output, text)
}

#[test]
fn programs_play_whole_games_and_say_what_they_think() {
    let folder = folder();
    let engines = ["name=one option.Seed=1", "option.Seed=2 option.Clear=true \"option.move overhead=3\""];
    let output = play(folder.path(), "", &engines, "--nodes 5 --games 4 --no-adjudication --json");
    assert_eq!(output.status.code(), Some(11), "{output:?}");
    let text = pgn(folder.path());
    assert_eq!(text.matches("[Event ").count(), 4);
    assert_eq!(text.matches("[EngineWhiteName \"Mock 1.0\"]").count(), 4);
    assert!(text.contains("[White \"one\"]") && text.contains("[Limit \"5 nodes a move\"]"), "{text}");
    assert!(text.contains("{+0.01/2 0.0") && text.contains("s, n=1, nps=1000}"), "{text}");
    // The dataset tools read what was said.
    let folder = folder.path();
    let counts = crate::done(folder, "extract sprt.pgn -o all.parquet --json");
    let counts: serde_json::Value = serde_json::from_str(&counts).unwrap();
    assert_eq!((counts["games"].as_u64(), counts["games_bad"].as_u64()), (Some(4), Some(0)));
}

#[test]
fn the_rules_of_chess_end_the_games_of_programs() {
    for (moves, fen, reason) in [
        ("f2f3,e7e5,g2g4,d8h4", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -", "checkmate"),
        ("b1b6", "k7/8/2K5/8/8/8/8/1Q6 w - -", "stalemate"),
        (
            "g1f3,g8f6,f3g1,f6g8,g1f3,g8f6,f3g1,f6g8",
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
            "repetition",
        ),
        ("a1b1,h2h3", "k7/8/8/8/8/8/7r/K7 w - - 98 80", "fifty_moves"),
        ("a1b2", "k7/8/8/8/8/8/1p6/K7 w - -", "insufficient_material"),
    ] {
        let folder = folder();
        fs::write(folder.path().join("start.epd"), format!("{fen}\n")).unwrap();
        let engine = format!("option.Moves={moves}");
        let args = "--nodes 1 --games 2 --no-adjudication --json";
        let output = play(folder.path(), "", &[&engine, &engine], args);
        assert_eq!(reasons(&output), serde_json::json!({ reason: 2 }), "{output:?}");
        assert_eq!(pgn(folder.path()).matches("[Termination \"normal\"]").count(), 2);
    }
}

#[test]
fn adjudication_ends_the_games_of_programs() {
    let quiet = ["option.Seed=1", "option.Seed=2"];
    let agreed = ["name=one option.Score=700", "option.Score=-700 option.Seed=2"];
    let lost = ["name=one option.Score=-100", "option.Score=-700 option.Seed=2"];
    for (engines, rules, reason) in [
        (quiet, "--draw 2,2,90 --resign 9,9000", "adjudicated_draw"),
        (quiet, "--max-moves 2 --draw 1,99,0 --resign 9,9000", "move_limit"),
        (agreed, "--resign 2,600 --max-moves 30", "adjudicated_win"),
        (lost, "--resign 2,600 --max-moves 5", "move_limit"),
        (lost, "--resign 2,600 --max-moves 30 --resign-by-loser", "adjudicated_win"),
    ] {
        let folder = folder();
        let args = format!("--nodes 1 --games 2 --json {rules}");
        let output = play(folder.path(), "", &engines, &args);
        assert_eq!(reasons(&output), serde_json::json!({ reason: 2 }), "{rules}: {output:?}");
        let text = pgn(folder.path());
        assert_eq!(text.matches("[Termination \"adjudication\"]").count(), 2);
        let won = text.replace('\n', " ").contains("White wins by adjudication} 1-0");
        assert_eq!(won, reason == "adjudicated_win", "{text}");
    }
}

#[test]
fn engines_receive_both_clocks_and_all_limits() {
    let engines = ["name=one option.Mode=limits tc=40/60+0.5 depth=7 nodes=900", "name=two tc=10+0.1"];
    let folder = folder();
    let output = play(folder.path(), "", &engines, "--games 2");
    let said = stderr(&output);
    assert!(
        said.contains("go wtime 60500 btime 10100 winc 500 binc 100 movestogo 40 nodes 900 depth 7"),
        "{said}"
    );
    let output = play(folder.path(), "", &["name=one option.Mode=limits st=0.25", "name=two"], "--games 2");
    assert!(stderr(&output).contains("go movetime 250"), "{output:?}");
}

#[test]
fn an_answer_that_comes_after_the_game_is_not_taken_for_the_next_move() {
    let folder = folder();
    let output = play(
        folder.path(),
        "",
        &["name=one option.Mode=owes tc=1", "name=two tc=9"],
        "--games 4 --max-moves 6 --json",
    );
    assert_eq!(reasons(&output), serde_json::json!({ "move_limit": 3, "time_forfeit": 1 }), "{output:?}");
}

#[test]
fn a_move_that_is_none_loses_and_is_quoted() {
    for (mode, quoted) in [
        ("illegal@2", "White makes an illegal move: e2e5} 0-1"),
        ("null@1", "White makes an illegal move: 0000} 0-1"),
        ("none@2", "White makes an illegal move: (none)} 0-1"),
        ("empty@1", "White makes an illegal move: bestmove without a move} 0-1"),
    ] {
        let (output, text) = first_game(mode, "");
        assert_eq!(reasons(&output), serde_json::json!({ "illegal_move": 1, "move_limit": 1 }));
        assert!(text.replace('\n', " ").contains(quoted), "{text}");
        assert!(text.contains("[Termination \"illegal move\"]"), "{text}");
        assert!(stderr(&output).contains("1 game ended by illegal moves"), "{output:?}");
    }
}

#[test]
fn garbage_floods_of_text_and_long_lines_do_no_harm() {
    let (output, text) = first_game("garbage@2", "");
    assert_eq!(reasons(&output), serde_json::json!({ "move_limit": 2 }));
    // The last score that is no bound, of the first variation, from a line of 200,000 bytes.
    assert!(text.replace('\n', " ").contains("{+0.77/2 0.0"), "{text}");
}

#[test]
fn a_move_without_a_score_has_none_in_the_file() {
    let (_, text) = first_game("silent@1", "");
    assert!(text.contains("{/0 0.0"), "{text}");
}

#[test]
fn a_crash_ends_the_match_with_what_the_engine_said() {
    let folder = folder();
    let engines = ["name=good option.Seed=1", "name=bad option.Mode=crash@9 option.Seed=2"];
    let output = play(folder.path(), "", &engines, "--nodes 5 --games 40 --max-moves 3");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = stderr(&output);
    assert!(said.contains("error: bad failed in game 2.1: ended when it was to answer `go`"), "{said}");
    assert!(said.contains("exit status: 3") && said.contains("assertion failed: at go 9"), "{said}");
    assert!(said.contains("--resume goes on"), "{said}");
    // The pair before it is whole.
    assert_eq!(pgn(folder.path()).matches("[Event ").count(), 2);
    let journal = fs::read_to_string(folder.path().join("sprt.journal")).unwrap();
    assert_eq!(journal.lines().count(), 2);
}

#[test]
fn with_recover_a_crash_costs_a_game_and_the_match_goes_on() {
    let folder = folder();
    // After a restart it counts from 1 again, and crashes again.
    let engines = ["name=good option.Seed=1", "name=bad option.Mode=crash@5 option.Seed=2"];
    let args = "--nodes 5 --games 8 --max-moves 3 --recover --json";
    let output = play(folder.path(), "", &engines, args);
    assert_eq!(output.status.code(), Some(11), "{output:?}");
    assert_eq!(reasons(&output), serde_json::json!({ "disconnect": 4, "move_limit": 4 }));
    let text = pgn(folder.path());
    assert_eq!(text.matches("[Termination \"abandoned\"]").count(), 4);
    assert!(text.replace('\n', " ").contains("White disconnects} 0-1"), "{text}");
    assert!(stderr(&output).contains("4 games ended because an engine crashed"), "{output:?}");
    assert!(stderr(&output).contains("patzer engine check"), "{output:?}");
    let why = "warning: game 1.2: bad ended when it was to answer `go`: exit status: 3; it said last on standard error:";
    assert!(stderr(&output).contains(why), "{output:?}");
}

#[test]
fn the_last_line_of_an_engine_that_ends_counts_without_a_line_end() {
    let (output, _) = first_game("unended@3", "--recover");
    // It has made its third move, and is found dead before the next game.
    assert_eq!(reasons(&output), serde_json::json!({ "disconnect": 1, "move_limit": 1 }));
}

#[test]
fn an_engine_that_does_not_answer_is_noticed_without_a_clock() {
    let folder = folder();
    let engines = ["name=bad option.Mode=hang@2", "name=good option.Seed=2"];
    let args = "--nodes 5 --games 2 --max-moves 3 --stall-timeout 2";
    let output = play(folder.path(), "", &engines, args);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = stderr(&output);
    assert!(said.contains("bad failed in game 1.1: no answer to `go` within 2 s"), "{said}");
    assert!(said.contains("it wrote `bestmo` without an end of line"), "{said}");
    let output = play(folder.path(), "", &engines, &format!("{args} --recover --json"));
    assert_eq!(reasons(&output), serde_json::json!({ "stall": 2 }), "{output:?}");
    assert!(pgn(folder.path()).replace('\n', " ").contains("White's connection stalls} 0-1"));
}

#[test]
fn a_flood_of_lines_does_not_hide_the_deadline() {
    let (output, _) = first_game("flood@2", "--stall-timeout 2 --recover");
    assert_eq!(reasons(&output)["stall"], 2, "after a restart it floods again");
}

#[test]
fn overstepping_the_time_loses_also_without_any_answer() {
    for (mode, extra) in [("late@2", ""), ("hang@2", "--recover --ready-timeout 2")] {
        let folder = folder();
        // Only it is under a clock. It is late by 20 ms or for ever, however fast this machine is; its other
        // moves may be late too, and lose as well.
        let bad = format!("name=bad option.Mode={mode} st=0.01 timemargin=0");
        let output = play(
            folder.path(),
            "",
            &[&bad, "name=good nodes=5"],
            &format!("--games 2 --max-moves 3 --json {extra}"),
        );
        assert_eq!(output.status.code(), Some(11), "{output:?}");
        assert!(reasons(&output)["time_forfeit"].as_u64() >= Some(1), "{output:?}");
        let text = pgn(folder.path());
        assert!(text.contains("[Termination \"time forfeit\"]"), "{text}");
        assert!(
            text.replace('\n', " ").contains("loses on time (")
                && text.replace('\n', " ").contains("ms overrun)}")
                && !text.replace('\n', " ").contains("(1ms overrun)"),
            "{text}"
        );
    }
}

#[test]
#[ignore = "takes long: make test-long"]
fn long_an_engine_that_loads_much_is_waited_for_and_said() {
    let folder = folder();
    let output = play(folder.path(), "loads", &["name=one", "name=two"], "--games 2 --nodes 5 --max-moves 3");
    assert!(stderr(&output).contains("one: waiting for its answer to `uci`, up to 60 s"), "{output:?}");
    assert!(folder.path().join("sprt.pgn").exists(), "{output:?}");
}

#[test]
fn an_engine_that_does_not_start_is_named_before_any_game() {
    let engines = ["name=one", "name=two"];
    for (start, args, says) in [
        ("mute", "--start-timeout 1", "error: one: no answer to `uci` within 1 s"),
        ("dies", "", "exit status: 7; it said last on standard error: I cannot find my network"),
    ] {
        let folder = folder();
        let output = play(folder.path(), start, &engines, args);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(stderr(&output).contains(says), "{output:?}");
        assert!(!folder.path().join("sprt.pgn").exists());
    }
    let folder = folder();
    for (spec, says) in [
        ("option.Seed=10", "option `Seed` takes a number from 0 to 9, not `10`"),
        ("option.UCI_Chess960=yes", "option `UCI_Chess960` takes true or false, not `yes`"),
        (
            "option.Speed=3",
            "has no option `Speed`; it offers: Seed, Moves, Mode, EvalFile, Reading, Score, Move Overhead, Clear, UCI_Chess960",
        ),
        ("dir=nowhere", "nowhere: is not a folder"),
    ] {
        let output = play(folder.path(), "", &[spec, "name=two"], "");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(stderr(&output).contains(says), "{output:?}");
    }
}

#[test]
fn an_engine_that_starts_slowly_is_waited_for() {
    let folder = folder();
    let output =
        play(folder.path(), "slow", &["name=one", "name=two"], "--nodes 5 --games 2 --max-moves 3 --json");
    assert_eq!(reasons(&output), serde_json::json!({ "move_limit": 2 }), "{output:?}");
}

#[test]
fn a_short_history_makes_no_difference_to_who_needs_none() {
    let args = "--nodes 5 --games 2 --max-moves 20 --json";
    let files = ["full", "short"].map(|history| {
        let folder = folder();
        let engine = format!("option.Seed=1 history={history}");
        let output = play(folder.path(), "", &[&engine, "name=two option.Seed=2"], args);
        assert_eq!(reasons(&output), serde_json::json!({ "move_limit": 2 }), "{output:?}");
        // The mock reports the number of moves it received as depth and nodes.
        let moves = |text: String| -> Vec<String> {
            let comment = |word: &&str| !word.contains(['{', '}', '=', '/']) && !word.ends_with("s,");
            text.split_whitespace().filter(comment).map(String::from).collect()
        };
        moves(pgn(folder.path()))
    });
    assert_eq!(files[0], files[1]);
}

#[test]
fn chess960_is_set_in_engines_that_know_it_and_refused_by_others() {
    let folder = folder();
    fs::write(folder.path().join("start.epd"), "1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1 w GBgb - 0 1\n")
        .unwrap();
    // Castling both ways, written as king takes rook.
    let engine = "option.Moves=e1g1,e8b8";
    let output = play(folder.path(), "", &[engine, engine], "--nodes 5 --games 2 --max-moves 9 --json");
    assert_eq!(reasons(&output), serde_json::json!({ "move_limit": 2 }), "{output:?}");
    let text = pgn(folder.path());
    assert!(
        text.contains("[Variant \"Chess960\"]") && text.contains("1. O-O") && text.contains("O-O-O"),
        "{text}"
    );
    let output = play(folder.path(), "classical", &["name=old", "name=new"], "--nodes 5 --games 2");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(
        stderr(&output).contains("old: has no option UCI_Chess960, which openings of start.epd need"),
        "{output:?}"
    );
}

#[test]
fn a_program_may_play_an_evaluation_and_each_has_its_own_limits() {
    let folder = folder();
    let mut command = crate::program();
    command.current_dir(folder.path()).args(["sprt", "untuned-hce"]).env(mock::VARIABLE, "");
    command.args(["--engine", &mock::command("name=mock tc=60+1 timeodds=0.5 option.Seed=3")]);
    let args = "--each nodes=50 --games 2 --max-moves 3 --json";
    let output = command.args(args.split_whitespace()).output().unwrap();
    assert_eq!(output.status.code(), Some(11), "{output:?}");
    let text = pgn(folder.path());
    assert!(
        text.contains(
            "[WhiteTimeControl \"-\"]\n[BlackTimeControl \"30+0.5\"]\n[WhiteLimit \"50 nodes a move\"]"
        ),
        "{text}"
    );
}

#[test]
fn restart_gives_every_game_a_new_process() {
    let folder = folder();
    // The third `go` of a process never comes: each game has two.
    let engines = ["name=one restart=on option.Mode=crash@3 option.Seed=1", "name=two"];
    let output = play(folder.path(), "", &engines, "--nodes 5 --games 6 --max-moves 2 --json");
    assert_eq!(reasons(&output), serde_json::json!({ "move_limit": 6 }), "{output:?}");
}

#[cfg(unix)]
#[test]
fn scripts_are_programs_and_closing_the_output_is_an_end() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let script = "#!/bin/sh\nread x\necho uciok\nread x\necho readyok\nexec >&-\nwhile read x; do :; done\n";
    fs::write(folder.path().join("closes"), script).unwrap();
    fs::set_permissions(folder.path().join("closes"), fs::Permissions::from_mode(0o755)).unwrap();
    let run = |args: &str| {
        let mut command = crate::program();
        command.current_dir(folder.path()).arg("sprt").args(args.split_whitespace()).output().unwrap()
    };
    let output = run("./closes ./closes --nodes 5 --games 2");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(
        stderr(&output).contains("closes (A) failed in game 1.1: ended when it was to answer `isready`"),
        "{output:?}"
    );
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_engines_too() {
    let folder = folder();
    let mut command = crate::program();
    command.current_dir(folder.path()).arg("sprt").env(mock::VARIABLE, "");
    for engine in ["name=one option.Mode=hang@9", "name=two"] {
        command.args(["--engine", &mock::command(engine)]);
    }
    command.args("--openings start.epd --nodes 5 --max-moves 2 --concurrency 1".split_whitespace());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let journal = folder.path().join("sprt.journal");
    while fs::read_to_string(&journal).unwrap_or_default().lines().count() < 3 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(signal("INT", &child.id().to_string()));
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert_eq!(pgn(folder.path()).matches("[Event ").count(), 4);
    // No child process is left: its working folder would still be in use.
    let left =
        Command::new("sh").args(["-c", "ls -l /proc/[0-9]*/cwd 2>/dev/null || true"]).output().unwrap();
    let left = String::from_utf8_lossy(&left.stdout).into_owned();
    assert!(!left.contains(&*folder.path().to_string_lossy()), "{left}");
}

#[test]
fn an_answer_without_a_question_is_dropped_and_counted() {
    // Twice at once, or the last answer again after the next question.
    for mode in ["twice@3", "stale@3"] {
        let folder = folder();
        let engines = ["name=good option.Seed=1", &format!("name=bad option.Mode={mode} option.Seed=2")];
        let output = play(folder.path(), "", &engines, "--nodes 5 --games 2 --max-moves 5 --json");
        let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(result["reasons"], serde_json::json!({ "move_limit": 2 }), "{mode}");
        let said = stderr(&output);
        assert_eq!(said.matches("bad: dropped answers without a question, 1 in all").count(), 1, "{said}");
    }
}

#[test]
fn with_recover_a_hang_on_the_clock_costs_one_game() {
    let folder = folder();
    // It counts from 1 again after a restart, and hangs in every other game.
    let engines = ["name=good option.Seed=1", "name=bad option.Mode=hang@3 option.Seed=2"];
    let args = "--tc 0.3 --games 4 --max-moves 2 --ready-timeout 1 --recover --json";
    let output = play(folder.path(), "", &engines, args);
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["reasons"], serde_json::json!({ "move_limit": 2, "time_forfeit": 2 }), "{output:?}");
}

/// Moves of a file of games, without comments.
fn moves(folder: &Path) -> String {
    let text = pgn(folder).replace('\n', " ");
    let bare = text.split('{').map(|part| part.split_once('}').map_or(part, |(_, rest)| rest));
    bare.filter(|part| !part.contains("[Event")).collect()
}

#[test]
fn an_engine_thinks_on_the_opponents_time_and_plays_the_same_moves() {
    for (seeds, mode, hits) in [
        (["1", "1"], "", true),
        (["1", "2"], "", false),
        (["1", "1"], " option.Mode=early@0", true),
        (["1", "2"], " option.Mode=early@0", false),
        (["1", "2"], " option.Mode=doubles@0", false),
    ] {
        let played = |ponder: &str| {
            let folder = folder();
            let [one, two] =
                seeds.map(|seed| format!("name={seed}{mode} option.Seed={seed} tc=9+0.5{ponder}"));
            let two = two.replace("name=", "name=second-");
            let args = "--games 2 --max-moves 9 --log log --json";
            let output = play(folder.path(), "ponders", &[&one, &two], args);
            assert_eq!(reasons(&output), serde_json::json!({ "move_limit": 2 }), "{output:?}");
            let log = fs::read_to_string(folder.path().join("log")).unwrap();
            (moves(folder.path()), log, stderr(&output))
        };
        let (plain, log, _) = played("");
        assert!(!log.contains("go ponder") && !log.contains("option name Ponder value"), "{log}");
        let (with, log, said) = played(" ponder=on");
        assert_eq!(plain, with);
        assert!(log.contains("setoption name Ponder value true"), "{log}");
        let count = |text: &str| log.matches(text).count();
        // Own clock after the first move with its increment, the opponent's as it was.
        assert!(count("go ponder wtime ") > 30 && count(" btime 9500 winc 500 binc 500") > 1, "{log}");
        assert!(if hits { count("ponderhit") > 25 } else { count("ponderhit") < 25 }, "{log}");
        assert_eq!(mode.contains("doubles"), said.contains("dropped answers without a question"), "{said}");
    }
}

#[test]
fn who_cannot_think_on_the_opponents_time_is_named() {
    for (start, engine, says) in [
        ("", "name=a ponder=on tc=5", "has no option `Ponder`"),
        ("ponders", "name=a ponder=on nodes=5", "needs a time limit"),
    ] {
        let output = play(folder().path(), start, &[engine, "name=b tc=5"], "--games 2");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(stderr(&output).contains(says), "{output:?}");
    }
}

/// Writes the bundled engine as one that searches a ply where it should search nodes.
#[cfg(unix)]
fn ignores_nodes(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let patzer = env!("CARGO_BIN_EXE_patzer");
    let script = format!("#!/bin/sh\nsed -u 's/^go nodes.*/go depth 1/' | '{patzer}' uci\n");
    fs::write(folder.join("blind"), script).unwrap();
    fs::set_permissions(folder.join("blind"), fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(unix)]
#[test]
fn an_engine_that_ignores_its_node_limit_is_named_once() {
    let folder = folder();
    ignores_nodes(folder.path());
    let puzzles = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/puzzles.csv");
    let puzzles = format!("puzzles {puzzles} --count 20 --engine ./blind --nodes 5000");
    for (line, engines) in [
        ("selfplay ./blind --nodes 5000 --games 2 -o own.pgn", 1),
        ("match ./blind ./blind --nodes 5000 --games 2", 2),
        (&puzzles, 1),
        ("match ./blind ./blind --depth 1 --games 2 -o depth.pgn", 0),
    ] {
        let output = crate::patzer(folder.path(), &line.split(' ').collect::<Vec<_>>());
        let said = stderr(&output);
        let warnings: Vec<&str> = said.lines().filter(|line| line.contains("limit of 5,000 nodes")).collect();
        assert_eq!(warnings.len(), engines, "{line}: {output:?}");
        assert!(
            warnings.iter().all(|warning| warning.ends_with("limit it by depth= or st= instead")),
            "{said}"
        );
    }
    let output = crate::patzer(folder.path(), &["engine", "check", "./blind"]);
    let said = String::from_utf8(output.stdout).unwrap();
    let row = said.lines().find(|line| line.split_whitespace().any(|word| word == "nodes")).unwrap();
    assert!(row.contains("FAULT") || row.contains("fault"), "{said}");
}

/// A program that answers every search with this line, after a second at its first `isready`.
#[cfg(unix)]
fn answering(folder: &Path, line: &str) {
    use std::os::unix::fs::PermissionsExt;
    let text = format!(
        "#!/bin/sh\nwhile read -r word rest; do case $word in\n\
         uci) echo 'option name Depth type spin default 1 min 0 max 9'; echo uciok;;\n\
         isready) [ \"$ready\" ] || sleep 2; ready=1; echo readyok;;\n\
         go) echo '{line}';;\nquit) exit;;\nesac; done\n"
    );
    fs::write(folder.join("eng"), text).unwrap();
    fs::set_permissions(folder.join("eng"), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
#[cfg(unix)]
fn games_that_failures_ended_all_of_them_are_no_result() {
    let folder = folder();
    answering(folder.path(), "bestmove e2e5");
    fs::write(folder.path().join("params.txt"), "Depth, int, 2, 0, 9, 1, 0.002\n").unwrap();
    // Its first answer takes longer than its start may.
    let common = "--games 4 --nodes 5 --max-moves 3 --concurrency 2 --start-timeout 1";
    for (command, says) in [
        (
            "sprt ./eng default-hce",
            "sprt.pgn: holds no game that was played to its end, so there is no result: eng lost 4",
        ),
        ("match ./eng default-hce", "match.pgn: holds no game that was played to its end"),
        ("race ./eng ./eng", "race.pgn: holds no game that was played to its end"),
        ("spsa ./eng params.txt", "spsa.pgn: holds no game that was played to its end"),
        ("watch sprt.journal", "sprt.journal: holds no game that was played to its end"),
    ] {
        let common = if command.starts_with("watch") { "" } else { common };
        let line = format!("{command} {common}");
        let output = crate::patzer(folder.path(), &line.split_whitespace().collect::<Vec<_>>());
        let said = stderr(&output);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{command}: {output:?}");
        assert!(said.contains(says) && said.contains("illegal move"), "{command}: {said}");
    }
}
