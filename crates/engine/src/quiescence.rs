//! Quiescence: plays out captures, promotions, checks and replies to them until the evaluation can be trusted.
//!
//! In: a node with no depth left. Out: its score; with an open window also the line by which it comes about. The
//! labelling resolves positions by this same function, only without what a selective search leaves out, so a position
//! is judged in training where it is judged in play. Source: Shannon (1950), "Programming a Computer for Playing
//! Chess"; for stand pat and pruning by static exchange, any engine since Crafty; for checks at the first ply alone,
//! Fruit.

use shakmaty::{Move, Position};

use super::move_picker::{Picker, is_noisy};
use super::search::Search;
use super::stack::Node;
use super::transposition_table::{Bound, Entry, SHALLOWEST};
use patzer_chess::score::{INFINITE, MATE_IN_MAX, MAX_PLY, Score, mated_in};
use patzer_chess::see::{see_ge, value};
use patzer_chess::{PackedMove, copied, key, legal};
use patzer_eval::Evaluator;

/// The depth, in plies, at which the main search hands over: quiet checks are tried too. All below are
/// [`SHALLOWEST`].
pub(super) const FIRST: i32 = 0;

impl<E: Evaluator> Search<'_, E> {
    /// The score of a node, fail-soft, by captures and queen promotions that do not lose material, at the first ply also
    /// by such quiet checks, or by all moves of a side in check. `depth` is [`FIRST`] or [`SHALLOWEST`]. A side that is
    /// not in check may also stand pat, so every line ends in a position that is not a check, unless it is mate or
    /// [`MAX_PLY`] long.
    ///
    /// With an open window (`PV`) no score of the table ends the line. A search that is not selective neither reads nor
    /// writes the table, tries no quiet checks and looks at every other move: its line is complete, and depends on
    /// nothing but the position.
    pub(super) fn quiesce<const PV: bool>(
        &mut self,
        node: &Node,
        mut alpha: Score,
        beta: Score,
        depth: i32,
    ) -> Score {
        if PV {
            self.stack.clear_line(node.ply);
        }
        if self.budget.spent(self.nodes) {
            return 0;
        }
        self.nodes += 1;
        self.seldepth = self.seldepth.max(node.ply);
        if node.ply >= MAX_PLY {
            return self.evaluator.evaluate(node.position, node.ply);
        }
        let correction = self.correction_of(node);
        let entry = if self.selective { self.table.probe(node.key, node.ply) } else { None };
        if let Some(entry) = entry
            && !PV
            && entry.depth >= depth
            && entry.decides(alpha, beta)
        {
            return entry.score;
        }

        let start = alpha;
        let mut best = -INFINITE;
        let mut eval = None;
        if !node.in_check {
            let (raw, standing) = self.evaluate(node, entry, correction);
            eval = Some(raw);
            best = entry.filter(|_| !PV).map_or(standing, |entry| entry.refine(standing));
            alpha = alpha.max(best);
        }
        let mut best_move = PackedMove::NONE;
        if best < beta {
            (best, best_move) = self.play_out::<PV>(node, best, alpha, beta, depth, entry);
            if self.budget.stopped() {
                return 0;
            }
        }
        if self.selective {
            let bound = match best {
                _ if best >= beta => Bound::Lower,
                _ if PV && best > start => Bound::Exact,
                _ => Bound::Upper,
            };
            self.table.store(
                node.key,
                node.ply,
                Entry {
                    best: best_move,
                    score: best,
                    eval,
                    depth,
                    bound,
                    pv: PV || entry.is_some_and(|entry| entry.pv),
                },
            );
        }
        best
    }

    /// The best of standing pat (`best`, or minus infinity in check) and the moves of a quiescence node.
    fn play_out<const PV: bool>(
        &mut self,
        node: &Node,
        mut best: Score,
        mut alpha: Score,
        beta: Score,
        depth: i32,
        entry: Option<Entry>,
    ) -> (Score, PackedMove) {
        let checks = depth == FIRST && self.selective && self.params.quiescence_checks > 0;
        let mut picker = Picker::empty();
        picker.quiescence(node, entry.map_or(PackedMove::NONE, |entry| entry.best), checks);
        if node.in_check && picker.is_empty() {
            return (mated_in(node.ply as i32), PackedMove::NONE);
        }
        if self.selective {
            // They are few, and what the table knows of the positions behind them takes long to come.
            for &m in picker.left() {
                self.table.prefetch(key::nearly_after(node.position, node.key, m));
            }
        }
        let mut best_move = PackedMove::NONE;
        let futile = self.futility_in_quiescence(node, best);
        let mut replies = 0;
        while let Some(m) = picker.next(node) {
            // Of the quiet replies to a check, ordered after the captures, few are enough to tell that it is no mate.
            if self.selective && node.in_check && best > -MATE_IN_MAX && !is_noisy(m) {
                replies += 1;
                if replies > self.params.quiescence_replies {
                    continue;
                }
            }
            if let (Some(limit), Some(victim), false) = (futile, m.capture(), m.is_promotion()) {
                let most = limit + value(victim);
                if most <= alpha {
                    best = best.max(most);
                    continue;
                }
                if limit <= alpha && !self.worth_a_try(node, m) {
                    best = best.max(limit);
                    continue;
                }
            }
            let mut after = copied(node.position);
            after.play_unchecked(m);
            let key = key::after(node.position, node.key, m, &after);
            let child = Node { position: &after, key, ply: node.ply + 1, in_check: legal::in_check(&after) };
            // Nothing here asks for the line, so it is not kept.
            let score = -self.quiesce::<PV>(&child, -beta, -alpha, SHALLOWEST);
            if self.budget.stopped() {
                break;
            }
            if score > best {
                best = score;
                if score > alpha {
                    alpha = score;
                    best_move = PackedMove::pack(m);
                    if PV {
                        self.stack.extend_line(node.ply, m);
                    }
                }
                if score >= beta {
                    break;
                }
            }
        }
        (best, best_move)
    }

    /// Whether a capture can help where an even exchange does not.
    fn worth_a_try(&self, node: &Node, m: Move) -> bool {
        self.params.quiescence_winning == 0 || see_ge(node.position, m, 1)
    }

    /// The most that a capture can be expected to lift the position to, short of the captured piece (delta pruning;
    /// Schaeffer's "futility cut-off" in quiescence). `None` where everything is to be looked at: for labels, and in
    /// check.
    #[inline]
    fn futility_in_quiescence(&self, node: &Node, standing: Score) -> Option<Score> {
        (self.selective && !node.in_check).then_some(standing + self.params.quiescence_margin)
    }
}
