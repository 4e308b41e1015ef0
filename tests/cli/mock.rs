//! A UCI engine for tests, which misbehaves on demand.
//!
//! The engine is the ignored test [`engine`] of this test program: patzer starts it with the arguments of [`command`].
//! What libtest prints first is garbage that patzer has to tolerate. The engine plays a legal move that depends on its
//! option `Seed` and the position alone, or the moves of its option `Moves`. Its option `Mode` is `fault@go`: what to
//! do wrong, and at which `go`, counted from 1 through all games; `fault@0` does it at every position of which
//! [`is_hard`] is true, `mute` reports no score at any, and `doubled` answers all twice. Its option `Score` is the
//! score that it always reports. Of all engines in a folder with the mode `block` or `blocked-crash`, one waits for a
//! file `go-on`, and then plays or dies.
//!
//! Started as `teacher`, it shows wins, draws and losses if `UCI_ShowWDL` says so, and its scores depend on the
//! searches since `ucinewgame`, as those of an engine with a transposition table do: [`taught`]. Started as
//! `iterates`, it reports five iterations of 100 nodes each and waits for `stop`. Started as `ponders`, it has the
//! option `Ponder`, expects the reply that it would play itself, and with the mode `doubles` it answers `stop` twice,
//! with `early` before it.
//!
//! Its `go perft` is right but in the modes `no en passant`, `queens`, which promotes to queens alone, and `captures`,
//! which counts a leaf too many below each capture; in a mode that ends with `totals` it names no moves.
//!
//! Started as `weighs`, it has weights as options, and `eval` says what [`weighed`] makes of them, for White.
//!
//! It knows `genfens` of OpenBench, where each eighth opening is no position; started as `few`, it ends halfway.

use std::io::{BufRead, Write};
use std::path::Path;

use patzer_chess::rng::mix;
use patzer_chess::{Line, fen};
use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Color, EnPassantMode, Position, Role};

/// Environment variable that selects the engine; its value is the fault at the start.
pub const VARIABLE: &str = "PATZER_TEST_ENGINE";

/// Description of a mock engine for `--engine`, followed by `rest`.
pub fn command(rest: &str) -> String {
    let exe = std::env::current_exe().unwrap();
    format!("\"cmd={}\" args='--exact mock::engine --ignored --nocapture' {rest}", exe.display())
}

#[test]
#[ignore = "a mock engine, started by other tests"]
fn engine() {
    let Ok(start) = std::env::var(VARIABLE) else { return };
    if let Some(request) = std::env::args().find(|argument| argument.starts_with("genfens ")) {
        genfens(&request, &start);
        std::process::exit(0);
    }
    let mut engine = Engine { start, ..Engine::default() };
    for line in std::io::stdin().lock().lines() {
        if !engine.hear(&line.unwrap()) {
            break;
        }
    }
    // Returning to libtest would print more.
    std::process::exit(0);
}

/// Positions of which a fault that is `@0` happens: about one in sixteen.
pub fn is_hard(key: u64) -> bool {
    mix(99, key).is_multiple_of(16)
}

/// The teacher's answer for a position after this many searches since `ucinewgame`: score, depth, wins and draws.
pub fn taught(key: u64, searches: u64) -> (i32, usize, [u32; 2]) {
    let value = mix(key, searches);
    let win = (value >> 20) as u32 % 1001;
    let draw = (value >> 40) as u32 % (1001 - win);
    ((value % 1999) as i32 - 999, 1 + (value >> 60) as usize, [win, draw])
}

/// Weights of [`weighed`] that are options, with their defaults.
pub const WEIGHTS: [(&str, f64); 5] = [
    ("Pawn", 90.0),
    ("Knight midgame", 310.0),
    ("Knight endgame", 280.0),
    ("Queen danger", 37.0),
    ("Idle", 5.0),
];

