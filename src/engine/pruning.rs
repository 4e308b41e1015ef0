//! What the search does not look at, or looks at less deeply.
//!
//! In: a node with its evaluation and window, or a move there. Out: whether the node or the move can be given up,
//! or by how much its search may be shallower. None of this is sound; all of it pays for itself many times over.

use std::sync::LazyLock;

use shakmaty::Position;

use super::history::NO_MOVE;
use super::search::{Prospect, Search, Tried};
use super::stack::Node;
use crate::chess::score::{MATE_IN_MAX, Score, is_mate};
use crate::chess::see::see_ge;
use crate::chess::{key, null};
use crate::eval::Evaluator;

/// Reverse futility: so far above beta that no quiet reply within the remaining depth is likely to make up for it
/// (Heinz, "Extended Futility Pruning", 1998, seen from the other side).
pub fn reverse_futility(prospect: &Prospect) -> Option<Score> {
    let Prospect { beta, depth, eval, improving, .. } = *prospect;
    let margin = 80 * (depth - i32::from(improving));
    (depth <= 8 && !is_mate(beta) && eval < MATE_IN_MAX && eval - margin >= beta).then_some((eval + beta) / 2)
}

/// Whether a move is not worth a search: late and quiet at low depth, hopelessly below alpha, or losing more
/// material than the remaining depth can be hoped to win back.
pub fn futile(node: &Node, prospect: &Prospect, tried: &Tried) -> bool {
    let Prospect { alpha, depth, eval, improving, .. } = *prospect;
    if depth > 8 || node.in_check || tried.gives_check {
        return false;
    }
    if tried.quiet {
        // Late move pruning: ordered this far back, a quiet move has hardly ever been good.
        let enough = (4 + depth * depth) as usize / if improving { 1 } else { 2 };
        if tried.earlier > enough {
            return true;
        }
        // Futility: a quiet move does not lift the evaluation by this much.
        if eval + 120 + 90 * depth <= alpha {
            return true;
        }
        return !see_ge(node.position, tried.m, -60 * depth);
    }
    tried.losing && !see_ge(node.position, tried.m, -100 * depth)
}

/// Reductions by depth and number of the move, in plies: the logarithms' product, as most engines have it since
/// Fruit and Stockfish.
static REDUCTIONS: LazyLock<[[i8; 64]; 64]> = LazyLock::new(|| {
    let mut table = [[0; 64]; 64];
    for (depth, row) in table.iter_mut().enumerate().skip(1) {
        for (earlier, reduction) in row.iter_mut().enumerate().skip(1) {
            *reduction = (0.8 + (depth as f64).ln() * (earlier as f64).ln() / 2.2) as i8;
        }
    }
    table
});

impl<E: Evaluator> Search<'_, E> {
    /// Null move: if passing still fails high, a real move will too. Unsound in zugzwang, hence the material test;
    /// never twice in a row (Beal, 1989; Donninger, "Null Move and Deep Search", 1993).
    pub(super) fn null_move(&mut self, node: &Node, prospect: &Prospect) -> Option<Score> {
        let Prospect { beta, depth, eval, .. } = *prospect;
        let position = node.position;
        let board = position.board();
        let pieces = position.us() & !board.pawns() & !board.kings();
        let after_null = node.ply > 0 && self.stack.before(node.ply)[0] == NO_MOVE;
        if depth < 3 || eval < beta || is_mate(beta) || pieces.is_empty() || after_null {
            return None;
        }
        let reduction = 3 + depth / 3 + ((eval - beta) / 200).min(3);
        let after = null::pass(position)?;
        let key = key::after_null(position, node.key);
        self.stack.push(node.ply, NO_MOVE, key);
        let child = Node { position: &after, key, ply: node.ply + 1, in_check: false };
        let score = -self.node::<false>(&child, -beta, -beta + 1, depth - reduction);
        self.stack.pop();
        // A mate that needs the opponent to sit still is not proven.
        (score >= beta && !self.budget.stopped()).then_some(if is_mate(score) { beta } else { score })
    }

    /// Late move reductions: with good ordering a late quiet move rarely raises alpha, so a shallower search is
    /// enough to confirm that it does not.
    pub(super) fn late_move_reduction<const PV: bool>(
        &self,
        node: &Node,
        prospect: &Prospect,
        tried: &Tried,
    ) -> i32 {
        let depth = prospect.depth;
        if depth < 3 || tried.earlier < 1 + usize::from(PV) || !(tried.quiet || tried.losing) {
            return 0;
        }
        let mut reduction = i32::from(REDUCTIONS[depth.clamp(0, 63) as usize][tried.earlier.min(63)]);
        reduction -= i32::from(PV) + i32::from(tried.gives_check) + i32::from(node.in_check);
        reduction += i32::from(!prospect.improving);
        if tried.quiet {
            let before = self.stack.before(node.ply);
            reduction -= self.history.score(node.position.turn(), tried.m, before) / 12_000;
        }
        reduction.clamp(0, depth - 2)
    }
}
