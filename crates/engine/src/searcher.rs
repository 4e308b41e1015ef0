//! An engine: the memory that outlives a search, and the searches that work on it.
//!
//! In: an evaluation. Out: an [`Engine`].

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};

use shakmaty::{Bitboard, Chess, Position, attacks};

use super::correction::Correction;
use super::history::History;
use super::params::Params;
use super::pruning::Reductions;
use super::search::Search;
use super::stack::{Node, Stack};
use super::time_manager::Budget;
use super::transposition_table::{SHALLOWEST, Table};
use super::{Engine, Limits, Report, STACK_BYTES};
use patzer_chess::Line;
use patzer_chess::score::{INFINITE, Score, mated_in};
use patzer_eval::Evaluator;

/// What one searching thread remembers for itself.
struct Worker<E> {
    evaluator: E,
    history: History,
    correction: Correction,
    stack: Stack,
}

impl<E: Evaluator> Worker<E> {
    fn new(evaluator: E) -> Worker<E> {
        Worker { evaluator, history: History::new(), correction: Correction::new(), stack: Stack::new() }
    }

    fn forget(&mut self) {
        self.history.clear();
        self.correction.clear();
    }

    fn begin<'a>(&'a mut self, shared: &'a Shared, budget: Budget<'a>) -> Search<'a, E> {
        Search {
            evaluator: &mut self.evaluator,
            table: &shared.table,
            history: &mut self.history,
            correction: &mut self.correction,
            stack: &mut self.stack,
            params: &shared.params,
            reductions: &shared.reductions,
            budget,
            selective: shared.selective,
            nodes: 0,
            seldepth: 0,
            root_depth: 0,
            moves: Vec::new(),
            rank: 0,
            restricted: false,
        }
    }
}

/// What all threads of a search share.
struct Shared {
    table: Table,
    params: Params,
    /// By the parameters.
    reductions: Reductions,
    selective: bool,
}

/// A transposition table and the threads that search with it; the first is the one that asks.
pub struct Searcher<E: Evaluator> {
    shared: Shared,
    first: Worker<E>,
    helpers: Vec<Worker<E>>,
}

impl<E: Evaluator> Searcher<E> {
    /// An engine of one thread with this table.
    pub fn new(evaluator: E, table: Table) -> Searcher<E> {
        let params = Params::default();
        let shared = Shared { table, reductions: Reductions::new(&params), params, selective: true };
        Searcher { shared, first: Worker::new(evaluator), helpers: Vec::new() }
    }

    /// An engine that looks at everything: no pruning, no reductions, no cut-offs by the table.
    #[cfg(test)]
    pub(super) fn exhaustive(evaluator: E) -> Searcher<E> {
        let mut searcher = Searcher::new(evaluator, Table::least());
        searcher.shared.selective = false;
        searcher
    }
}

impl<E: Evaluator> Engine for Searcher<E> {
    fn new_game(&mut self) {
        self.shared.table.clear();
        self.first.forget();
        self.helpers.iter_mut().for_each(Worker::forget);
    }

    /// With several threads, each searches the same position with the same table and memory of its own, so that
    /// they find out different things for each other ("Lazy SMP", as Stockfish has it since 2016). The first one
    /// decides when to end and what to play.
    fn search(
        &mut self,
        line: &Line,
        limits: &Limits,
        stop: &AtomicBool,
        info: &mut dyn FnMut(&Report),
    ) -> Report {
        let shared = &self.shared;
        shared.table.grow_older();
        let told = AtomicU64::new(0);
        let number = line.position().fullmoves().get();
        let mut search = self.first.begin(shared, Budget::new(limits, number, stop, &told));
        if self.helpers.is_empty() {
            return search.run(line, limits, 0, info);
        }
        let done = AtomicBool::new(false);
        let endless = Limits { depth: limits.depth, only: limits.only.clone(), ..Limits::default() };
        std::thread::scope(|scope| {
            for (index, helper) in self.helpers.iter_mut().enumerate() {
                let mut search = helper.begin(shared, Budget::new(&endless, number, &done, &told));
                let (endless, mut ignore) = (&endless, |_: &Report| {});
                let work = move || search.run(line, endless, index + 1, &mut ignore);
                // Without one of the helpers the others still search.
                let _ = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
            }
            let report = search.run(line, limits, 0, info);
            done.store(true, Relaxed);
            report
        })
    }

    fn evaluate(&mut self, position: &Chess) -> Score {
        self.first.evaluator.evaluate(position, 0)
    }

