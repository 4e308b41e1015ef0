//! The state of a UCI session. At most one job runs at a time, on a thread that borrows the engine, and commands
//! that need the engine wait for it; `stop`, `isready`, `ponderhit` and `quit` are handled at once.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use shakmaty::fen::Fen;
use shakmaty::{Chess, EnPassantMode};

use super::go::{self, Go};
use super::options::{HASH_MB, OPTIONS, OVERHEAD_MS};
use super::wdl::Chances;
use super::{Event, Out, notation, options};
use crate::genfens::{self, Request};
use crate::params::{Params, ROWS, Row};
use crate::strength::{self, STRONGEST};
use crate::tables::Probing;
use crate::{Engine, Limits, OptionError, Ponder, Report, STACK_BYTES, SearchKind, bench, engine_with};
use patzer_chess::{Line, perft};
use patzer_eval::Evaluation;

pub struct Session {
    pub(super) out: Out,
    events: Sender<Event>,
    pub(super) evaluation: Evaluation,
    /// `None` while a job runs; created again if needed.
    pub(super) engine: Option<Box<dyn Engine>>,
    running: Option<Running>,
    begun: u64,
    /// When the present command arrived, or the work before it ended.
    begin: Instant,
    idle_since: Instant,
    waiting: VecDeque<String>,
    line: Line,
    hash_mb: usize,
    search_kind: SearchKind,
    threads: usize,
    params: Params,
    tunable: bool,
    pub probing: Probing,
    pub analyse: bool,
    limited: bool,
    pub elo: u64,
    pub seed: u64,
    pub chess960: bool,
    pub overhead: Duration,
    pub lines: usize,
    pub show_wdl: bool,
}

struct Running {
    number: u64,
    work: JoinHandle<Box<dyn Engine>>,
    stop: Arc<AtomicBool>,
    hold: Hold,
}

/// What delays `bestmove`.
#[derive(Clone)]
enum Hold {
    No,
    Endless,
    Ponder(Ponder),
}

impl Hold {
    fn holds(&self) -> bool {
        matches!(self, Hold::Endless) || matches!(self, Hold::Ponder(ponder) if ponder.holds())
    }
}

impl Session {
    pub fn new(out: Out, events: Sender<Event>, evaluation: Evaluation) -> Session {
        Session {
            out,
            events,
            evaluation,
            engine: None,
            running: None,
            begun: 0,
            begin: Instant::now(),
            idle_since: Instant::now(),
            waiting: VecDeque::new(),
            line: Line::new(Chess::default()),
            hash_mb: HASH_MB,
            search_kind: SearchKind::default(),
            threads: 1,
            params: Params::default(),
            // `make EXE=NAME TUNE=1`: runners send no option that is not declared.
            tunable: option_env!("PATZER_TUNE") == Some("1"),
            probing: Probing { base: None, limit: 7, depth: 1 },
            analyse: false,
            limited: false,
            elo: STRONGEST,
            seed: 0,
            show_wdl: false,
            chess960: false,
            overhead: Duration::from_millis(OVERHEAD_MS),
            lines: 1,
        }
    }

    /// Runs or queues a command; false after `quit`.
    pub fn receive(&mut self, text: &str, arrived: Instant) -> bool {
        self.begin = arrived.max(self.idle_since);
        let (command, _) = split(text);
        match command {
            "" | "debug" | "register" => {}
            "quit" => return false,
            "uci" => self.introduce(),
            "tunable" => self.tunable = true,
            "isready" => {
                // Allocate a large table now, not in the first move's time.
                if self.running.is_none() {
                    self.engine();
                }
                self.out.say("readyok");
            }
            "ponderhit" => {
                if let Some(Running { work, hold: Hold::Ponder(ponder), .. }) = &self.running {
                    ponder.hit();
                    work.thread().unpark();
                }
            }
            "stop" => {
                self.halt();
                // Applies to everything queued so far.
                if !self.waiting.is_empty() {
                    self.waiting.push_back(text.to_owned());
                }
            }
            _ => {
                // Endless work yields to new work, not to what prepares it; anything else is waited for.
                let held = self.running.as_ref().is_some_and(|running| running.hold.holds());
                if held && !matches!(command, "position" | "setoption" | "d" | "eval") {
                    self.halt();
                }
                self.waiting.push_back(text.to_owned());
            }
        }
        self.proceed();
        self.idle_since = Instant::now();
        true
    }

