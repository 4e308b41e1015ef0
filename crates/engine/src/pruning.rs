//! What the search does not look at, or looks at less deeply.
//!
//! In: a node with its evaluation and window, or a move there. Out: whether the node or the move can be given up,
//! or by how much its search may be shallower. None of this is sound; all of it pays for itself many times over.

use shakmaty::{Bitboard, MoveList, Position};

use super::history::{NO_MOVE, piece_to};
use super::params::Params;
use super::search::{Prospect, Search, Tried};
use super::stack::Node;
use super::transposition_table::{Bound, Entry, SHALLOWEST};
use patzer_chess::score::{MATE_IN_MAX, Score, is_mate};
use patzer_chess::see::{see_ge, see_ge_if_attacked, worth};
use patzer_chess::{PackedMove, Parts, captures, key, legal, null_move, played};
use patzer_eval::Evaluator;

/// What depth and number of a move alone make of its reduction, in 1/1024 of a ply: more by the product of their
/// logarithms.
pub(super) struct Reductions([[i32; 64]; 64]);

impl Reductions {
    /// Those of these parameters.
    pub fn new(params: &Params) -> Reductions {
        let log: [f64; 64] = std::array::from_fn(|n| (n.max(1) as f64).ln());
        let of = |depth: usize, earlier: usize| {
            let product = (1024.0 * log[depth] * log[earlier]) as i32;
            params.reduction_base + product * 100 / params.reduction_slope
        };
        Reductions(std::array::from_fn(|depth| std::array::from_fn(|earlier| of(depth, earlier))))
    }
}

/// The depth that the search of a quiet move would have, in plies.
#[inline]
fn depth_left(depth: i32, tried: &Tried) -> i32 {
    (depth - 1 - tried.reduction / 1024).max(0)
}

