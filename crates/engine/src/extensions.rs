use shakmaty::Move;

use super::search::{NodeContext, Search};
use super::stack::Node;
use super::transposition_table::Bound;
use patzer_chess::score::{Score, is_mate};
use patzer_eval::Evaluator;

/// Bounds double extensions on one line, or the line could grow without end.
const MAX_DOUBLE_EXTENSIONS: u8 = 6;

pub(super) enum Extension {
    Plies(i32),
    Cut(Score),
}

impl<E: Evaluator> Search<'_, E> {
    /// Singular extension: extends the hash move if a shallower search without it shows all other moves
    /// clearly worse (Anantharaman, Campbell and Hsu, "Singular Extensions: Adding Selectivity to Brute-Force
    /// Searching", 1990; in the form of Stockfish). Multi-cut: if another move would fail high too, so does
    /// the node (Bjornsson and Marsland, 1998).
    pub(super) fn singular_extension<const PV: bool>(
        &mut self,
        node: &Node,
        ctx: &NodeContext,
        m: Move,
    ) -> Extension {
        const NONE: Extension = Extension::Plies(0);
        let params = self.params;
        if ctx.depth < params.singular_depth {
            return NONE;
        }
        let Some(entry) = ctx.entry.filter(|_| ctx.tt_move == Some(m)) else { return NONE };
        let singular = self.selective
            && node.ply > 0
            && (node.ply as i32) < 2 * self.root_depth
            && entry.depth >= ctx.depth - 3
            && entry.bound != Bound::Upper
            && !is_mate(entry.score)
            && self.stack.frame(node.ply).excluded.is_none();
        if !singular {
            return NONE;
        }
        let target = entry.score - params.singular_margin * ctx.depth / 16;
        self.stack.frame(node.ply).excluded = Some(m);
        let depth = (ctx.depth - 1) / 2;
        let score = self.node::<false>(node, target - 1, target, depth, ctx.cut);
        self.stack.frame(node.ply).excluded = None;
        if self.time.stopped() {
            return NONE;
        }
        let double_extensions = self.stack.frame(node.ply).double_extensions;
        if score < target {
            let twice =
                !PV && score < target - params.double_margin && double_extensions < MAX_DOUBLE_EXTENSIONS;
            return Extension::Plies(1 + i32::from(twice));
        }
        if target >= ctx.beta {
            return Extension::Cut(target);
        }
        Extension::Plies(-i32::from(entry.score >= ctx.beta || ctx.cut))
    }
}
