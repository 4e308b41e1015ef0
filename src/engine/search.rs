//! The search below the root: principal variation search.
//!
//! In: a node, a window and a depth. Out: its score. Each technique is a function with its reason, here or in
//! [`super::pruning`]; iterative deepening is in [`super::root`], quiescence in [`super::quiescence`]. Source of the whole: Knuth and Moore, "An
//! Analysis of Alpha-Beta Pruning" (1975); Marsland and Campbell, "Parallel Search of Strongly Ordered Game Trees"
//! (1982), for the principal variation search.

use shakmaty::{Chess, Move, MoveList, Position};

use super::budget::Budget;
use super::history::{History, piece_to};
use super::ordering::{Picker, is_noisy};
use super::pruning::{futile, reverse_futility};
use super::root::RootMove;
use super::stack::{Node, Stack};
use super::table::{Bound, Entry, Table};
use crate::chess::score::{INFINITE, MATE_IN_MAX, MAX_PLY, Score, mate_in, mated_in};
use crate::chess::{PackedMove, key};
use crate::eval::Evaluator;

/// One search, with the memory that it works on.
pub struct Search<'a, E> {
    pub(super) evaluator: &'a mut E,
    pub(super) table: &'a Table,
    pub(super) history: &'a mut History,
    pub(super) stack: &'a mut Stack,
    pub(super) budget: Budget<'a>,
    /// Whether to prune, reduce and cut off by the table. Without that a search of depth `n` is exactly an
    /// alpha-beta search of depth `n`, which tests compare with plain negamax.
    pub(super) selective: bool,
    pub(super) nodes: u64,
    pub(super) seldepth: usize,
    pub(super) root_depth: i32,
    /// The moves at the root, best first.
    pub(super) moves: Vec<RootMove>,
    /// The line that is being searched: the moves before it are already placed.
    pub(super) rank: usize,
    /// Whether some legal moves are not to be played.
    pub(super) restricted: bool,
}

/// A move that has been made at a node.
pub(super) struct Tried {
    pub m: Move,
    pub quiet: bool,
    /// A capture or promotion that loses material by static exchange.
    pub losing: bool,
    pub gives_check: bool,
    /// How many moves were tried before it.
    pub earlier: usize,
}

/// What a node's move loop works with.
pub(super) struct Prospect {
    pub alpha: Score,
    pub beta: Score,
    pub depth: i32,
    /// The static evaluation, refined by the table.
    pub eval: Score,
    pub improving: bool,
}

