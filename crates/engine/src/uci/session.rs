//! The state of a UCI session. At most one job runs at a time, on a thread that borrows the engine, and commands
//! that need the engine wait for it; `stop`, `isready`, `ponderhit` and `quit` are handled at once.

mod jobs;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use shakmaty::fen::Fen;
use shakmaty::{Chess, EnPassantMode};

use super::options::{EMBEDDED, HASH_MB, OPTIONS, OVERHEAD_MS};
use super::{Event, Out, notation, options};
use crate::engine::STACK_BYTES;
use crate::params::{PARAMETERS, Parameter, Params};
use crate::strength::STRONGEST;
use crate::tables::Probing;
use crate::{Engine, OptionError, Ponder, SearchKind, engine_with};
use patzer_chess::Line;
use patzer_eval::Evaluation;

pub(super) struct Session {
    pub(super) out: Out,
    events: Sender<Event>,
    pub(super) initial: Initial,
    pub(super) evaluation: Evaluation,
    /// `None` while a job runs; created again if needed.
    pub(super) engine: Option<Box<dyn Engine>>,
    running: Option<Running>,
    begun: u64,
    /// Arrival of the present command, or the end of the work before it.
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

/// The evaluation of the start, and its name among the values of `EvalFile`.
pub(super) struct Initial {
    pub name: String,
    pub evaluation: Evaluation,
}

impl Initial {
    /// An evaluation in place of the embedded one.
    pub(super) fn embedded(evaluation: Evaluation) -> Initial {
        Initial { name: EMBEDDED.to_owned(), evaluation }
    }
}

struct Running {
    number: u64,
    work: JoinHandle<Box<dyn Engine>>,
    stop: Arc<AtomicBool>,
    hold: Hold,
}

/// Reason to delay `bestmove` after the search.
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
    pub(super) fn new(out: Out, events: Sender<Event>, initial: Initial) -> Session {
        Session {
            out,
            events,
            evaluation: initial.evaluation.clone(),
            initial,
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
    pub(super) fn receive(&mut self, text: &str, arrived: Instant) -> bool {
        self.begin = arrived.max(self.idle_since);
        let (command, _) = split(text);
        match command {
            "" | "debug" | "register" => {}
            "quit" => return false,
            "uci" => self.introduce(),
            "tunable" => self.tunable = true,
            "spsa" => PARAMETERS.iter().filter_map(Parameter::spsa).for_each(|line| self.out.say(line)),
            "isready" => {
                // Allocate a large table now, not in the first move's time.
                if self.running.is_none() {
                    self.engine();
                }
                self.out.say("readyok");
            }
            "ponderhit" => self.ponder_hit(),
            "stop" => {
                self.halt();
                // Applies to everything queued so far.
                if !self.waiting.is_empty() {
                    self.waiting.push_back(text.to_owned());
                }
            }
            // Endless work yields to new work, not to what prepares it; anything else is waited for.
            "go" | "ucinewgame" | "bench" | "genfens" => {
                if self.running.as_ref().is_some_and(|running| running.hold.holds()) {
                    self.halt();
                }
                self.waiting.push_back(text.to_owned());
            }
            "position" | "setoption" | "d" | "eval" => self.waiting.push_back(text.to_owned()),
            _ => self.out.refuse(format_args!("unknown command `{command}`")),
        }
        self.proceed();
        self.idle_since = Instant::now();
        true
    }

    /// `ponderhit`, of the last `go ponder`: it may still wait for the search before.
    fn ponder_hit(&mut self) {
        let pondering = |text: &&mut String| {
            let (command, arguments) = split(text);
            command == "go" && arguments.split_whitespace().any(|word| word == "ponder")
        };
        if let Some(text) = self.waiting.iter_mut().rfind(pondering) {
            *text = text.split_whitespace().filter(|&word| word != "ponder").collect::<Vec<_>>().join(" ");
        } else if let Some(Running { work, hold: Hold::Ponder(ponder), .. }) = &self.running {
            ponder.hit();
            work.thread().unpark();
        }
    }

    pub(super) fn finished(&mut self, number: u64) {
        if self.running.as_ref().is_some_and(|running| running.number == number) {
            self.settle();
        }
        self.begin = Instant::now();
        self.proceed();
        self.idle_since = Instant::now();
    }

    /// Runs what is queued at the end of the input, without waiting for `stop`.
    pub(super) fn finish(&mut self) {
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
            "bench" => self.bench(arguments),
            "genfens" => self.genfens(arguments),
            _ => unreachable!("`{command}` is not queued"),
        }
    }

    fn introduce(&self) {
        self.out.say(format_args!("id name patzer {}", env!("CARGO_PKG_VERSION")));
        self.out.say("id author the patzer authors");
        for option in OPTIONS {
            self.out.say(option.declaration(self));
        }
        if self.tunable {
            PARAMETERS.iter().for_each(|row| self.out.say(row.declaration()));
        }
        self.out.say("uciok");
    }

    /// Starts a job; false, after an `info string`, if the system refuses a thread.
    fn start(
        &mut self,
        hold: Hold,
        work: impl FnOnce(&mut dyn Engine, &AtomicBool) + Send + 'static,
    ) -> bool {
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
            Ok(work) => {
                self.running = Some(Running { number, work, stop, hold });
                true
            }
            Err(error) => {
                self.out.explain(format_args!("no thread for the search: {error}"));
                false
            }
        }
    }

    pub(super) fn halt(&mut self) {
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
            let mut engine = self.new_engine();
            engine.set_threads(self.threads);
            engine.set_params(&self.params);
            engine.set_tables(self.probing.tables());
            engine
        })
    }

    /// An engine with the table that is set, or with the smallest if there is no memory for it.
    fn new_engine(&mut self) -> Box<dyn Engine> {
        let with = |mb| engine_with(self.search_kind, &self.evaluation, mb);
        with(self.hash_mb).unwrap_or_else(|error| {
            self.out.explain(format_args!("{error}: it has 1 MiB"));
            self.hash_mb = 1;
            with(1).expect("memory for the smallest table")
        })
    }

    pub(super) fn engine(&mut self) -> &mut dyn Engine {
        let engine = self.take_engine();
        &mut **self.engine.insert(engine)
    }

    pub(super) fn set_hash(&mut self, mb: usize) -> Result<(), OptionError> {
        // An engine created here needs no table of the old size first.
        let before = std::mem::replace(&mut self.hash_mb, 1);
        let resized = self.engine().resize(mb);
        self.hash_mb = if resized.is_ok() { mb } else { before };
        resized.map_err(|error| {
            if self.engine().resize(before).is_err() {
                self.hash_mb = 1;
            }
            OptionError::OutOfMemory { refused: error, kept: self.hash_mb }
        })
    }

    pub(super) fn set_threads(&mut self, threads: usize) {
        self.threads = threads;
        self.engine().set_threads(threads);
    }

    pub(super) fn set_search(&mut self, search: SearchKind) {
        self.search_kind = search;
        self.engine = None;
        self.explain_kind();
    }

    pub(super) fn set_limited(&mut self, limited: bool) {
        self.limited = limited;
        self.explain_kind();
    }

    /// Warns of options that a search by playouts ignores.
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
    pub(super) fn probe(&mut self) {
        let tables = self.probing.tables();
        self.engine().set_tables(tables);
        self.explain_kind();
    }

    pub(super) fn set_param(&mut self, name: &str, value: &str) -> Result<(), OptionError> {
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
