//! The engine: state that outlives a search, and its threads.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};

use shakmaty::{Bitboard, Chess, Position, attacks};

use super::correction::CorrectionHistory;
use super::history::History;
use super::params::Params;
use super::pruning::LmrTable;
use super::search::Search;
use super::stack::{Node, Stack};
use super::tables::{RootTables, Tables};
use super::time_manager::TimeManager;
use super::transposition_table::{DEPTH_QS_NO_CHECKS, OutOfMemory, TranspositionTable};
use super::{Engine, Limits, Report};
use crate::engine::STACK_BYTES;
use patzer_chess::score::{INFINITE, Score, mated_in};
use patzer_chess::{Line, played};
use patzer_eval::Evaluator;

struct Worker<E> {
    evaluator: E,
    history: History,
    correction: CorrectionHistory,
    stack: Stack,
}

impl<E: Evaluator> Worker<E> {
    fn new(evaluator: E) -> Worker<E> {
        let (history, correction) = (History::new(), CorrectionHistory::new());
        Worker { evaluator, history, correction, stack: Stack::new() }
    }

    fn clear(&mut self) {
        self.history.clear();
        self.correction.clear();
    }

    fn new_search<'a>(&'a mut self, shared: &'a Shared, time: TimeManager<'a>) -> Search<'a, E> {
        Search {
            evaluator: &mut self.evaluator,
            tt: &shared.tt,
            history: &mut self.history,
            correction: &mut self.correction,
            stack: &mut self.stack,
            params: &shared.params,
            lmr: &shared.lmr,
            time,
            selective: shared.selective,
            nodes: 0,
            cutoffs: [0; 2],
            seldepth: 0,
            root_depth: 0,
            moves: Vec::new(),
            rank: 0,
            restricted: false,
            noise: None,
            tables: shared.tables.as_ref(),
            table_score: None,
            secured: false,
        }
    }
}

struct Shared {
    tt: TranspositionTable,
    params: Params,
    lmr: LmrTable,
    selective: bool,
    tables: Option<Tables>,
}

impl Shared {
    /// Probes the root; `None` with MultiPV, which reports lost moves too.
    fn root_tables(&self, line: &Line, limits: &Limits) -> Option<RootTables> {
        let tables = self.tables.as_ref().filter(|_| limits.noise.is_none())?;
        tables.new_search();
        let mut moves = line.position().legal_moves().to_vec();
        moves.retain(|m| limits.only.is_empty() || limits.only.contains(m));
        if limits.lines > 1 { None } else { tables.at_root(line, &moves) }
    }
}

pub(crate) struct Searcher<E: Evaluator> {
    shared: Shared,
    main: Worker<E>,
    helpers: Vec<Worker<E>>,
}

impl<E: Evaluator> Searcher<E> {
    pub(crate) fn new(evaluator: E, tt: TranspositionTable) -> Searcher<E> {
        let params = Params::default();
        let shared = Shared { tt, lmr: LmrTable::new(&params), params, selective: true, tables: None };
        Searcher { shared, main: Worker::new(evaluator), helpers: Vec::new() }
    }

    /// Alpha-beta searches of all threads, the main one first, as parts of a search by playouts.
    pub(super) fn of_threads<'a>(
        &'a mut self,
        time: impl Fn(usize) -> TimeManager<'a>,
    ) -> Vec<Search<'a, E>> {
        let workers = std::iter::once(&mut self.main).chain(&mut self.helpers).enumerate();
        workers.map(|(index, worker)| worker.new_search(&self.shared, time(index))).collect()
    }

    #[cfg(test)]
    pub(super) fn exhaustive(evaluator: E) -> Searcher<E> {
        let mut searcher = Searcher::new(evaluator, TranspositionTable::smallest());
        searcher.shared.selective = false;
        searcher
    }
}