impl<E: Evaluator> Search<'_, E> {
    /// The ways to give up a node without trying its moves, the cheapest first.
    pub(super) fn cut_off(&mut self, node: &Node, prospect: &Prospect) -> Option<Score> {
        if let Some(score) = self.reverse_futility(prospect) {
            self.keep_evaluation(node, prospect);
            return Some(score);
        }
        self.razoring(node, prospect)
            .or_else(|| self.null_move(node, prospect))
            .or_else(|| self.probcut(node, prospect))
    }

    /// Stores the evaluation of a node that is given up by it alone: the next iteration meets the node again, and need
    /// not evaluate it again. Behind razoring and ProbCut it would replace what they have stored of the node.
    fn keep_evaluation(&mut self, node: &Node, prospect: &Prospect) {
        if let (None, Some(raw)) = (prospect.entry, self.stack.frame(node.ply).raw) {
            self.table.store(node.key, node.ply, Entry::evaluated(raw, prospect.pv));
        }
    }

    /// Reverse futility: so far above beta that no quiet reply within the remaining depth is likely to make up for
    /// it (Heinz, "Extended Futility Pruning", 1998, seen from the other side).
    fn reverse_futility(&self, prospect: &Prospect) -> Option<Score> {
        let Prospect { beta, depth, eval, improving, .. } = *prospect;
        let margin = self.params.reverse_margin * (depth - i32::from(improving));
        let far_above = depth <= self.params.reverse_depth
            && !is_mate(beta)
            && eval < MATE_IN_MAX
            && eval - margin >= beta;
        far_above.then_some((eval + beta) / 2)
    }

    /// Razoring: so far below alpha that only captures can help, which quiescence looks at (Birmingham and Kent,
    /// "Tree-Searching and Tree-Pruning Techniques", 1977).
    fn razoring(&mut self, node: &Node, prospect: &Prospect) -> Option<Score> {
        let Prospect { alpha, depth, eval, .. } = *prospect;
        let margin = self.params.razor_base + self.params.razor_margin * depth * depth;
        if depth > self.params.razor_depth || is_mate(alpha) || eval + margin > alpha {
            return None;
        }
        let score = self.quiesce::<false>(node, alpha, alpha + 1, SHALLOWEST);
        (score <= alpha).then_some(score)
    }

    /// Null move: if passing still fails high, a real move will too. Unsound in zugzwang, hence the material test;
    /// never twice in a row (Beal, 1989; Donninger, "Null Move and Deep Search", 1993).
    fn null_move(&mut self, node: &Node, prospect: &Prospect) -> Option<Score> {
        let Prospect { beta, depth, eval, .. } = *prospect;
        let position = node.position;
        let board = position.board();
        let pieces = position.us() & !board.pawns() & !board.kings();
        let after_null = node.ply > 0 && self.stack.moved(node.ply, 1) == NO_MOVE;
        if depth < self.params.null_depth || eval < beta || is_mate(beta) || pieces.is_empty() || after_null {
            return None;
        }
        let params = self.params;
        let reduction =
            params.null_base + depth / params.null_slope + ((eval - beta) / params.null_eval).min(3);
        let key = key::after_null(position, node.key);
        self.table.prefetch(key);
        let after = null_move::pass(position)?;
        self.stack.push(node.ply, NO_MOVE, key);
        let child = Node { position: &after, key, ply: node.ply + 1, in_check: false };
        let score = -self.node::<false>(&child, -beta, -beta + 1, depth - reduction, !prospect.cut);
        self.stack.pop();
        // A mate that needs the opponent to sit still is not proven.
        (score >= beta && !self.budget.stopped()).then_some(if is_mate(score) { beta } else { score })
    }

    /// ProbCut: a capture that is clearly better than beta in a shallow search will most probably be better in a
    /// deep one too (Buro, "ProbCut: An Effective Selective Extension of the Alpha-Beta Algorithm", 1995).
    fn probcut(&mut self, node: &Node, prospect: &Prospect) -> Option<Score> {
        let depth = prospect.depth;
        let target = prospect.beta + self.params.probcut_margin;
        let known_worse = |entry: Entry| entry.depth >= depth - 3 && entry.score < target;
        if depth < self.params.probcut_depth
            || is_mate(prospect.beta)
            || prospect.entry.is_some_and(known_worse)
        {
            return None;
        }
        let mut moves = MoveList::new();
        captures::generate(node.position, &mut moves);
        moves.retain(|&mut m| see_ge(node.position, m, target - prospect.eval));
        moves.sort_by_key(|&m| -worth(m.capture()));
        for &m in &moves {
            self.table.prefetch(key::nearly_after(node.position, node.key, m));
        }
        for m in moves {
            let after = played(node.position, m);
            let key = key::after(node.position, node.key, m, &after);
            let child = Node { position: &after, key, ply: node.ply + 1, in_check: legal::in_check(&after) };
            self.stack.push(node.ply, piece_to(node.position.turn(), Parts::of(m)), key);
            let mut score = -self.quiesce::<false>(&child, -target, -target + 1, SHALLOWEST);
            if score >= target {
                score = -self.node::<false>(&child, -target, -target + 1, depth - 4, !prospect.cut);
            }
            self.stack.pop();
            if self.budget.stopped() {
                return None;
            }
            if score >= target {
                let best = PackedMove::pack(m);
                let eval = self.stack.frame(node.ply).raw;
                self.table.store(
                    node.key,
                    node.ply,
                    Entry { best, score, eval, depth: depth - 3, bound: Bound::Lower, pv: prospect.pv },
                );
                return Some(if is_mate(score) { target } else { score });
            }
        }
        None
    }

    /// Late move pruning: ordered this far back, a quiet move has hardly ever been good.
    pub(super) fn too_late(&self, prospect: &Prospect, tried: &Tried) -> bool {
        let depth = prospect.depth;
        let enough = (self.params.late_base + depth * depth) / if prospect.improving { 1 } else { 2 };
        depth <= self.params.late_depth && tried.earlier as i32 > enough
    }

    /// Futility: a quiet move does not lift the evaluation by so much.
    fn out_of_reach(&self, node: &Node, prospect: &Prospect, tried: &Tried) -> bool {
        let Prospect { alpha, depth, eval, .. } = *prospect;
        let (left, params) = (depth_left(depth, tried), self.params);
        !node.in_check
            && left <= params.futility_depth
            && eval + params.futility_base + params.futility_margin * left <= alpha
    }

    /// Whether a quiet move that gives no check is not worth a look: late at low depth, hopelessly below alpha, or never
    /// any good before.
    pub(super) fn hopeless(&self, node: &Node, prospect: &Prospect, tried: &Tried) -> bool {
        let (depth, params) = (prospect.depth, self.params);
        if !tried.quiet || tried.gives_check {
            return false;
        }
        self.too_late(prospect, tried)
            || self.out_of_reach(node, prospect, tried)
            || (depth <= params.history_depth && tried.history < -params.history_margin * depth)
    }

    /// Whether a move loses more material than the remaining depth can be hoped to win back.
    /// `attacked` are the squares that the side not to move attacks.
    pub(super) fn loses_too_much(
        &self,
        node: &Node,
        prospect: &Prospect,
        tried: &Tried,
        attacked: Bitboard,
    ) -> bool {
        let (depth, params) = (prospect.depth, self.params);
        if tried.gives_check && params.see_checks == 0 {
            return false;
        }
        let (depth, most) = if tried.quiet && !tried.gives_check {
            let left = depth_left(depth, tried);
            (left, params.see_quiet * left * left)
        } else if tried.quiet || tried.losing {
            (depth, params.see_capture * depth)
        } else {
            return false;
        };
        depth <= params.see_depth && !see_ge_if_attacked(node.position, tried.m, -most, attacked)
    }

    /// The reduction that depth, number and history of a move call for, in 1/1024 of a ply.
    pub(super) fn reduction(&self, prospect: &Prospect, earlier: usize, history: i32) -> i32 {
        let (depth, params) = (prospect.depth, self.params);
        self.reductions.0[depth.clamp(0, 63) as usize][earlier.min(63)]
            + if prospect.improving { 0 } else { params.reduction_worse }
            - history * 1024 / params.reduction_history
    }

    /// Late move reductions: with good ordering a late quiet move rarely raises alpha, so a shallower search is
    /// enough to confirm that it does not. By the logarithms' product, as most engines have it since Fruit and
    /// Stockfish, more or less by what else is known.
    pub(super) fn late_move_reduction<const PV: bool>(
        &self,
        node: &Node,
        prospect: &Prospect,
        tried: &Tried,
    ) -> i32 {
        let (depth, params) = (prospect.depth, self.params);
        if depth < params.reduction_depth || tried.earlier < 1 + usize::from(PV) {
            return 0;
        }
        let when = |condition: bool, amount: i32| if condition { amount } else { 0 };
        let noisy_first = prospect.first.is_some_and(|m| m.is_capture());
        let reduction =
            tried.reduction - when(PV, params.reduction_pv) - when(prospect.pv, params.reduction_known)
                + when(prospect.cut, params.reduction_cut)
                - when(tried.gives_check, params.reduction_check)
                - when(node.in_check, 1024)
                + when(noisy_first, params.reduction_noisy)
                + when(self.stack.cutoffs(node.ply + 1) > 3, params.reduction_cutoffs)
                - when(tried.hinted, params.reduction_killer)
                - when(!tried.quiet && !tried.losing, params.reduction_capture);
        (reduction / 1024).clamp(0, depth - 2)
    }
}
