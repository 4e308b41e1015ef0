//! What a UCI session knows, and what each command does to it.
//!
//! In: one command at a time. Out: answers, and at most one search at a time, which has the engine while it runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use shakmaty::fen::Fen;
use shakmaty::{Chess, EnPassantMode, Position};

use super::go::{self, Go};
use super::options::{HASH_MB, OPTIONS, OVERHEAD_MS};
use super::{Out, notation, options};
use crate::chess::{Line, perft};
use crate::engine::{Engine, Limits, bench, engine};
use crate::eval::Evaluation;

/// Enough for the deepest line that the search may look at, several times over.
const STACK_BYTES: usize = 32 << 20;

/// The state between commands.
pub struct Session {
    out: Out,
    evaluation: Evaluation,
    /// Away while a search has it, and made anew when it is needed.
    engine: Option<Box<dyn Engine>>,
    running: Option<Running>,
    line: Line,
    hash_mb: usize,
    /// Whether castling is written as king takes rook.
    pub chess960: bool,
    /// Time kept back from every move.
    pub overhead: Duration,
}

struct Running {
    search: JoinHandle<Box<dyn Engine>>,
    stop: Arc<AtomicBool>,
    endless: bool,
}

impl Session {
    /// A session at the start position.
    pub fn new(out: Out, evaluation: Evaluation) -> Session {
        Session {
            out,
            evaluation,
            engine: None,
            running: None,
            line: Line::new(Chess::default()),
            hash_mb: HASH_MB,
            chess960: false,
            overhead: Duration::from_millis(OVERHEAD_MS),
        }
    }

    /// Carries out one command; false after `quit`.
    pub fn command(&mut self, text: &str) -> bool {
        let (command, arguments) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let arguments = arguments.trim();
        match command {
            "" | "debug" | "register" | "ponderhit" => {}
            "uci" => self.introduce(),
            "isready" => self.out.say("readyok"),
            "ucinewgame" => self.engine().new_game(),
            "setoption" => {
                self.settle();
                if let Err(reason) = options::set(self, arguments) {
                    self.out.explain(reason);
                }
            }
            "position" => self.set_position(arguments),
            "go" => self.go(arguments),
            "stop" => self.halt(),
            "quit" => return false,
            "d" => self.describe(),
            "eval" => {
                let position = self.line.position().clone();
                let score = self.engine().evaluate(&position);
                self.out.explain(format_args!("evaluation {score} cp from the side to move"));
            }
            "bench" => self.bench(arguments),
            _ => self.out.explain(format_args!("unknown command `{command}`")),
        }
        true
    }

    fn introduce(&self) {
        self.out.say(format_args!("id name patzer {}", env!("CARGO_PKG_VERSION")));
        self.out.say("id author the patzer authors");
        for option in OPTIONS {
            self.out.say(option.declaration());
        }
        self.out.say("uciok");
    }

    fn set_position(&mut self, arguments: &str) {
        let (line, fault) = notation::line(arguments, self.chess960);
        if let Some(line) = line {
            self.line = line;
        }
        if let Some(fault) = fault {
            self.out.explain(fault);
        }
    }

    fn go(&mut self, arguments: &str) {
        self.settle();
        match go::parse(arguments, self.line.position().turn(), self.overhead) {
            Ok(Go::Search(limits)) => self.start(limits, false),
            Ok(Go::Endless(limits)) => self.start(limits, true),
            Ok(Go::Perft(depth)) => self.perft(depth),
            Err(reason) => self.out.explain(reason),
        }
    }

    /// Starts a search on a thread of its own.
    fn start(&mut self, limits: Limits, endless: bool) {
        let stop = Arc::new(AtomicBool::new(false));
        let mut engine = self.take_engine();
        let (out, line, stopped) = (self.out.clone(), self.line.clone(), stop.clone());
        let mode = notation::mode(line.start(), self.chess960);
        let work = move || {
            let report =
                engine.search(&line, &limits, &stopped, &mut |report| out.say(notation::info(report, mode)));
            // Told to go on until it is stopped, an engine may not answer earlier, even with nothing left to do.
            while endless && !stopped.load(Ordering::Relaxed) {
                std::thread::park();
            }
            let best = report.best.map_or_else(|| "(none)".to_owned(), |m| notation::text(m, mode));
            out.say(format_args!("bestmove {best}"));
            engine
        };
        match std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work) {
            Ok(search) => self.running = Some(Running { search, stop, endless }),
            Err(error) => self.out.explain(format_args!("no thread for the search: {error}")),
        }
    }

    /// Ends a running search at once; its best move is printed before this returns.
    pub fn halt(&mut self) {
        if let Some(running) = &mut self.running {
            running.endless = true;
        }
        self.settle();
    }

    /// Lets a running search come to its end, and ends it where it has none of its own.
    pub fn settle(&mut self) {
        let Some(running) = self.running.take() else { return };
        if running.endless {
            running.stop.store(true, Ordering::Relaxed);
            running.search.thread().unpark();
        }
        // A search that panicked took its engine along; the next command makes another one.
        self.engine = running.search.join().ok();
    }

    fn take_engine(&mut self) -> Box<dyn Engine> {
        self.settle();
        self.engine.take().unwrap_or_else(|| engine(&self.evaluation, self.hash_mb))
    }

    fn engine(&mut self) -> &mut dyn Engine {
        let engine = self.take_engine();
        &mut **self.engine.insert(engine)
    }

    /// Changes the size of the table, in MiB.
    pub fn set_hash(&mut self, mb: usize) {
        self.hash_mb = mb;
        if let Some(engine) = &mut self.engine {
            engine.resize(mb);
        }
    }

    /// Changes the evaluation.
    pub fn set_evaluation(&mut self, evaluation: Evaluation) {
        self.evaluation = evaluation;
        self.engine = None;
    }

    fn describe(&mut self) {
        let position = self.line.position().clone();
        let fen = Fen::from_position(&position, EnPassantMode::Legal);
        self.out.explain(format_args!("fen {fen}"));
        self.out.explain(format_args!("key {:016x}", self.line.key()));
    }

    fn perft(&self, depth: u32) {
        let position = self.line.position();
        let mode = notation::mode(position, self.chess960);
        if depth == 0 {
            return self.out.say("Nodes searched: 1");
        }
        let counts = perft::divide(position, depth);
        for &(m, leaves) in &counts {
            self.out.say(format_args!("{}: {leaves}", notation::text(m, mode)));
        }
        let total: u64 = counts.iter().map(|(_, leaves)| leaves).sum();
        self.out.say(format_args!("Nodes searched: {total}"));
    }

    fn bench(&mut self, arguments: &str) {
        let depth = arguments.parse().unwrap_or(bench::DEPTH);
        let outcome = bench::run(self.engine(), depth, &mut |_| {});
        self.out.say(outcome);
    }
}
