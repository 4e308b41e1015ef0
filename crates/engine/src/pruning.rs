//! Pruning and reductions: unsound techniques that save far more than they lose.

use shakmaty::{Bitboard, MoveList, Position};

use super::history::{NO_MOVE, piece_to};
use super::params::Params;
use super::search::{MoveContext, NodeContext, Search};
use super::stack::Node;
use super::transposition_table::{Bound, DEPTH_QS_NO_CHECKS, Entry};
use patzer_chess::score::{MATE_IN_MAX, Score, is_mate};
use patzer_chess::see::{see_ge, see_ge_with_attacks, value_or_zero};
use patzer_chess::{MoveParts, PackedMove, captures, key, null_move, played};
use patzer_eval::Evaluator;

pub(super) struct LmrTable([[i32; 64]; 64]);

impl LmrTable {
    pub(crate) fn new(params: &Params) -> LmrTable {
        let log: [f64; 64] = std::array::from_fn(|n| (n.max(1) as f64).ln());
        let of = |depth: usize, move_count: usize| {
            let product = (1024.0 * log[depth] * log[move_count]) as i32;
            params.lmr_base + product * 100 / params.lmr_slope
        };
        LmrTable(std::array::from_fn(|depth| std::array::from_fn(|move_count| of(depth, move_count))))
    }
}

/// A quiet move's depth after its reduction, in plies.
#[inline]
fn depth_left(depth: i32, mv: &MoveContext) -> i32 {
    (depth - 1 - mv.reduction / 1024).max(0)
}

