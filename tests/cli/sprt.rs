//! `patzer sprt`: whole tests between an evaluation that knows something and one that knows nothing.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use patzer_eval::hce::Weights;

/// A folder with `blind.hce.toml`, whose weights are all zero.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let pairs = vec![[0, 0]; Weights::untuned().pairs().len()];
    fs::write(folder.path().join("blind.hce.toml"), Weights::from_pairs(1.0, &pairs).unwrap().to_toml())
        .unwrap();
    folder
}

fn sprt(folder: &Path, args: &str) -> Output {
    let mut command = crate::program();
    command.current_dir(folder).arg("sprt").args(args.split_whitespace());
    command.args(["--hash", "1"]).output().unwrap()
}

fn error(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

const QUICK: &str = "--nodes 200 --elo-model logistic --elo1 100 --max-moves 60";

#[test]
fn the_stronger_player_is_accepted_and_the_weaker_rejected() {
    let folder = folder();
    let output = sprt(folder.path(), &format!("untuned-hce blind.hce.toml {QUICK} --json"));
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let v: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(v["verdict"], "H1");
    assert!(v["llr"].as_f64() >= v["upper"].as_f64());
    for key in ["elo", "elo_error", "nelo", "nelo_error", "los", "lower", "games_per_second"] {
        assert!(v.get(key).is_some(), "{key}");
    }
    let number = |value: &serde_json::Value| value.as_u64().unwrap();
    let games = number(&v["wins"]) + number(&v["draws"]) + number(&v["losses"]);
    let pairs: u64 = v["pentanomial"].as_array().unwrap().iter().map(number).sum();
    let reasons: u64 = v["reasons"].as_object().unwrap().values().map(number).sum();
    assert_eq!((2 * pairs, reasons), (games, games));
    let pgn = fs::read_to_string(folder.path().join("sprt.pgn")).unwrap();
    assert_eq!(pgn.matches("[Event ").count() as u64, games);
    assert_eq!(pgn.matches("[White \"blind.hce.toml\"]").count() as u64, pairs);

    let output = sprt(folder.path(), &format!("blind.hce.toml untuned-hce {QUICK}"));
    assert_eq!(output.status.code(), Some(10), "{output:?}");
    assert!(error(&output).contains("moved aside: sprt.pgn → sprt.1.pgn"), "{output:?}");
    assert_eq!(fs::read_to_string(folder.path().join("sprt.1.pgn")).unwrap(), pgn);
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let folder = folder();
    let run = |threads: u32| {
        let pgn = format!("{threads}.pgn");
        let args = format!("untuned-hce blind.hce.toml {QUICK} --concurrency {threads} -o {pgn} --json");
        let mut v: serde_json::Value = serde_json::from_slice(&sprt(folder.path(), &args).stdout).unwrap();
        v.as_object_mut().unwrap().remove("games_per_second");
        (v, fs::read(folder.path().join(pgn)).unwrap())
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(3));
}

#[test]
fn a_resumed_test_equals_an_uninterrupted_one() {
    let folder = folder();
    let args = format!("untuned-hce blind.hce.toml {QUICK} --elo1 60");
    assert_eq!(sprt(folder.path(), &args.replace("--elo1 100", "")).status.code(), Some(0));
    let files = || ["sprt.pgn", "sprt.journal"].map(|name| fs::read(folder.path().join(name)).unwrap());
    let whole = files();

    // Ended after three pairs by the limit on games, then torn in the middle of the third.
    let args = args.replace("--elo1 100", "");
    assert_eq!(sprt(folder.path(), &format!("{args} --games 6")).status.code(), Some(11));
    let journal = fs::read(folder.path().join("sprt.journal")).unwrap();
    let end = journal.len() - "{\"end\":\"complete\",\"check\":\"0123456789abcdef\"}\n".len();
    fs::write(folder.path().join("sprt.journal"), &journal[..end - 20]).unwrap();
    // Arguments not given again are stored: `--resume --games N` is enough.
    let output = sprt(folder.path(), "--resume --games 5000");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(error(&output).contains("resuming after 2 pairs"), "{output:?}");
    let [pgn, journal] = files();
    assert_eq!(pgn, whole[0]);
    // The command lines differ by `--games`.
    let pairs = |journal: &[u8]| journal.iter().position(|&b| b == b'\n').map(|end| journal[end..].to_vec());
    assert_eq!(pairs(&journal), pairs(&whole[1]));
    let whole = [pgn, journal];

    // There is nothing left to play, and the answer stands.
    let output = sprt(folder.path(), &format!("{args} --resume"));
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(files(), whole);

    let output = sprt(folder.path(), &format!("{args} --resume --seed 1"));
    assert_eq!(output.status.code(), Some(1));
    assert!(error(&output).contains("seed was 0 and is now 1"), "{output:?}");
    assert_eq!(files(), whole);
}

#[test]
fn a_player_against_itself_is_undecided_and_says_why() {
    let folder = folder();
    let output = sprt(folder.path(), "untuned-hce untuned-hce --nodes 100 --games 6 --max-moves 20");
    assert_eq!(output.status.code(), Some(11), "{output:?}");
    assert!(error(&output).contains("all pairs are two identical games"), "{output:?}");
    let pgn = fs::read_to_string(folder.path().join("sprt.pgn")).unwrap();
    assert!(pgn.contains("[White \"untuned-hce (A)\"]\n[Black \"untuned-hce (B)\"]"));
}

#[test]
fn without_a_limit_the_output_says_what_was_taken() {
    let folder = folder();
    let output = sprt(folder.path(), "untuned-hce untuned-hce --games 2 --max-moves 1");
    assert!(error(&output).contains("5,000 nodes") && error(&output).contains("--tc"), "{output:?}");
}

#[test]
fn a_clock_and_the_other_limits_work() {
    let folder = folder();
    for limit in ["--tc 5+0.05", "--tc 10/5", "--movetime 5", "--depth 1"] {
        let output =
            sprt(folder.path(), &format!("untuned-hce blind.hce.toml --games 2 --max-moves 2 {limit}"));
        assert_eq!(output.status.code(), Some(11), "{output:?}");
    }
}

#[test]
fn bad_input_ends_before_any_game() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("empty.nnue"), "").unwrap();
    fs::write(at("junk.nnue"), [0xff; 100]).unwrap();
    fs::write(at("engine"), b"\x7fELF\x02\x01\x01").unwrap();
    fs::write(at("bad.epd"), "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq\nnonsense\n").unwrap();
    fs::write(at("mine.pgn"), "1. e4 e5 *\n").unwrap();
    let good = "untuned-hce untuned-hce";
    for (args, says) in [
        ("missing.nnue untuned-hce".to_string(), "missing.nnue: no such file"),
        ("untuned-hce empty.nnue".to_string(), "empty.nnue"),
        ("untuned-hce junk.nnue".to_string(), "junk.nnue"),
        ("./engine untuned-hce".to_string(), "engine: cannot be started"),
        ("untuned-hce".to_string(), "a test needs two players, not 1"),
        (format!("{good} --engine cmd=default"), "a test needs two players, not 3"),
        ("untuned-hce --engine nodes=5".to_string(), "a player without cmd="),
        ("untuned-hce --engine colour=red".to_string(), "no such key"),
        (format!("{good} --option Threads=2"), "option Threads takes a number up to 1"),
        (format!("{good} --option-b Contempt=2"), "have no option `Contempt`"),
        (format!("{good} --option Hash"), "write NAME=VALUE"),
        (format!("{good} --openings bad.epd"), "bad.epd: line 1"),
        (format!("{good} --openings none.epd"), "none.epd: no such file"),
        (format!("{good} --elo0 5 --elo1 0"), "elo0 5, elo1 0"),
        (format!("{good} -o mine.pgn"), "mine.pgn"),
    ] {
        let output = sprt(folder.path(), &args);
        assert_eq!(output.status.code(), Some(1), "{args}: {output:?}");
        assert!(error(&output).contains(says), "{args}: {output:?}");
        assert!(error(&output).starts_with("error: "), "{args}: {output:?}");
        assert!(!at("sprt.pgn").exists() && !at("sprt.journal").exists(), "{args}");
    }
    assert_eq!(fs::read_to_string(at("mine.pgn")).unwrap(), "1. e4 e5 *\n");
}