impl<E: Evaluator> Engine for Searcher<E> {
    fn new_game(&mut self) {
        self.shared.tt.clear();
        self.main.clear();
        self.helpers.iter_mut().for_each(Worker::clear);
    }

    /// Lazy SMP, as in Stockfish since 2016: all threads search the same position with a shared table and
    /// their own histories. The main thread decides when to stop and what to play.
    fn search(
        &mut self,
        line: &Line,
        limits: &Limits,
        stop: &AtomicBool,
        info: &mut dyn FnMut(&Report),
    ) -> Report {
        let shared = &self.shared;
        shared.tt.new_search();
        let root = shared.root_tables(line, limits);
        let narrowed = root.as_ref().map(|root| Limits { only: root.moves.clone(), ..limits.clone() });
        let limits = narrowed.as_ref().unwrap_or(limits);
        let shared_nodes = AtomicU64::new(0);
        let number = line.position().fullmoves().get();
        let mut search = self.main.new_search(shared, TimeManager::new(limits, number, stop, &shared_nodes));
        search.follow(root.as_ref());
        if self.helpers.is_empty() || limits.noise.is_some() {
            return search.run(line, limits, 0, info);
        }
        let done = AtomicBool::new(false);
        // The main thread may be late to see that the nodes are spent, or even to begin.
        let Limits { depth, nodes, .. } = *limits;
        let shared_limits = Limits { depth, nodes, only: limits.only.clone(), ..Limits::default() };
        std::thread::scope(|scope| {
            let mut missing_threads = 0;
            for (index, helper) in self.helpers.iter_mut().enumerate() {
                let mut search =
                    helper.new_search(shared, TimeManager::new(&shared_limits, number, &done, &shared_nodes));
                search.follow(root.as_ref());
                let (shared_limits, mut ignore) = (&shared_limits, |_: &Report| {});
                let work = move || search.run(line, shared_limits, index + 1, &mut ignore);
                let started = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
                missing_threads += usize::from(started.is_err());
            }
            let report = search.run(line, limits, 0, info);
            done.store(true, Relaxed);
            Report { missing_threads, ..report }
        })
    }

    fn evaluate(&mut self, position: &Chess) -> Score {
        self.main.evaluator.evaluate(position, 0)
    }

    fn quiescence_leaf(&mut self, position: &Chess) -> Option<(Chess, Score)> {
        static NEVER: AtomicBool = AtomicBool::new(false);
        let shared_nodes = AtomicU64::new(0);
        let root = Node::root(position, 0);
        let time = TimeManager::new(&Limits::default(), 1, &NEVER, &shared_nodes);
        let mut search = self.main.new_search(&self.shared, time);
        search.selective = false;
        let value = search.quiesce::<true>(&root, -INFINITE, INFINITE, DEPTH_QS_NO_CHECKS);
        let line = self.main.stack.line(0);
        let leaf = line.iter().fold(position.clone(), |position, &m| played(&position, m));
        if has_no_moves(&leaf) {
            return leaf.is_check().then(|| (leaf, mated_in(0)));
        }
        // The search's value is the leaf's evaluation from the root's view.
        let score = if line.len().is_multiple_of(2) { value } else { -value };
        Some((leaf, score))
    }

    fn resize(&mut self, hash_mb: usize) -> Result<(), OutOfMemory> {
        // Free the old table first, so that both never coexist.
        self.shared.tt = TranspositionTable::smallest();
        self.shared.tt = TranspositionTable::new(hash_mb)?;
        Ok(())
    }

    fn set_params(&mut self, params: &Params) {
        self.shared.params = params.clone();
        self.shared.lmr = LmrTable::new(params);
    }

    fn set_tables(&mut self, tables: Option<Tables>) {
        self.shared.tables = tables;
    }

    fn set_threads(&mut self, threads: usize) {
        self.helpers.resize_with(threads.saturating_sub(1), || Worker::new(self.main.evaluator.clone()));
    }
}