    pub fn finished(&mut self, number: u64) {
        if self.running.as_ref().is_some_and(|running| running.number == number) {
            self.settle();
        }
        self.begin = Instant::now();
        self.proceed();
        self.idle_since = Instant::now();
    }

    /// Runs what is queued at the end of the input, without waiting for `stop`.
    pub fn finish(&mut self) {
        self.settle();
        while !self.waiting.is_empty() {
            self.begin = Instant::now();
            self.proceed();
            self.settle();
        }
    }

    fn proceed(&mut self) {
        while let Some(text) = self.waiting.front() {
            let is_stop = |text: &String| split(text).0 == "stop";
            let stop = is_stop(text);
            if self.running.is_some() && !stop {
                if !self.waiting.iter().any(is_stop) {
                    return;
                }
                self.halt();
            }
            let Some(text) = self.waiting.pop_front() else { return };
            if stop { self.halt() } else { self.carry_out(&text) }
        }
    }

    fn carry_out(&mut self, text: &str) {
        let (command, arguments) = split(text);
        match command {
            "ucinewgame" => self.engine().new_game(),
            "setoption" => {
                options::set(self, arguments).unwrap_or_else(|reason| self.out.refuse(reason));
            }
            "position" => {
                let (line, error) = notation::line(arguments, self.chess960);
                line.into_iter().for_each(|line| self.line = line);
                error.into_iter().for_each(|error| self.out.refuse(error));
            }
            "go" => self.go(arguments),
            "d" => {
                let fen = Fen::from_position(self.line.position(), EnPassantMode::Legal);
                self.out.explain(format_args!("fen {fen}"));
                self.out.explain(format_args!("key {:016x}", self.line.key()));
            }
            "eval" => {
                let position = self.line.position().clone();
                let score = self.engine().evaluate(&position);
                self.out.explain(format_args!("evaluation {score} cp from the side to move"));
            }
            "bench" => {
                let depth = arguments.parse::<i32>().unwrap_or(bench::DEPTH).max(1);
                let out = self.out.clone();
                self.start(Hold::No, move |engine, stop| {
                    out.say(bench::run(engine, depth, stop, &mut |_| {}))
                });
            }
            "genfens" => self.genfens(arguments),
            "spsa" => ROWS.iter().filter_map(Row::spsa).for_each(|line| self.out.say(line)),
            _ => self.out.refuse(format_args!("unknown command `{command}`")),
        }
    }

    fn introduce(&self) {
        self.out.say(format_args!("id name patzer {}", env!("CARGO_PKG_VERSION")));
        self.out.say("id author the patzer authors");
        for option in OPTIONS {
            self.out.say(option.declaration());
        }
        if self.tunable {
            ROWS.iter().for_each(|row| self.out.say(row.declaration()));
        }
        self.out.say("uciok");
    }

    fn go(&mut self, arguments: &str) {
        let (go, warnings) = go::parse(arguments, self.line.position(), self.overhead);
        warnings.into_iter().for_each(|error| self.out.explain(error));
        match go {
            Go::Search(limits) => self.search(limits, Hold::No),
            Go::Endless(limits) => self.search(limits, Hold::Endless),
            Go::Ponder(limits) => {
                let ponder = Ponder::default();
                self.search(Limits { ponder: Some(ponder.clone()), ..limits }, Hold::Ponder(ponder));
            }
            Go::Perft(depth) => self.perft(depth),
        }
    }

    fn search(&mut self, limits: Limits, hold: Hold) {
        let mut limits = Limits { lines: self.lines, begin: Some(self.begin), ..limits };
        if self.limited && !self.analyse && self.search_kind == SearchKind::AlphaBeta {
            strength::weaken(&mut limits, self.elo, self.seed);
        }
        let (out, line, held) = (self.out.clone(), self.line.clone(), hold.clone());
        let mode = notation::mode(line.start(), self.chess960);
        let chances = self.show_wdl.then(|| Chances::of(line.position()));
        self.start(hold, move |engine, stop| {
            let mut info = |report: &Report| {
                out.say(notation::info(report, mode, chances.as_ref()));
                if out.closed() {
                    // The reader is gone, perhaps without `quit`.
                    stop.store(true, Ordering::Relaxed);
                }
            };
            let report = engine.search(&line, &limits, stop, &mut info);
            // UCI forbids answering an infinite search before `stop`.
            while held.holds() && !stop.load(Ordering::Relaxed) {
                std::thread::park();
            }
            out.say(notation::best_move(&report, mode));
        });
    }