#[cfg(unix)]
#[test]
fn an_interrupt_keeps_whole_pairs_and_can_be_resumed() {
    ends_after("INT", 130);
}

/// Sent by a terminal that is closed; read from `/proc` whether it is ignored.
#[cfg(target_os = "linux")]
#[test]
fn a_closed_terminal_keeps_whole_pairs_too() {
    // Children ignore what this process does, as under `nohup`.
    let about = fs::read_to_string("/proc/self/status").unwrap();
    let ignored = about.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim();
    if u64::from_str_radix(ignored, 16).unwrap() & 1 == 1 {
        return;
    }
    ends_after("HUP", 129);
}

#[cfg(unix)]
#[track_caller]
fn ends_after(signal: &str, code: i32) {
    let folder = folder();
    let args = "untuned-hce blind.hce.toml --nodes 300 --elo0 -1 --elo1 0.5 --concurrency 2 --hash 1";
    let mut command = crate::program();
    command.current_dir(folder.path()).arg("sprt").args(args.split_whitespace());
    let child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let journal = folder.path().join("sprt.journal");
    let pairs = || fs::read_to_string(&journal).unwrap_or_default().lines().count().saturating_sub(1);
    while pairs() < 2 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(crate::signal(signal, &child.id().to_string()));
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    assert!(String::from_utf8(output.stdout).unwrap().contains("interrupted"));
    let pgn = fs::read_to_string(folder.path().join("sprt.pgn")).unwrap();
    // A finished game of a pair that is not is kept, too, and played again with its pair.
    assert!((0..=2).contains(&(pgn.matches("[Event ").count() - 2 * pairs())), "{pgn}");
}

