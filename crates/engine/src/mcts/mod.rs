//! Search by playouts: a tree grown one leaf at a time towards the moves that promise most. Sources: Kocsis and Szepesvári,
//! "Bandit based Monte-Carlo Planning" (2006), for UCB1 at each node; Rosin, "Multi-armed bandits with episode context"
//! (2011), and Silver et al., "Mastering Chess and Shogi by Self-Play" (2017), for PUCT with a prior.
//!
//! [`tree`] holds the positions as a graph, [`playout`] grows it by one, [`leaf`] judges a new position, [`prior`] is the
//! model of moves, [`report`] reads the result off the root.

mod kind;
mod leaf;
mod playout;
mod prior;
mod report;
#[cfg(test)]
mod tests;
mod tree;

use std::sync::atomic::{AtomicBool, AtomicU64};

use shakmaty::{Chess, Move, Position};

use super::search::Search;
use super::searcher::Searcher;
use super::tables::Tables;
use super::time_manager::{BestMoveStability, TimeManager};
use super::transposition_table::{OutOfMemory, TranspositionTable};
use super::{Engine, Limits, Params, Report};
pub use kind::SearchKind;
use leaf::Leaf;
use patzer_chess::Line;
use patzer_chess::score::Score;
use patzer_eval::Evaluator;
use tree::{Proven, Tree};

/// Nodes between two looks at the soft limits.
const LOOK: u64 = 512;

/// The engine that searches by playouts; [`Searcher`] does everything but the search.
pub struct PlayoutSearcher<E: Evaluator> {
    inner: Searcher<E>,
    tree: Tree,
    kind: SearchKind,
}

impl<E: Evaluator> PlayoutSearcher<E> {
    pub fn new(evaluator: E, kind: SearchKind, hash_mb: usize) -> PlayoutSearcher<E> {
        let inner = Searcher::new(evaluator, TranspositionTable::smallest());
        PlayoutSearcher { inner, tree: Tree::new(hash_mb), kind }
    }
}

/// One search: the tree, and what its playouts need.
struct Growth<'a, 'b, E: Evaluator> {
    tree: &'a mut Tree,
    search: &'a mut Search<'b, E>,
    leaf: Leaf,
    line: &'a Line,
    root: u32,
    /// Keys and moves of the game and of the present path.
    keys: Vec<u64>,
    moves: Vec<Move>,
    playouts: u64,
    /// Plies of all paths together.
    plies: u64,
    deepest: usize,
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
        let shared_nodes = AtomicU64::new(0);
        let number = line.position().fullmoves().get();
        let time = TimeManager::new(limits, number, stop, &shared_nodes);
        let mut search = self.inner.single(time);
        let leaf = Leaf::new(self.kind, line.position());
        let mut growth = Growth {
            root: 0,
            keys: line.keys().to_vec(),
            moves: line.moves().to_vec(),
            tree: &mut self.tree,
            search: &mut search,
            leaf,
            line,
            playouts: 0,
            plies: 0,
            deepest: 0,
        };
        growth.run(limits, info)
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

    /// Playouts run on one thread.
    fn set_threads(&mut self, _: usize) {}
}

impl<E: Evaluator> Growth<'_, '_, E> {
    fn run(&mut self, limits: &Limits, info: &mut dyn FnMut(&Report)) -> Report {
        let position = self.line.position();
        if position.legal_moves().is_empty() {
            return self.empty_report(position);
        }
        self.plant();
        let (mut next_look, mut next_info) = (LOOK, 64);
        while self.root_is_open(limits) {
            if !self.playout(&limits.only) {
                break;
            }
            if self.tree.is_full() {
                self.root = self.tree.prune(self.root);
            }
            let nodes = self.search.nodes;
            if self.playouts >= next_info {
                next_info *= 2;
                self.report(limits, info);
                if limits.depth.is_some_and(|depth| self.depth() >= depth) {
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
        let mut report = self.report(limits, info);
        report.visits = self.visits();
        if self.playouts == 0 && self.search.time.stopped() {
            // The root's value may be cut short.
            self.tree.clear();
        }
        report
    }

    /// Finds or creates the root; what earlier searches of the game know about it stays.
    fn plant(&mut self) {
        let (position, key) = (self.line.position(), self.line.key());
        // What a rule or a mate ended within an earlier search has not all its moves.
        let moves = position.legal_moves().len();
        let known = self.tree.find(tree::key(key, position));
        self.root = match known.filter(|&at| self.tree.node(at).edges.len() == moves) {
            Some(root) => root,
            None => {
                let root = self.judge(position, key, 0);
                self.tree.insert(root)
            }
        };
    }

    /// Whether more playouts may change the move or its score.
    fn root_is_open(&self, limits: &Limits) -> bool {
        let root = self.tree.node(self.root);
        // A root that is proven by moves that `searchmoves` excludes says nothing.
        let proven = limits.only.is_empty() && root.proven != Proven::No && root.visits > 0;
        let mate = limits.mate.is_some_and(|moves| match root.proven {
            Proven::Win(plies) | Proven::Loss(plies) => u32::from(plies) < 2 * moves,
            _ => false,
        });
        !(proven || mate)
    }
}
