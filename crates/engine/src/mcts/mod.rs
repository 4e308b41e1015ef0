//! Search by playouts: each playout adds one leaf to a tree, below the most promising moves. Sources: Kocsis and
//! Szepesvári, "Bandit based Monte-Carlo Planning" (2006), for UCB1 at each node; Rosin, "Multi-armed bandits with
//! episode context" (2011), and Silver et al., "Mastering Chess and Shogi by Self-Play" (2017), for PUCT with a prior.
//!
//! [`tree`] holds the positions as a graph, [`playout`] adds one position, [`leaf`] evaluates it, [`prior`] is the
//! model of moves, [`report`] reads the result off the root.
//!
//! Threads share the tree under a lock, which no thread holds while it evaluates a position: selection and backup are
//! short. Virtual losses (Chaslot, Winands and van den Herik, "Parallel Monte-Carlo Tree Search", 2008) keep threads
//! apart.

mod kind;
mod leaf;
mod playout;
mod prior;
mod report;
#[cfg(test)]
mod tests;
mod tree;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use shakmaty::{Chess, Move, Position};

use super::search::Search;
use super::searcher::Searcher;
use super::tables::Tables;
use super::time_manager::{BestMoveStability, TimeManager};
use super::transposition_table::{OutOfMemory, TranspositionTable};
use crate::engine::STACK_BYTES;
use crate::{Engine, Limits, Params, Report};
pub use kind::SearchKind;
use leaf::Leaf;
use patzer_chess::Line;
use patzer_chess::score::Score;
use patzer_eval::Evaluator;
use tree::{Proven, Tree};

/// Nodes between two checks of the soft limits.
const LOOK: u64 = 512;

/// The engine that searches by playouts; [`Searcher`] does everything but the search.
pub(crate) struct PlayoutSearcher<E: Evaluator> {
    inner: Searcher<E>,
    tree: Tree,
    kind: SearchKind,
}

impl<E: Evaluator> PlayoutSearcher<E> {
    pub(crate) fn new(evaluator: E, kind: SearchKind, hash_mb: usize) -> PlayoutSearcher<E> {
        let inner = Searcher::new(evaluator, TranspositionTable::smallest());
        PlayoutSearcher { inner, tree: Tree::new(hash_mb), kind }
    }
}

/// The tree of a search with its root and counts, shared by the threads.
struct SharedTree<'a> {
    tree: &'a mut Tree,
    root: u32,
    /// Number of prunings of the tree; each changes the indices of nodes.
    pruned: u64,
    playouts: u64,
    /// Total length of all playouts, in plies.
    plies: u64,
    deepest: usize,
}

/// The state of a search after a playout.
struct Progress {
    open: bool,
    playouts: u64,
}

/// One thread of a search.
struct Worker<'a, 'b, E: Evaluator> {
    shared: &'a Mutex<SharedTree<'b>>,
    search: Search<'a, E>,
    leaf: Leaf,
    line: &'a Line,
    /// Virtual losses of a playout: 1 with several threads.
    losses: u16,
    /// Keys and moves of the game and of the present path.
    keys: Vec<u64>,
    moves: Vec<Move>,
}

impl<E: Evaluator> Engine for PlayoutSearcher<E> {
    fn new_game(&mut self) {
        self.inner.new_game();
        self.tree.clear();
    }

    fn search(
        &mut self,
        line: &Line,
        limits: &Limits,
        stop: &AtomicBool,
        info: &mut dyn FnMut(&Report),
    ) -> Report {
        let (shared_nodes, done) = (AtomicU64::new(0), AtomicBool::new(false));
        let number = line.position().fullmoves().get();
        let helper_limits = Limits { nodes: limits.nodes, ..Limits::default() };
        let time = |index| match index {
            0 => TimeManager::new(limits, number, stop, &shared_nodes),
            _ => TimeManager::new(&helper_limits, number, &done, &shared_nodes),
        };
        let searches = self.inner.of_threads(time);
        let tree = &mut self.tree;
        let shared = Mutex::new(SharedTree { tree, root: 0, pruned: 0, playouts: 0, plies: 0, deepest: 0 });
        let losses = u16::from(searches.len() > 1);
        let worker = |(index, search)| Worker {
            shared: &shared,
            search,
            leaf: Leaf::new(self.kind, line.position(), 1 + index as u64),
            line,
            losses,
            keys: line.keys().to_vec(),
            moves: line.moves().to_vec(),
        };
        let mut threads = searches.into_iter().enumerate().map(worker);
        let Some(mut main) = threads.next() else { return Report::default() };
        if line.position().legal_moves().is_empty() {
            let report = report::empty(line.position());
            info(&report);
            return report;
        }
        main.expand_root();
        let mut missing_threads = 0;
        std::thread::scope(|scope| {
            for mut helper in threads {
                let work = move || helper.help(limits);
                let started = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
                missing_threads += usize::from(started.is_err());
            }
            main.run(limits, info);
            done.store(true, Ordering::Relaxed);
        });
        Report { missing_threads, ..main.finish(limits, info) }
    }