#[test]
fn a_bad_opening_is_named_and_left_out_and_an_odd_number_of_games_is_said() {
    let folder = folder();
    let line = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -";
    fs::write(folder.path().join("book.epd"), format!("{line}\nnonsense\n\nmore\n")).unwrap();
    let args =
        "untuned-hce blind.hce.toml --nodes 50 --games 3 --openings book.epd --no-adjudication --max-moves 2";
    let output = sprt(folder.path(), args);
    assert_eq!(output.status.code(), Some(11), "{output:?}");
    let said = error(&output);
    assert!(
        said.contains("warning: book.epd: line 2: is not an EPD or FEN position: `nonsense`, and 1 more"),
        "{said}"
    );
    assert!(said.contains("--games 3: plays 4"), "{said}");
    let pgn = fs::read_to_string(folder.path().join("sprt.pgn")).unwrap();
    assert_eq!(pgn.matches("[PlyCount \"4\"]").count(), 4, "{pgn}");
}

#[test]
fn one_decided_pair_has_no_error_of_zero() {
    let folder = folder();
    let args = "untuned-hce blind.hce.toml --nodes 1000 --games 2 --max-moves 400";
    let text = String::from_utf8(sprt(folder.path(), args).stdout).unwrap();
    let of = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap().to_string();
    assert!(!text.contains("± 0.00") && !text.contains("inf"), "{text}");
    assert!(of("Elo  ").contains("unknown") || of("Elo  ").contains("unbounded"), "{text}");
    assert_eq!(of("LOS"), "LOS         75.00 %", "{text}");
}

/// `ulimit -f` gives SIGXFSZ, which would end the program without a word; a full disk is the same to a write.
#[cfg(unix)]
#[test]
fn a_file_that_may_not_grow_is_one_line_and_whole_pairs_are_kept() {
    let [folder, whole] = [folder(), folder()];
    let args = "untuned-hce blind.hce.toml --nodes 50 --games 40 --max-moves 10 --concurrency 1";
    assert_eq!(sprt(whole.path(), args).status.code(), Some(11));
    let line = format!("ulimit -f 8; exec \"$0\" sprt {args} --hash 1 -q");
    let mut shell = Command::new("sh");
    let output =
        shell.current_dir(folder.path()).args(["-c", &line, env!("CARGO_BIN_EXE_patzer")]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = error(&output);
    assert!(said.starts_with("error: sprt.pgn: ") && said.lines().count() == 1, "{said}");
    let read = |folder: &Path, name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let pairs = read(folder.path(), "sprt.journal").matches("\"pair\":").count();
    assert!(pairs > 0);
    let games = read(folder.path(), "sprt.pgn").matches("[Event ").count();
    assert!((2 * pairs..=2 * pairs + 1).contains(&games), "{games} games of {pairs} pairs");
    assert_eq!(sprt(folder.path(), "--resume").status.code(), Some(11));
    assert!(read(folder.path(), "sprt.pgn") == read(whole.path(), "sprt.pgn"));
    if Path::new("/dev/full").exists() {
        let line = "exec \"$0\" sprt --resume > /dev/full";
        let output = Command::new("sh")
            .current_dir(folder.path())
            .args(["-c", line, env!("CARGO_BIN_EXE_patzer")])
            .output();
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(error(&output).lines().last().unwrap().starts_with("error: standard output: "), "{output:?}");
    }
}