    fn perft(&mut self, depth: u32) {
        let (out, position) = (self.out.clone(), self.line.position().clone());
        let mode = notation::mode(&position, self.chess960);
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        self.start(Hold::No, move |_, stop| {
            if depth == 0 {
                return out.say("Nodes searched: 1");
            }
            let Some(counts) = perft::divide(&position, depth, threads, stop) else { return };
            for &(m, leaves) in &counts {
                out.say(format_args!("{}: {leaves}", notation::text(m, mode)));
            }
            let total: u64 = counts.iter().map(|(_, leaves)| leaves).sum();
            out.say(format_args!("Nodes searched: {total}"));
        });
    }

    fn genfens(&mut self, arguments: &str) {
        let out = self.out.clone();
        let request = match Request::parse(arguments) {
            Ok(request) => request,
            Err(reason) => return self.out.refuse(reason),
        };
        self.start(Hold::No, move |engine, stop| {
            let mut found = |fen: &str| out.explain(format_args!("genfens {fen}"));
            let made = genfens::generate(&request, engine, stop, &mut found);
            made.unwrap_or_else(|reason| out.refuse(reason));
        });
    }

    fn start(&mut self, hold: Hold, work: impl FnOnce(&mut dyn Engine, &AtomicBool) + Send + 'static) {
        let stop = Arc::new(AtomicBool::new(false));
        let mut engine = self.take_engine();
        let (stopped, events) = (stop.clone(), self.events.clone());
        self.begun += 1;
        let number = self.begun;
        let job = move || {
            work(engine.as_mut(), &stopped);
            let _ = events.send(Event::Done(number));
            engine
        };
        match std::thread::Builder::new().stack_size(STACK_BYTES).spawn(job) {
            Ok(work) => self.running = Some(Running { number, work, stop, hold }),
            Err(error) => self.out.explain(format_args!("no thread for the search: {error}")),
        }
    }

    pub fn halt(&mut self) {
        if let Some(running) = &self.running {
            running.stop.store(true, Ordering::Relaxed);
        }
        self.settle();
    }

    fn settle(&mut self) {
        let Some(running) = self.running.take() else { return };
        if running.hold.holds() {
            running.stop.store(true, Ordering::Relaxed);
        }
        running.work.thread().unpark();
        // A job that panicked lost its engine; the next command creates another.
        self.engine = running.work.join().ok();
    }

    fn take_engine(&mut self) -> Box<dyn Engine> {
        self.engine.take().unwrap_or_else(|| {
            let mut engine = engine_with(self.search_kind, &self.evaluation, self.hash_mb);
            engine.set_threads(self.threads);
            engine.set_params(&self.params);
            engine.set_tables(self.probing.tables());
            engine
        })
    }

    pub(super) fn engine(&mut self) -> &mut dyn Engine {
        let engine = self.take_engine();
        &mut **self.engine.insert(engine)
    }

    pub fn set_hash(&mut self, mb: usize) -> Result<(), OptionError> {
        // An engine that is made for this has no use for a table of the size before.
        let before = std::mem::replace(&mut self.hash_mb, 1);
        let resized = self.engine().resize(mb);
        self.hash_mb = if resized.is_ok() { mb } else { before };
        resized.map_err(OptionError::OutOfMemory)
    }

    pub fn set_threads(&mut self, threads: usize) {
        self.threads = threads;
        self.engine().set_threads(threads);
    }

    pub fn set_search(&mut self, search: SearchKind) {
        self.search_kind = search;
        self.engine = None;
        self.explain_kind();
    }

    pub fn set_limited(&mut self, limited: bool) {
        self.limited = limited;
        self.explain_kind();
    }

    /// Says which options a search by playouts leaves unused.
    fn explain_kind(&self) {
        if self.search_kind == SearchKind::AlphaBeta {
            return;
        }
        let name = self.search_kind.name();
        if self.probing.base.is_some() {
            self.out.explain(format_args!("Search {name} probes no tables"));
        }
        if self.limited {
            self.out.explain(format_args!("Search {name} plays at full strength"));
        }
    }

    /// Hands the tables to the engine.
    pub fn probe(&mut self) {
        let tables = self.probing.tables();
        self.engine().set_tables(tables);
        self.explain_kind();
    }

    pub fn set_param(&mut self, name: &str, value: &str) -> Result<(), OptionError> {
        self.params.set(name, value)?;
        let params = self.params.clone();
        self.engine().set_params(&params);
        Ok(())
    }
}

fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let (command, arguments) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (command, arguments.trim())
}
