//! The jobs of a session: searches, perft, the bench and openings.

use std::sync::atomic::Ordering;

use shakmaty::Position;

use super::{Hold, Session};
use crate::genfens::{self, Request};
use crate::strength;
use crate::uci::go::{self, Go};
use crate::uci::notation;
use crate::uci::wdl::Chances;
use crate::{Limits, Ponder, Report, SearchKind, bench};
use patzer_chess::perft;

impl Session {
    pub(super) fn go(&mut self, arguments: &str) {
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
        let threads = self.threads;
        let mode = notation::mode(line.start(), self.chess960);
        let chances = self.show_wdl.then(|| Chances::of(line.position()));
        let started = self.start(hold, move |engine, stop| {
            let mut info = |report: &Report| {
                out.say(notation::info(report, mode, chances.as_ref()));
                if out.closed() {
                    // The reader of standard output is gone, perhaps without `quit`.
                    stop.store(true, Ordering::Relaxed);
                }
            };
            let report = engine.search(&line, &limits, stop, &mut info);
            if report.missing_threads > 0 {
                let started = threads - report.missing_threads;
                out.explain(format_args!("only {started} of {threads} search threads could be started"));
            }
            // UCI forbids answering an infinite search before `stop`.
            while held.holds() && !stop.load(Ordering::Relaxed) {
                std::thread::park();
            }
            out.say(notation::best_move(&report, mode));
        });
        if !started {
            // A GUI waits for a move.
            let best = self.line.position().legal_moves().first().copied();
            self.out.say(notation::best_move(&Report { best, ..Report::default() }, mode));
        }
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

    pub(super) fn genfens(&mut self, arguments: &str) {
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

    pub(super) fn bench(&mut self, arguments: &str) {
        let depth = if arguments.is_empty() { Ok(bench::DEPTH) } else { arguments.parse() };
        let Some(depth) = depth.ok().filter(|depth| (1..=100).contains(depth)) else {
            return self.out.refuse(format_args!("bench takes a depth from 1 to 100, not `{arguments}`"));
        };
        let out = self.out.clone();
        self.start(Hold::No, move |engine, stop| {
            let outcome = bench::run(engine, depth, stop, &mut |_| {});
            if stop.load(Ordering::Relaxed) {
                out.explain(format_args!("bench was stopped after {} nodes", outcome.nodes));
            } else {
                out.say(outcome);
            }
        });
    }
}
