//! What the search looks at more deeply.
//!
//! In: a node, or its first move. Out: by how many plies its search is to be deeper, or a score that makes the
//! search unnecessary.

use shakmaty::Move;

use super::search::{Prospect, Search};
use super::stack::Node;
use super::transposition_table::Bound;
use patzer_chess::score::{Score, is_mate};
use patzer_eval::Evaluator;

/// Extensions by two plies on one line; more would let a line grow without end.
const MOST_DOUBLES: u8 = 6;

/// What an extension search finds.
pub(super) enum Extension {
    /// How many plies deeper, or less deep, to search the move.
    Plies(i32),
    /// Several moves cut off: the node's score.
    Cut(Score),
}

impl<E: Evaluator> Search<'_, E> {
    /// Singular extension: the table's move is searched deeper if all others are clearly worse, as a shallower
    /// search without it shows (Anantharaman, Campbell and Hsu, "Singular Extensions: Adding Selectivity to Brute-Force
    /// Searching", 1990; in the form of Stockfish). If instead the others too would cut off, so does the node
    /// (Bjornsson and Marsland's "Multi-Cut", 1998).
    pub(super) fn extension<const PV: bool>(
        &mut self,
        node: &Node,
        prospect: &Prospect,
        m: Move,
    ) -> Extension {
        const NONE: Extension = Extension::Plies(0);
        let params = self.params;
        if prospect.depth < params.singular_depth {
            return NONE;
        }
        let Some(entry) = prospect.entry.filter(|_| prospect.first == Some(m)) else { return NONE };
        let singular = self.selective
            && node.ply > 0
            && (node.ply as i32) < 2 * self.root_depth
            && entry.depth >= prospect.depth - 3
            && entry.bound != Bound::Upper
            && !is_mate(entry.score)
            && self.stack.frame(node.ply).excluded.is_none();
        if !singular {
            return NONE;
        }
        let target = entry.score - params.singular_margin * prospect.depth / 16;
        self.stack.frame(node.ply).excluded = Some(m);
        let depth = (prospect.depth - 1) / 2;
        let score = self.node::<false>(node, target - 1, target, depth, prospect.cut);
        self.stack.frame(node.ply).excluded = None;
        if self.budget.stopped() {
            return NONE;
        }
        let doubles = self.stack.frame(node.ply).doubles;
        if score < target {
            let twice = !PV && score < target - params.double_margin && doubles < MOST_DOUBLES;
            return Extension::Plies(1 + i32::from(twice));
        }
        if target >= prospect.beta {
            return Extension::Cut(target);
        }
        Extension::Plies(-i32::from(entry.score >= prospect.beta || prospect.cut))
    }
}