impl<E: Evaluator> Search<'_, E> {
    pub(super) fn prune_node(&mut self, node: &Node, ctx: &NodeContext) -> Option<Score> {
        if let Some(score) = self.reverse_futility(ctx) {
            self.store_evaluation(node, ctx);
            return Some(score);
        }
        self.razoring(node, ctx).or_else(|| self.null_move(node, ctx)).or_else(|| self.probcut(node, ctx))
    }

    /// Stores the evaluation of a node pruned by it alone. After razoring or ProbCut it would overwrite results.
    fn store_evaluation(&mut self, node: &Node, ctx: &NodeContext) {
        if let (None, Some(raw)) = (ctx.entry, self.stack.frame(node.ply).raw_eval) {
            self.tt.store(node.key, node.ply, Entry::evaluated(raw, ctx.pv));
        }
    }

    /// Reverse futility pruning: so far above beta that no quiet reply within the remaining depth is likely
    /// to make up for it (Heinz, "Extended Futility Pruning", 1998, seen from the other side).
    fn reverse_futility(&self, ctx: &NodeContext) -> Option<Score> {
        let NodeContext { beta, depth, eval, improving, .. } = *ctx;
        let margin = self.params.rfp_margin * (depth - i32::from(improving));
        let far_above =
            depth <= self.params.rfp_depth && !is_mate(beta) && eval < MATE_IN_MAX && eval - margin >= beta;
        far_above.then_some((eval + beta) / 2)
    }

    /// Razoring: so far below alpha that only captures can help, which quiescence searches (Birmingham and
    /// Kent, "Tree-Searching and Tree-Pruning Techniques", 1977).
    fn razoring(&mut self, node: &Node, ctx: &NodeContext) -> Option<Score> {
        let NodeContext { alpha, depth, eval, .. } = *ctx;
        let margin = self.params.razor_base + self.params.razor_margin * depth * depth;
        if depth > self.params.razor_depth || is_mate(alpha) || eval + margin > alpha {
            return None;
        }
        let score = self.quiesce::<false>(node, alpha, alpha + 1, DEPTH_QS_NO_CHECKS);
        (score <= alpha).then_some(score)
    }

    /// Null-move pruning: if passing still fails high, a real move will too. Unsound in zugzwang, hence the
    /// material test; never twice in a row (Beal, 1989; Donninger, "Null Move and Deep Search", 1993).
    fn null_move(&mut self, node: &Node, ctx: &NodeContext) -> Option<Score> {
        let NodeContext { beta, depth, eval, .. } = *ctx;
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
        self.tt.prefetch(key);
        let after = null_move::null_move(position)?;
        self.stack.push(node.ply, NO_MOVE, key);
        let child = Node { position: &after, key, ply: node.ply + 1, in_check: false };
        let score = -self.node::<false>(&child, -beta, -beta + 1, depth - reduction, !ctx.cut);
        self.stack.pop();
        // A mate that needs a pass is not proven.
        (score >= beta && !self.time.stopped()).then_some(if is_mate(score) { beta } else { score })
    }

    /// ProbCut: a capture that is clearly above beta in a shallow search will most probably be above it in a
    /// deep one (Buro, "ProbCut: An Effective Selective Extension of the Alpha-Beta Algorithm", 1995).
    fn probcut(&mut self, node: &Node, ctx: &NodeContext) -> Option<Score> {
        let depth = ctx.depth;
        let target = ctx.beta + self.params.probcut_margin;
        let known_worse = |entry: Entry| entry.depth >= depth - 3 && entry.score < target;
        if depth < self.params.probcut_depth || is_mate(ctx.beta) || ctx.entry.is_some_and(known_worse) {
            return None;
        }
        let mut moves = MoveList::new();
        captures::generate(node.position, &mut moves);
        moves.retain(|&mut m| see_ge(node.position, m, target - ctx.eval));
        moves.sort_by_key(|&m| -value_or_zero(m.capture()));
        for &m in &moves {
            self.tt.prefetch(key::approximate_after(node.position, node.key, m));
        }
        for m in moves {
            let after = played(node.position, m);
            let key = key::after(node.position, node.key, m, &after);
            let child = node.child(&after, key);
            self.stack.push(node.ply, piece_to(node.position.turn(), MoveParts::new(m)), key);
            let mut score = -self.quiesce::<false>(&child, -target, -target + 1, DEPTH_QS_NO_CHECKS);
            if score >= target {
                score = -self.node::<false>(&child, -target, -target + 1, depth - 4, !ctx.cut);
            }
            self.stack.pop();
            if self.time.stopped() {
                return None;
            }
            if score >= target {
                let (best, eval) = (PackedMove::pack(m), self.stack.frame(node.ply).raw_eval);
                let entry = Entry { best, score, eval, depth: depth - 3, bound: Bound::Lower, pv: ctx.pv };
                self.tt.store(node.key, node.ply, entry);
                return Some(if is_mate(score) { target } else { score });
            }
        }
        None
    }

    /// Late move pruning: a quiet move ordered this late has hardly ever been good.
    fn late_move_pruning(&self, ctx: &NodeContext, mv: &MoveContext) -> bool {
        let depth = ctx.depth;
        let enough = (self.params.lmp_base + depth * depth) / if ctx.improving { 1 } else { 2 };
        depth <= self.params.lmp_depth && mv.move_count as i32 > enough
    }

    /// Futility pruning: a quiet move does not lift the evaluation to alpha.
    fn futile(&self, node: &Node, ctx: &NodeContext, mv: &MoveContext) -> bool {
        let NodeContext { alpha, depth, eval, .. } = *ctx;
        let (left, params) = (depth_left(depth, mv), self.params);
        !node.in_check
            && left <= params.futility_depth
            && eval + params.futility_base + params.futility_margin * left <= alpha
    }

    /// Prunes a move; `Some(true)` if no later quiet move is worth a search either.
    #[inline(always)]
    pub(super) fn prune_move(
        &self,
        node: &Node,
        ctx: &NodeContext,
        mv: &MoveContext,
        attacked: Bitboard,
    ) -> Option<bool> {
        if self.prunes_quiet(node, ctx, mv) {
            // Killers come first whatever their history; no move after another is more promising.
            return Some(!mv.refutation || self.late_move_pruning(ctx, mv));
        }
        self.fails_exchange(node, ctx, mv, attacked).then(|| mv.quiet && self.late_move_pruning(ctx, mv))
    }

    fn prunes_quiet(&self, node: &Node, ctx: &NodeContext, mv: &MoveContext) -> bool {
        let (depth, params) = (ctx.depth, self.params);
        if !mv.quiet || mv.gives_check {
            return false;
        }
        self.late_move_pruning(ctx, mv)
            || self.futile(node, ctx, mv)
            || (depth <= params.history_depth && mv.history < -params.history_margin * depth)
    }

    /// SEE pruning: the move loses more material than the remaining depth is likely to win back.
    fn fails_exchange(&self, node: &Node, ctx: &NodeContext, mv: &MoveContext, attacked: Bitboard) -> bool {
        let (depth, params) = (ctx.depth, self.params);
        if mv.gives_check && params.see_checks == 0 {
            return false;
        }
        let (depth, most) = if mv.quiet && !mv.gives_check {
            let left = depth_left(depth, mv);
            (left, params.see_quiet * left * left)
        } else if mv.quiet || mv.losing {
            (depth, params.see_capture * depth)
        } else {
            return false;
        };
        depth <= params.see_depth && !see_ge_with_attacks(node.position, mv.m, -most, attacked)
    }

    /// In 1/1024 ply.
    pub(super) fn reduction(&self, ctx: &NodeContext, move_count: usize, history: i32) -> i32 {
        let (depth, params) = (ctx.depth, self.params);
        self.lmr.0[depth.clamp(0, 63) as usize][move_count.min(63)]
            + if ctx.improving { 0 } else { params.lmr_worse }
            - history * 1024 / params.lmr_history
    }

    /// Late move reductions: with good ordering a late quiet move rarely raises alpha, so a shallower search
    /// suffices to confirm it. Logarithmic as in Fruit and Stockfish, adjusted by what else is known.
    pub(super) fn late_move_reduction<const PV: bool>(
        &self,
        node: &Node,
        ctx: &NodeContext,
        mv: &MoveContext,
    ) -> i32 {
        let (depth, params) = (ctx.depth, self.params);
        if depth < params.lmr_depth || mv.move_count < 1 + usize::from(PV) {
            return 0;
        }
        let when = |condition: bool, amount: i32| if condition { amount } else { 0 };
        let tt_capture = ctx.tt_move.is_some_and(|m| m.is_capture());
        let reduction = mv.reduction - when(PV, params.lmr_pv) - when(ctx.pv, params.lmr_tt_pv)
            + when(ctx.cut, params.lmr_cut)
            - when(mv.gives_check, params.lmr_check)
            - when(node.in_check, 1024)
            + when(tt_capture, params.lmr_noisy)
            + when(self.stack.cutoffs(node.ply + 1) > 3, params.lmr_cutoffs)
            - when(mv.refutation, params.lmr_killer)
            - when(!mv.quiet && !mv.losing, params.lmr_capture);
        (reduction / 1024).clamp(0, depth - 2)
    }
}