impl<E: Evaluator> Search<'_, E> {
    /// The score of a node, fail-soft, to a depth in plies. `PV` nodes have an open window and their exact score
    /// matters; all others have a window of one centipawn and are only to be shown wrong.
    pub(super) fn node<const PV: bool>(
        &mut self,
        node: &Node,
        mut alpha: Score,
        mut beta: Score,
        mut depth: i32,
    ) -> Score {
        // Check extension: replies to a check are few and forced, and the horizon must not lie between.
        if node.in_check && (node.ply as i32) < 2 * self.root_depth {
            depth += 1;
        }
        if PV {
            self.stack.clear_line(node.ply);
        }
        if node.ply > 0 && self.drawn(node) {
            return 0;
        }
        if depth <= 0 {
            return self.quiesce::<PV>(node, alpha, beta);
        }
        if self.budget.spent(self.nodes) {
            return 0;
        }
        self.nodes += 1;
        self.seldepth = self.seldepth.max(node.ply);
        if node.ply > 0 {
            if node.ply >= MAX_PLY {
                return self.evaluator.evaluate(node.position, node.ply);
            }
            // Mate distance pruning: once a mate is found, only a quicker one is of interest.
            alpha = alpha.max(mated_in(node.ply as i32));
            beta = beta.min(mate_in(node.ply as i32 + 1));
            if alpha >= beta {
                return alpha;
            }
        }

        let entry = self.table.probe(node.key, node.ply);
        if let Some(entry) = entry
            && !PV
            && self.selective
            && entry.depth >= depth
            && entry.decides(alpha, beta)
            // Near the fifty-move rule a position's past matters, which the table does not know.
            && node.position.halfmoves() < 90
        {
            return entry.score;
        }
        let eval = self.static_eval(node, entry);
        let improving = self.stack.improving(node.ply);
        self.stack.frame(node.ply + 1).killers = [None; 2];
        let prospect =
            Prospect { alpha, beta, depth, eval: entry.map_or(eval, |entry| entry.refine(eval)), improving };
        if !PV && !node.in_check && self.selective {
            let cut = reverse_futility(&prospect).or_else(|| self.null_move(node, &prospect));
            if let Some(score) = cut {
                return score;
            }
        }
        let best = match entry {
            _ if node.ply == 0 => PackedMove::pack(self.moves[self.rank].m),
            Some(entry) => entry.best,
            None => PackedMove::NONE,
        };
        // Internal iterative reduction: without a move to try first, a deep search here is costly and probably of
        // little interest; a shallower one finds that move for the next time (Rebel's "IIR").
        let reduced = i32::from(self.selective && depth >= 4 && best == PackedMove::NONE);
        self.expand::<PV>(node, best, Prospect { depth: depth - reduced, ..prospect })
    }

    /// The static evaluation of a node, from the table where it has it; meaningless in check.
    fn static_eval(&mut self, node: &Node, entry: Option<Entry>) -> Score {
        let eval = if node.in_check {
            None
        } else {
            let stored = entry.and_then(|entry| entry.eval);
            Some(stored.unwrap_or_else(|| self.evaluator.evaluate(node.position, node.ply)))
        };
        self.stack.frame(node.ply).eval = eval;
        eval.unwrap_or(-INFINITE)
    }

    /// Draws by repetition, by the fifty-move rule unless it is mate first, and by lack of material.
    fn drawn(&self, node: &Node) -> bool {
        let position = node.position;
        (position.halfmoves() >= 100 && (!node.in_check || !position.legal_moves().is_empty()))
            || self.stack.repeated(node)
            || (position.board().occupied().count() <= 4 && position.is_insufficient_material())
    }

    /// Tries the moves of a node.
    fn expand<const PV: bool>(&mut self, node: &Node, first: PackedMove, mut prospect: Prospect) -> Score {
        let killers = self.stack.frame(node.ply).killers;
        let before = self.stack.before(node.ply);
        let mut picker = Picker::empty();
        picker.all(node, first, killers, self.history, before);
        let (start, beta) = (prospect.alpha, prospect.beta);
        let mut best = -INFINITE;
        let mut best_move = None;
        let mut quiets = MoveList::new();
        let mut earlier = 0;
        while let Some((m, losing)) = picker.next(node) {
            if node.ply == 0 && !self.considers(m) {
                continue;
            }
            let after = played(node.position, m);
            let tried = Tried { m, quiet: !is_noisy(m), losing, gives_check: after.is_check(), earlier };
            earlier += 1;
            if node.ply > 0 && self.selective && best > -MATE_IN_MAX && futile(node, &prospect, &tried) {
                continue;
            }
            let nodes = self.nodes;
            let score = self.child::<PV>(node, &after, &prospect, &tried);
            if self.budget.stopped() {
                return 0;
            }
            if node.ply == 0 {
                self.judge(m, score, prospect.alpha, self.nodes - nodes);
            }
            if score > best {
                best = score;
                if score > prospect.alpha {
                    prospect.alpha = score;
                    best_move = Some(m);
                    if PV {
                        self.stack.extend_line(node.ply, m);
                    }
                }
                if score >= beta {
                    if tried.quiet {
                        self.reward(node, prospect.depth, m, &quiets);
                    }
                    break;
                }
            }
            if tried.quiet {
                quiets.push(m);
            }
        }
        if earlier == 0 {
            return if node.in_check { mated_in(node.ply as i32) } else { 0 };
        }
        let bound = match best {
            _ if best >= beta => Bound::Lower,
            _ if best > start => Bound::Exact,
            _ => Bound::Upper,
        };
        let best_move = best_move.map_or(PackedMove::NONE, PackedMove::pack);
        let eval = self.stack.frame(node.ply).eval;
        // With some moves left out, the score is not that of the position.
        if node.ply > 0 || self.rank == 0 && !self.restricted {
            let entry = Entry { best: best_move, score: best, eval, depth: prospect.depth, bound };
            self.table.store(node.key, node.ply, entry);
        }
        best
    }

    /// The score of one move. Principal variation search: after the first move the others are expected to be worse,
    /// which a search with an empty window shows more cheaply; late ones at reduced depth.
    fn child<const PV: bool>(
        &mut self,
        node: &Node,
        after: &Chess,
        prospect: &Prospect,
        tried: &Tried,
    ) -> Score {
        let (alpha, beta, depth) = (prospect.alpha, prospect.beta, prospect.depth - 1);
        let turn = node.position.turn();
        let key = key::after(node.position, node.key, tried.m, after);
        self.table.prefetch(key);
        let child = Node { position: after, key, ply: node.ply + 1, in_check: tried.gives_check };
        let reduction =
            if self.selective { self.late_move_reduction::<PV>(node, prospect, tried) } else { 0 };
        self.stack.push(node.ply, piece_to(turn, tried.m), key);
        let mut score = alpha + 1;
        if reduction > 0 {
            score = -self.node::<false>(&child, -alpha - 1, -alpha, depth - reduction);
        }
        if score > alpha && (!PV || tried.earlier > 0) {
            score = -self.node::<false>(&child, -alpha - 1, -alpha, depth);
        }
        if PV && (tried.earlier == 0 || score > alpha) {
            score = -self.node::<true>(&child, -beta, -alpha, depth);
        }
        self.stack.pop();
        score
    }

    /// Remembers a quiet move that cut off as a killer and in the histories, and holds it against the quiet moves
    /// that were tried before it in vain.
    fn reward(&mut self, node: &Node, depth: i32, m: Move, in_vain: &[Move]) {
        let turn = node.position.turn();
        let before = self.stack.before(node.ply);
        let bonus = (150 * depth).min(1500);
        self.stack.add_killer(node.ply, m);
        self.history.learn(turn, m, before, bonus);
        for &other in in_vain {
            self.history.learn(turn, other, before, -bonus);
        }
    }
}

/// The position after a legal move.
#[inline]
pub(super) fn played(position: &Chess, m: Move) -> Chess {
    let mut after = position.clone();
    after.play_unchecked(m);
    after
}