/// An evaluation in centipawns from White's side: a sum, a tapered sum, a square, and a tempo that no option has.
pub fn weighed(position: &Chess, weights: &[f64]) -> f64 {
    let board = position.board();
    let count = |color: Color, role: Role| board.by_piece(role.of(color)).count() as f64;
    let beyond = |role: Role| count(Color::White, role) - count(Color::Black, role);
    let phase = board.knights().count().min(4) as f64;
    let danger = |color: Color| (weights[3] * count(color, Role::Queen)).powi(2) / 50.0;
    let sum = weights[0] * beyond(Role::Pawn)
        + (weights[1] * phase + weights[2] * (4.0 - phase)) * beyond(Role::Knight) / 4.0;
    sum + danger(Color::White) - danger(Color::Black) + position.turn().fold_wb(12.0, -12.0)
}

/// Answers `genfens N seed S book …`: positions after four plies that the seed draws.
fn genfens(request: &str, start: &str) {
    let words: Vec<&str> = request.split(' ').collect();
    let number = |at: usize| words[at].parse::<u64>().unwrap();
    let (count, seed) = (number(1), number(3));
    eprintln!("{}", words[4..].join(" "));
    for index in 0..if start == "few" { count / 2 } else { count } {
        let mut position = Chess::default();
        for ply in 0..4 {
            let moves = position.legal_moves();
            position.play_unchecked(moves[mix(seed, 4 * index + ply) as usize % moves.len()]);
        }
        let fen = Fen::from_position(&position, EnPassantMode::Legal).to_string();
        say(&format!("info string genfens {}", if index % 8 == 7 { "8/8/8/8 w - -" } else { &fen }));
    }
}

#[derive(Default)]
struct Engine {
    start: String,
    seed: u64,
    moves: Vec<String>,
    mode: String,
    at: usize,
    score: Option<i32>,
    chess960: bool,
    line: Option<Line>,
    gone: usize,
    searches: u64,
    shows_wdl: bool,
    /// The last move that it answered.
    last: String,
    /// The move of a search that waits for `stop`.
    searching: Option<String>,
    /// Move of a stopped search, said after the next `readyok`.
    owed: Option<String>,
    /// A network's file and the fault with which `eval` reads it.
    network: String,
    reading: String,
    weights: Vec<f64>,
}

fn say(text: &str) {
    raw(format!("{text}\n").as_bytes());
}

fn raw(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    // Without a reader there is nothing left to test.
    if out.write_all(bytes).and_then(|()| out.flush()).is_err() {
        std::process::exit(0);
    }
}

fn wait_for_ever() -> ! {
    loop {
        std::thread::park();
    }
}

impl Engine {
    fn hear(&mut self, command: &str) -> bool {
        let (word, rest) = command.split_once(' ').unwrap_or((command, ""));
        match word {
            "uci" => match self.start.as_str() {
                "mute" => wait_for_ever(),
                "dies" => {
                    eprintln!("I cannot find my network");
                    std::process::exit(7);
                }
                "foreign" => {
                    eprintln!("{}", crate::foreign_text::EVIL);
                    std::process::exit(7);
                }
                start => {
                    let load = match start {
                        "slow" => 300,
                        "loads" => 5500,
                        _ => 0,
                    };
                    std::thread::sleep(std::time::Duration::from_millis(load));
                    say(
                        "id name Mock 1.0\nid author nobody\noption name Seed type spin default 0 min 0 max 9",
                    );
                    say(
                        "option name Moves type string default <empty>\noption name Mode type string default",
                    );
                    say("option name EvalFile type string default\noption name Reading type string default");
                    say("option name Score type spin default 0 min -9999 max 9999");
                    say(
                        "option name Move Overhead type spin default 0 min 0 max 9\noption name Clear type button",
                    );
                    if self.start == "weighs" {
                        self.weights = WEIGHTS.map(|(_, value)| value).to_vec();
                        for (name, value) in WEIGHTS {
                            say(&format!("option name {name} type spin default {value} min -2000 max 2000"));
                        }
                    }
                    if self.start == "ponders" {
                        say("option name Ponder type check default false");
                    }
                    if self.start == "teacher" {
                        say("option name UCI_ShowWDL type check default false");
                    }
                    if self.start != "classical" {
                        say("option name UCI_Chess960 type check default false");
                    }
                    say("uciok");
                }
            },
            "isready" => {
                say("readyok");
                if let Some(best) = self.owed.take() {
                    std::thread::sleep(std::time::Duration::from_millis(60));
                    say(&format!("bestmove {best}"));
                }
            }
            "ucinewgame" => self.searches = 0,
            "setoption" => self.set(rest),
            "position" => self.position(rest),
            "go" => {
                self.gone += 1;
                self.go(rest);
            }
            "stop" => {
                if self.mode == "owes" {
                    self.owed = self.searching.take();
                }
                if let Some(best) = self.searching.take() {
                    for _ in 0..if self.mode == "doubles" { 2 } else { 1 } {
                        say(&format!("bestmove {best}"));
                    }
                }
            }
            "ponderhit" => {
                if let Some(best) = self.searching.take() {
                    say(&format!("bestmove {best}"));
                }
            }
            "eval" => self.say_evaluation(),
            "quit" => return false,
            _ => {}
        }
        true
    }

