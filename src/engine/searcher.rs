//! An engine: the memory that outlives a search, and the searches that work on it.
//!
//! In: an evaluation. Out: an [`Engine`].

use std::sync::atomic::AtomicBool;

use shakmaty::{Chess, Position};

use super::budget::Budget;
use super::history::History;
use super::search::{Search, played};
use super::stack::{Node, Stack};
use super::table::Table;
use super::{Engine, Limits, Report};
use crate::chess::Line;
use crate::chess::score::{INFINITE, Score, mated_in};
use crate::eval::Evaluator;

/// Evaluator, transposition table, histories and stack of one searching thread.
pub struct Searcher<E: Evaluator> {
    evaluator: E,
    table: Table,
    history: History,
    stack: Stack,
    selective: bool,
}

impl<E: Evaluator> Searcher<E> {
    /// An engine with a table of this many MiB, at least one.
    pub fn new(evaluator: E, hash_mb: usize) -> Searcher<E> {
        Searcher {
            evaluator,
            table: Table::new(hash_mb),
            history: History::new(),
            stack: Stack::new(),
            selective: true,
        }
    }

    /// An engine that looks at everything: no pruning, no reductions, no cut-offs by the table.
    #[cfg(test)]
    pub(super) fn exhaustive(evaluator: E) -> Searcher<E> {
        Searcher { selective: false, ..Searcher::new(evaluator, 1) }
    }

    fn begin<'a>(&'a mut self, limits: &Limits, stop: &'a AtomicBool) -> Search<'a, E> {
        Search {
            evaluator: &mut self.evaluator,
            table: &mut self.table,
            history: &mut self.history,
            stack: &mut self.stack,
            budget: Budget::new(limits, stop),
            selective: self.selective,
            nodes: 0,
            seldepth: 0,
            root_depth: 0,
        }
    }
}

impl<E: Evaluator> Engine for Searcher<E> {
    fn new_game(&mut self) {
        self.table.clear();
        self.history.clear();
    }

    fn search(
        &mut self,
        line: &Line,
        limits: &Limits,
        stop: &AtomicBool,
        info: &mut dyn FnMut(&Report),
    ) -> Report {
        self.begin(limits, stop).run(line, limits, info)
    }

    fn evaluate(&mut self, position: &Chess) -> Score {
        self.evaluator.evaluate(position, 0)
    }

    fn resolve(&mut self, position: &Chess) -> Option<(Chess, Score)> {
        static NEVER: AtomicBool = AtomicBool::new(false);
        let root = Node { position, key: 0, ply: 0, in_check: position.is_check() };
        self.begin(&Limits::default(), &NEVER).quiesce::<true>(&root, -INFINITE, INFINITE);
        let line = self.stack.line(0);
        let leaf = line.iter().fold(position.clone(), |position, &m| played(&position, m));
        if leaf.legal_moves().is_empty() {
            return leaf.is_check().then(|| (leaf, mated_in(0)));
        }
        let score = self.evaluator.evaluate(&leaf, line.len());
        Some((leaf, score))
    }

    fn resize(&mut self, hash_mb: usize) {
        // The old table goes first, so that the two are never in memory together.
        self.table = Table::new(1);
        self.table = Table::new(hash_mb);
    }
}