    fn resolve(&mut self, position: &Chess) -> Option<(Chess, Score)> {
        static NEVER: AtomicBool = AtomicBool::new(false);
        let told = AtomicU64::new(0);
        let root = Node { position, key: 0, ply: 0, in_check: position.is_check() };
        let budget = Budget::new(&Limits::default(), 1, &NEVER, &told);
        let mut search = self.first.begin(&self.shared, budget);
        search.selective = false;
        let value = search.quiesce::<true>(&root, -INFINITE, INFINITE, SHALLOWEST);
        let line = self.first.stack.line(0);
        let mut leaf = position.clone();
        for &m in line {
            leaf.play_unchecked(m);
        }
        if stuck(&leaf) {
            return leaf.is_check().then(|| (leaf, mated_in(0)));
        }
        // The value of the search is the evaluation of its leaf, seen from the root.
        let score = if line.len().is_multiple_of(2) { value } else { -value };
        Some((leaf, score))
    }

    fn resize(&mut self, hash_mb: usize) -> Result<(), String> {
        // The old table goes first, so that the two are never in memory together.
        self.shared.table = Table::least();
        self.shared.table = Table::new(hash_mb)?;
        Ok(())
    }

    fn set_params(&mut self, params: &Params) {
        self.shared.params = params.clone();
        self.shared.reductions = Reductions::new(params);
    }

    fn set_threads(&mut self, threads: usize) {
        self.helpers.resize_with(threads.saturating_sub(1), || Worker::new(self.first.evaluator.clone()));
    }
}

/// Whether a side has no legal move. Generating them all is the last resort: hardly any position is without a pawn,
/// or a knight off the king's lines, that can simply move.
pub(super) fn stuck(position: &Chess) -> bool {
    let free = |king| {
        let board = position.board();
        let lines = attacks::queen_attacks(king, Bitboard::EMPTY);
        let ours = position.us();
        let pawns = ours & board.pawns() & !lines;
        let steps = pawns.shift(position.turn().fold_wb(8, -8)) & !board.occupied();
        let leaps = (ours & board.knights() & !lines)
            .into_iter()
            .any(|from| !attacks::knight_attacks(from).is_subset(ours));
        steps.any() || leaps
    };
    let king = position.board().king_of(position.turn());
    (position.is_check() || !king.is_some_and(free)) && position.legal_moves().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine;
    use crate::testing::Simple;
    use crate::transposition_table::{Bound, Entry};
    use patzer_chess::testing::along_random_games;
    use patzer_chess::{fen, key, score};
    use patzer_eval::Evaluation;

    #[test]
    fn a_side_is_stuck_if_it_has_no_legal_move() {
        along_random_games(5, 30, 200, |position| {
            assert_eq!(stuck(position), position.legal_moves().is_empty());
        });
        for (text, expected) in [
            ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", true),
            ("7k/5Q2/6K1/8/7p/8/8/8 b - - 0 1", false),
            // The only pawn is blocked; then also a knight, which is pinned.
            ("k7/8/1Q6/8/8/7p/7P/K7 b - - 0 1", true),
            ("k1n4R/8/1Q6/8/8/7p/7P/7K b - - 0 1", true),
        ] {
            assert_eq!(stuck(&fen::position(text, false).unwrap()), expected, "{text}");
        }
    }

    /// What the table knows of a position behind a search of it with an empty window.
    fn found(text: &str, alpha: Score, depth: i32) -> Entry {
        static NEVER: AtomicBool = AtomicBool::new(false);
        let position = fen::position(text, false).unwrap();
        let key = key::of(&position);
        let mut searcher = Searcher::new(Simple, Table::least());
        let told = AtomicU64::new(0);
        let budget = Budget::new(&Limits::default(), 1, &NEVER, &told);
        let node = Node { position: &position, key, ply: 0, in_check: position.is_check() };
        searcher.first.begin(&searcher.shared, budget).node::<false>(&node, alpha, alpha + 1, depth, true);
        searcher.shared.table.probe(key, 0).expect("an entry")
    }

    #[test]
    fn a_bare_evaluation_is_kept_only_where_nothing_was_searched() {
        let even = "4k3/pp6/8/8/8/8/PP6/4K3 w - - 0 1";
        let bare = |entry: Entry| entry.eval == Some(0) && entry.score <= -score::MATE_IN_MAX;
        assert!(bare(found(even, -400, 2)), "reverse futility");
        let razored = found(even, 2000, 1);
        assert!(!bare(razored) && razored.bound == Bound::Upper && razored.score <= 2000);
    }

    #[test]
    fn the_score_of_a_leaf_is_its_evaluation() {
        let mut engine = engine(&Evaluation::default_hce(), 1);
        along_random_games(5, 30, 200, |position| {
            if let Some((leaf, value)) = engine.resolve(position)
                && !score::is_mate(value)
            {
                assert_eq!(value, engine.evaluate(&leaf), "{position:?}");
            }
        });
    }
}