    fn set(&mut self, rest: &str) {
        let (name, value) =
            rest.strip_prefix("name ").unwrap().split_once(" value ").unwrap_or((&rest[5..], ""));
        match name {
            "Seed" => self.seed = value.parse().unwrap(),
            "Moves" => self.moves = value.split(',').map(String::from).collect(),
            "Mode" => {
                let (mode, at) = value.split_once('@').unwrap_or((value, "1"));
                (self.mode, self.at) = (mode.to_string(), at.parse().unwrap());
            }
            _ if WEIGHTS.iter().any(|weight| weight.0 == name) => {
                let at = WEIGHTS.iter().position(|weight| weight.0 == name).unwrap();
                self.weights[at] = value.parse().unwrap();
            }
            "EvalFile" => self.network = value.to_string(),
            "Reading" => self.reading = value.to_string(),
            "Score" => self.score = Some(value.parse().unwrap()),
            "UCI_ShowWDL" => self.shows_wdl = value == "true",
            "UCI_Chess960" => self.chess960 = value == "true",
            "Ponder" => assert_eq!(value, "true"),
            "Move Overhead" | "Clear" => eprintln!("{name} is {value}"),
            _ => panic!("no option {name}"),
        }
    }

    fn position(&mut self, rest: &str) {
        let (setup, moves) = rest.split_once(" moves ").unwrap_or((rest, ""));
        let start = match setup.strip_prefix("fen ") {
            Some(text) => fen::position(text, self.chess960).unwrap(),
            None => Chess::default(),
        };
        let mut line = Line::new(start);
        for text in moves.split(' ').filter(|text| !text.is_empty()) {
            let m = text.parse::<UciMove>().unwrap().to_move(line.position());
            line.play(m.unwrap_or_else(|_| panic!("{text} in {rest}")));
        }
        self.line = Some(line);
    }

