//! A GUI's side of UCI: each command waits for its answer, so a missing answer fails the test.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const PATZER_UCI: &str = env!("CARGO_BIN_EXE_patzer-uci");

struct Gui {
    child: Arc<Mutex<Child>>,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Gui {
    fn new() -> Gui {
        let mut child =
            Command::new(PATZER_UCI).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (to, from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let child = Arc::new(Mutex::new(child));
        // A hanging program is killed, and the waiting test then fails.
        let watched = child.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_secs(120));
            let _ = watched.lock().unwrap().kill();
        });
        Gui { child, to, from }
    }

    fn say(&mut self, text: &str) {
        self.to.write_all(text.as_bytes()).unwrap();
    }

    /// Sends a text and reads up to the line that begins with another.
    fn ask(&mut self, text: &str, begin: &str) -> String {
        self.say(text);
        let mut line = String::new();
        while !line.starts_with(begin) {
            line.clear();
            assert!(self.from.read_line(&mut line).unwrap() > 0, "ended without `{begin}`");
        }
        line
    }

    fn quit(mut self) {
        self.say("quit\n");
        std::io::copy(&mut self.from, &mut std::io::sink()).unwrap();
        assert!(self.child.lock().unwrap().wait().unwrap().success());
    }
}

#[test]
fn a_game_is_played_move_by_move() {
    let mut gui = Gui::new();
    gui.ask("uci\r\n", "uciok");
    for _ in 0..3 {
        gui.ask("ucinewgame\nisready\n", "readyok");
        let mut moves = String::new();
        for ply in 0..6 {
            let clocks = if ply % 2 == 0 { "wtime 40 btime 40" } else { "btime 30 winc 10 wtime 30 binc 10" };
            let answer = gui.ask(&format!("position startpos moves{moves}\ngo {clocks}\n"), "bestmove");
            let best = answer.split_whitespace().nth(1).unwrap();
            moves.push_str(&format!(" {best}"));
        }
    }
    gui.quit();
}

#[test]
fn everything_is_heard_while_a_search_runs() {
    let mut gui = Gui::new();
    gui.ask("go infinite\nisready\n", "readyok");
    // Takes effect after the search, which goes on.
    gui.ask("setoption name MultiPV value 2\nisready\n", "readyok");
    gui.ask("stop\n", "bestmove");
    gui.ask("go depth 1\n", "info depth 1 seldepth 1 multipv 2");
    gui.ask("setoption name MultiPV value 1\n", "bestmove");
    gui.ask("go depth 99\nisready\n", "readyok");
    gui.ask("position startpos moves e2e4\nsetoption name Threads value 2\nisready\n", "readyok");
    gui.ask("stop\n", "bestmove");
    gui.ask("go ponder wtime 100 btime 100\nisready\n", "readyok");
    gui.ask("ponderhit\n", "bestmove");
    gui.ask("go perft 12\nisready\n", "readyok");
    gui.say("go infinite\n");
    gui.quit();
}

#[test]
fn quit_ends_a_long_search_at_once() {
    for search in ["go depth 99\n", "go infinite\n", "go movetime 1000000\n", "bench 99\n", "go perft 15\n"] {
        let mut gui = Gui::new();
        gui.ask(&format!("{search}isready\n"), "readyok");
        gui.quit();
    }
}

#[test]
fn garbage_does_no_harm() {
    let mut gui = Gui::new();
    for junk in [
        "position",
        "position fen",
        "position fen 8/8/8/8/8/8/8/8 w - - 0 1",
        "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 999999999999 0",
        "position fen kBQQQQQQ/BR5Q/Q6Q/Q6Q/Q6Q/Q6Q/Q6Q/KQQQQQQQ w - - 0 1",
        "position startpos moves e2e4 e7e5 e1e3 0000 xyz",
        "setoption",
        "setoption name",
        "setoption name Hash value -1",
        "setoption name Hash value 99999999999999999999",
        "setoption name MultiPV value 500",
        "setoption value 3 name Hash",
        "\u{fffd}\u{0}\u{7f}",
        "go searchmoves",
        "go searchmoves e2e5 a1a1 nodes 10",
        "go depth -1",
        "go wtime -1000 btime -1000 winc -5 movestogo -3",
        "go movetime 99999999999999999999999999 nodes 1",
        "go mate 1 nodes 50",
        "genfens",
        "genfens 1 seed",
        "ponderhit",
        "stop",
    ] {
        gui.ask(&format!("{junk}\nstop\nisready\n"), "readyok");
    }
    gui.ask("ucinewgame\nposition startpos\ngo nodes 500\n", "bestmove");
    gui.quit();
}

fn run(arguments: &[&str]) -> (String, bool) {
    let output = Command::new(PATZER_UCI).args(arguments).stdin(Stdio::null()).output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), output.status.success())
}

fn output(arguments: &[&str]) -> String {
    let (text, success) = run(arguments);
    assert!(success, "{text}");
    text
}

#[test]
fn a_command_line_that_is_refused_fails() {
    for (command, reason) in [
        ("genfens 4 seed x book None", "genfens seed: not a number"),
        ("genfens 4 seed 1 book no-such.epd", "no-such.epd: "),
        ("genfens", "genfens needs: "),
        ("setoption name EvalFile value no-such.nnue", "no-such.nnue: no such file"),
        ("position startpos moves e2e5", "move 1 `e2e5` is not legal"),
        ("nonsense", "unknown command `nonsense`"),
    ] {
        let (text, success) = run(&[command, "quit"]);
        assert!(!success && text.starts_with(&format!("info string {reason}")), "{command}: {text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
}

#[cfg(unix)]
#[test]
fn an_evaluation_that_is_too_large_is_refused_before_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let large = folder.path().join("large.nnue");
    std::fs::write(&large, "PATZNNUE").unwrap();
    std::fs::File::options().write(true).open(&large).unwrap().set_len(2 << 30).unwrap();
    let command = format!("setoption name EvalFile value {}", large.display());
    // Half of what reading up to the limit of 512 MiB takes, in KiB.
    let script = r#"ulimit -v 262144 && exec "$0" "$1""#;
    let output = Command::new("sh").args(["-c", script, PATZER_UCI, &command]).output().unwrap();
    let said = format!("info string {}: is larger than 512 MiB, the limit for its kind\n", large.display());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), said);
}

#[test]
fn openbench_gets_its_openings_and_its_bench() {
    let text = output(&["genfens 4 seed 9 book None extra", "quit"]);
    assert_eq!(text.lines().filter(|line| line.starts_with("info string genfens ")).count(), 4, "{text}");
    let text = output(&["bench", "2"]);
    let words: Vec<&str> = text.lines().last().unwrap().split(' ').collect();
    assert!(matches!(words[..], [_, "nodes", _, "nps"]), "{text}");
}

#[test]
fn the_numbers_of_the_search_are_options_only_when_asked_for() {
    assert!(output(&["spsa"]).lines().all(|line| line.split(", ").count() == 7));
    assert!(!output(&["uci"]).contains("rfp_margin"));
    let mut child =
        Command::new(PATZER_UCI).arg("tunable").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let commands = b"uci\nsetoption name rfp_margin value 70\nsetoption name rfp_margin value x\n";
    child.stdin.take().unwrap().write_all(commands).unwrap();
    let text = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert!(text.contains("option name rfp_margin type spin default "), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("info string")).count(), 1, "{text}");
}