/// Stalemate and mate test. Hardly any position lacks a free pawn step, or a free knight off the king's
/// lines, so generating moves is the last resort.
pub(super) fn has_no_moves(position: &Chess) -> bool {
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
    use crate::testing::Simple;
    use crate::transposition_table::{Bound, Entry};
    use patzer_chess::testing::{along_random_games, from_fen, line};
    use patzer_chess::{key, score};

    #[test]
    fn a_side_is_stuck_if_it_has_no_legal_move() {
        along_random_games(5, 30, 200, |position| {
            assert_eq!(has_no_moves(position), position.legal_moves().is_empty());
        });
        for (text, expected) in [
            ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", true),
            ("7k/5Q2/6K1/8/7p/8/8/8 b - - 0 1", false),
            // The only pawn is blocked; then also a pinned knight.
            ("k7/8/1Q6/8/8/7p/7P/K7 b - - 0 1", true),
            ("k1n4R/8/1Q6/8/8/7p/7P/7K b - - 0 1", true),
        ] {
            assert_eq!(has_no_moves(&from_fen(text)), expected, "{text}");
        }
    }

    fn found(text: &str, alpha: Score, depth: i32) -> Entry {
        static NEVER: AtomicBool = AtomicBool::new(false);
        let position = from_fen(text);
        let key = key::of(&position);
        let mut searcher = Searcher::new(Simple, TranspositionTable::smallest());
        let shared_nodes = AtomicU64::new(0);
        let time = TimeManager::new(&Limits::default(), 1, &NEVER, &shared_nodes);
        let node = Node::root(&position, key);
        searcher.main.new_search(&searcher.shared, time).node::<false>(&node, alpha, alpha + 1, depth, true);
        searcher.shared.tt.probe(key, 0).expect("an entry")
    }

    #[test]
    fn a_variation_ends_with_the_move_that_draws() {
        static NEVER: AtomicBool = AtomicBool::new(false);
        let shuffle = "g1f3 g8f6 f3g1 f6g8";
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        for (fen, before, variation, length) in [
            (start, "", "e2e4 e7e5 g1f3", 3),
            // Positions that the variation itself repeats, the root among them, and one that the game has had twice.
            (start, "", "e2e4 g8f6 g1f3 f6g8 f3g1 g8f6", 5),
            (start, "", "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6", 4),
            (start, &*format!("{shuffle} {shuffle}"), "g1f3 g8f6", 1),
            ("4k3/8/8/8/8/8/4p3/4K2N w - - 0 1", "", "e1e2 e8e7 e2e3", 1),
            ("4k3/8/8/8/8/8/8/R3K3 w - - 98 80", "", "a1a2 e8e7 a2a3", 2),
        ] {
            let mut searcher = Searcher::new(Simple, TranspositionTable::smallest());
            let game = line(fen, before);
            let moves = line(fen, &format!("{before} {variation}")).moves()[game.moves().len()..].to_vec();
            let shared_nodes = AtomicU64::new(0);
            let time = TimeManager::new(&Limits::default(), 1, &NEVER, &shared_nodes);
            let mut search = searcher.main.new_search(&searcher.shared, time);
            search.stack.start(&game);
            let root = Node::root(game.position(), game.key());
            assert_eq!(search.until_draw(&root, &moves), &moves[..length], "{fen} {before}: {variation}");
        }
    }

    #[test]
    fn a_bare_evaluation_is_kept_only_where_nothing_was_searched() {
        let even = "4k3/pp6/8/8/8/8/PP6/4K3 w - - 0 1";
        let bare = |entry: Entry| entry.eval == Some(0) && entry.score <= -score::MATE_IN_MAX;
        assert!(bare(found(even, -400, 2)), "reverse futility");
        let razored = found(even, 2000, 1);
        assert!(!bare(razored) && razored.bound == Bound::Upper && razored.score <= 2000);
    }
}