    fn say_evaluation(&self) {
        use patzer_eval::nnue::plain::{KingSquare, Mirroring, OutputBucket, PlainNnue, Reading};
        let position = self.line.as_ref().unwrap().position();
        if self.start == "weighs" {
            return match position.is_check() {
                true => say("Final evaluation: none (in check)"),
                false => say(&format!("evaluation: {}", weighed(position, &self.weights).trunc())),
            };
        }
        let reading = match self.reading.as_str() {
            "swapped" => Reading { swapped: true, ..Reading::default() },
            "unmirrored" => Reading { mirroring: Mirroring::Never, ..Reading::default() },
            "one king bucket" => Reading { king: KingSquare::First, ..Reading::default() },
            "reversed" => Reading { output: OutputBucket::Reversed, ..Reading::default() },
            _ => Reading::default(),
        };
        let network = patzer_eval::nnue::Network::parse(&std::fs::read(&self.network).unwrap()).unwrap();
        let plain = PlainNnue::new(&network);
        let value = plain.evaluate(position, &reading);
        let white = if position.turn().is_white() { value } else { -value };
        match self.reading.as_str() {
            "white" => say(&format!("evaluation: {white}")),
            "pawns" => say(&format!("NNUE evaluation   {:+.2} (white side)", f64::from(white) / 100.0)),
            "other scale" => say(&format!("eval {}", value * 3 / 2)),
            "tempo" => say(&format!("eval {}", value + 15)),
            "clock" => say(&format!("eval {}", value * (200 - position.halfmoves() as i32) / 200)),
            "material" => {
                say(&format!("eval {}", value * (28 + position.board().occupied().count() as i32) / 60))
            }
            "noise" => say(&format!("eval {}", value + (self.line.as_ref().unwrap().key() % 1000) as i32)),
            "words" => say("I think that White is better"),
            "nothing" => {}
            _ => say(&format!("info string evaluation {value} cp from the side to move")),
        }
    }

    /// The move with the reply that it expects.
    fn best_and_reply(&self) -> String {
        let (best, mut line) = (self.best(), self.line.clone().unwrap());
        line.play(best.parse::<UciMove>().unwrap().to_move(line.position()).unwrap());
        let moves = line.position().legal_moves();
        if moves.is_empty() {
            return best;
        }
        let reply = moves[mix(self.seed, line.key()) as usize % moves.len()];
        format!("{best} ponder {}", reply.to_uci(line.position().castles().mode()))
    }

    fn best(&self) -> String {
        let line = self.line.as_ref().unwrap();
        if let Some(text) = self.moves.get(line.moves().len()) {
            return text.clone();
        }
        let moves = line.position().legal_moves();
        let at = mix(self.seed, line.key()) as usize % moves.len();
        moves[at].to_uci(line.position().castles().mode()).to_string()
    }

    /// Leaves below a position with the errors of the mode.
    fn leaves(&self, position: &Chess, depth: u32) -> Vec<(shakmaty::Move, u64)> {
        let wrong = |m: &shakmaty::Move| match self.mode.as_str() {
            "queens" => m.promotion().is_some_and(|role| role != shakmaty::Role::Queen),
            _ => self.mode.starts_with("no en passant") && m.is_en_passant(),
        };
        let moves = position.legal_moves().into_iter().filter(|m| !wrong(m));
        let below = |m: shakmaty::Move| {
            let after = position.clone().play(m).unwrap();
            if depth == 1 {
                return 1;
            }
            let more = u64::from(self.mode.starts_with("captures") && m.is_capture());
            self.leaves(&after, depth - 1).iter().map(|(_, leaves)| leaves).sum::<u64>() + more
        };
        moves.map(|m| (m, below(m))).collect()
    }

    fn perft(&self, depth: u32) {
        let position = self.line.as_ref().unwrap().position();
        let leaves = self.leaves(position, depth);
        if !self.mode.ends_with("totals") {
            let mode = position.castles().mode();
            leaves.iter().for_each(|(m, count)| say(&format!("{}: {count}", m.to_uci(mode))));
        }
        say(&format!("\nNodes searched: {}", leaves.iter().map(|(_, count)| count).sum::<u64>()));
    }