    fn evaluate(&mut self, position: &Chess) -> Score {
        self.inner.evaluate(position)
    }

    fn quiescence_leaf(&mut self, position: &Chess) -> Option<(Chess, Score)> {
        self.inner.quiescence_leaf(position)
    }

    fn resize(&mut self, hash_mb: usize) -> Result<(), OutOfMemory> {
        self.tree = Tree::new(hash_mb);
        Ok(())
    }

    fn set_params(&mut self, params: &Params) {
        self.inner.set_params(params);
    }

    /// Playouts probe nothing.
    fn set_tables(&mut self, _: Option<Tables>) {}

    fn set_threads(&mut self, threads: usize) {
        self.inner.set_threads(threads);
    }
}

/// Tries of the lock before a thread sleeps: sleeping takes longer than others hold the lock.
const SPINS: u32 = 1 << 10;

/// Locks the shared tree. After another thread's panic it stays usable: a test fails by the panic itself.
fn lock<'a, 'b>(shared: &'a Mutex<SharedTree<'b>>) -> MutexGuard<'a, SharedTree<'b>> {
    for _ in 0..SPINS {
        match shared.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(guard)) => return guard.into_inner(),
            Err(TryLockError::WouldBlock) => std::hint::spin_loop(),
        }
    }
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'b, E: Evaluator> Worker<'_, 'b, E> {
    fn shared(&self) -> MutexGuard<'_, SharedTree<'b>> {
        lock(self.shared)
    }

    /// Runs playouts on the main thread, which decides when the search ends.
    fn run(&mut self, limits: &Limits, info: &mut dyn FnMut(&Report)) {
        let (mut next_look, mut next_info) = (LOOK, 64);
        let mut open = self.shared().is_open(limits);
        while open && let Some(progress) = self.playout(limits) {
            open = progress.open;
            let nodes = self.search.nodes;
            if progress.playouts >= next_info {
                next_info *= 2;
                let depth = self.report(limits, info).depth;
                if limits.depth.is_some_and(|limit| depth >= limit) {
                    break;
                }
            }
            if nodes >= next_look {
                next_look = nodes + LOOK;
                if !self.search.time.allows_iteration(nodes, &BestMoveStability::default()) {
                    break;
                }
            }
        }
    }

    /// Reports the result of all threads.
    fn finish(&mut self, limits: &Limits, info: &mut dyn FnMut(&Report)) -> Report {
        let mut report = self.report(limits, info);
        let mut shared = self.shared();
        report.visits = shared.visits();
        if shared.playouts == 0 && self.search.time.stopped() {
            // The root's value may be cut short.
            shared.tree.clear();
        }
        report
    }

    /// Runs playouts on a helper thread until the main thread is done.
    fn help(&mut self, limits: &Limits) {
        let mut open = self.shared().is_open(limits);
        while open && let Some(progress) = self.playout(limits) {
            open = progress.open;
        }
    }

    /// Finds the root in the tree of earlier searches, or expands it.
    fn expand_root(&mut self) {
        let (position, key) = (self.line.position(), self.line.key());
        // A node where an earlier search found a draw by rule or a mate in one lacks moves.
        let moves = position.legal_moves().len();
        let shared = self.shared();
        let known = shared.tree.find(tree::key(key, position));
        let known = known.filter(|&at| shared.tree.node(at).edges.len() == moves);
        drop(shared);
        let evaluated = if known.is_none() { Some(self.evaluate(position, key, 0)) } else { None };
        let mut shared = self.shared();
        shared.root = match (known, evaluated) {
            (Some(root), _) => root,
            (None, Some(evaluated)) => shared.tree.insert(evaluated.node),
            (None, None) => 0,
        };
    }
}

impl SharedTree<'_> {
    /// Tests whether more playouts may change the move or its score.
    fn is_open(&self, limits: &Limits) -> bool {
        let root = self.tree.node(self.root);
        // A root that is proven by moves that `searchmoves` excludes says nothing.
        let proven = limits.only.is_empty() && root.proven != Proven::No && root.visits > 0;
        let mate = limits.mate.is_some_and(|moves| match root.proven {
            Proven::Win(plies) | Proven::Loss(plies) => u32::from(plies) < 2 * moves,
            _ => false,
        });
        !(proven || mate)
    }

    /// Prunes a full tree; playouts under way are then dropped.
    fn keep_to_memory(&mut self) {
        if self.tree.is_full() {
            self.root = self.tree.prune(self.root);
            self.pruned += 1;
        }
    }
}