    fn go(&mut self, limits: &str) {
        if let Some(depth) = limits.strip_prefix("perft ") {
            return self.perft(depth.parse().unwrap());
        }
        let best = self.best();
        let key = self.line.as_ref().unwrap().key();
        let hard = self.at == 0 && is_hard(key);
        let always = matches!(self.mode.as_str(), "mute" | "doubled" | "nothing");
        let mode = if always || hard || self.gone == self.at { self.mode.as_str() } else { "" };
        // The report depends on the position alone, so that it is the same in every run.
        let ply = self.line.as_ref().unwrap().moves().len();
        let (depth, score) = (1 + ply % 7, self.score.unwrap_or(ply as i32 % 90));
        match mode {
            "crash" => {
                eprintln!("assertion failed: at go {}", self.gone);
                std::process::exit(3);
            }
            "hang" => {
                raw(b"info depth 1 score cp 5 nodes 1\nbestmo");
                wait_for_ever();
            }
            "flood" => loop {
                say("info depth 1 score cp 5 nodes 1 pv e2e4 e7e5 and so on and on");
            },
            "block" | "blocked-crash" if std::fs::File::create_new("blocked").is_ok() => {
                while Path::new("blocked").exists() && !Path::new("go-on").exists() {
                    std::thread::sleep(std::time::Duration::from_millis(10));
                }
                if mode == "blocked-crash" {
                    std::process::exit(3);
                }
            }
            "owes" => {
                self.searching = Some(best);
                return;
            }
            "late" => std::thread::sleep(std::time::Duration::from_millis(30)),
            "silent" | "mute" => return say(&format!("bestmove {best}")),
            "nothing" => return say(["bestmove 0000", "bestmove (none)"][ply % 2]),
            "garbage" => {
                raw(&[0, 255, 10, 10, 13, 10, b'b', b'e', b's', b't', 10]);
                raw(&[b"info string ", &[b'x'; 100_000][..], b" score cp 900\n"].concat());
                raw(&[&b"info depth 2 score cp 77 nodes 5 pv"[..], &b" e2e4"[..].repeat(40_000), b"\n"]
                    .concat());
                raw(b"info depth 3 score cp 11 upperbound nodes 6\ninfo depth 3 multipv 2 score cp -9\n");
                for byte in format!("  bestmove   {best} ponder\r\n").bytes() {
                    raw(&[byte]);
                }
                return;
            }
            "unended" => {
                raw(format!("info depth 1 score cp 5 nodes 1\nbestmove {best}").as_bytes());
                std::process::exit(0);
            }
            // patzer shows standard error when an engine exits.
            "foreign" => {
                eprintln!("{}", crate::foreign_text::EVIL);
                std::process::exit(4);
            }
            "limits" => {
                eprintln!("go {limits}");
                std::process::exit(4);
            }
            _ => {}
        }
        if self.start == "iterates" {
            for depth in 1..=5 {
                say(&format!("info depth {depth} score cp {depth} nodes {} pv {best}", 100 * depth));
            }
            self.searching = Some(best);
            return;
        }
        if self.start == "teacher" {
            let (score, depth, [win, draw]) = taught(key, self.searches);
            let wdl = format!(" wdl {win} {draw} {}", 1000 - win - draw);
            let wdl = if self.shows_wdl { wdl.as_str() } else { "" };
            self.searches += 1;
            say(&format!("info depth {depth} score cp {score}{wdl} nodes 9 pv {best}"));
            let best = if mode == "illegal" { "e2e5" } else { &best };
            return say(&format!("bestmove {best}"));
        }
        if self.start == "ponders" {
            let answer = self.best_and_reply();
            say(&format!("info depth {depth} score cp {score} nodes {ply} nps 1000 time 1 pv {best}"));
            if limits.starts_with("ponder ") && self.mode != "early" {
                self.searching = Some(answer);
            } else {
                say(&format!("bestmove {answer}"));
            }
            return;
        }
        if mode == "stale" {
            say(&format!("bestmove {}", self.last));
        }
        self.last.clone_from(&best);
        say(&format!("info depth {depth} seldepth 9 score cp {score} nodes {ply} nps 1000 time 1 pv {best}"));
        match mode {
            "illegal" => say("bestmove e2e5"),
            "null" => say("bestmove 0000"),
            "none" => say("bestmove (none)"),
            "empty" => say("bestmove"),
            "twice" | "doubled" => {
                say(&format!("bestmove {best}"));
                say(&format!("bestmove {best}"));
            }
            _ => say(&format!("bestmove {best}")),
        }
    }
}
