//! Quiescence search: captures, promotions, checks and evasions until the evaluation can be trusted.
//! Labelling uses the same function, only without its selective parts, so training judges positions as play
//! does. Sources: Shannon, "Programming a Computer for Playing Chess" (1950); stand pat and SEE pruning as in
//! engines since Crafty; checks at the first ply alone as in Fruit.

use shakmaty::{Move, Position};

use super::move_picker::{QuiescencePicker, is_noisy};
use super::search::Search;
use super::stack::Node;
use super::transposition_table::{Bound, DEPTH_QS_NO_CHECKS, Entry};
use patzer_chess::score::{INFINITE, MATE_IN_MAX, MAX_PLY, Score, mated_in};
use patzer_chess::see::{see_ge, value};
use patzer_chess::{PackedMove, copy_position, key};
use patzer_eval::Evaluator;

/// The depth at which the main search hands over; deeper plies use [`DEPTH_QS_NO_CHECKS`].
pub(super) const DEPTH_QS_CHECKS: i32 = 0;

impl<E: Evaluator> Search<'_, E> {
    /// The fail-soft score of a node by captures and queen promotions that do not lose material, at
    /// [`DEPTH_QS_CHECKS`] also by quiet checks that do not, or by all evasions. A side not in check may
    /// stand pat, so every line ends in a quiet position, in mate or at [`MAX_PLY`].
    /// `PV` nodes take no score from the table. A search that is not selective ignores the table, tries no
    /// quiet checks and prunes nothing: its line is complete and depends on the position alone.
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
        if self.time.should_stop(self.nodes) {
            return 0;
        }
        self.nodes += 1;
        self.seldepth = self.seldepth.max(node.ply);
        if node.ply >= MAX_PLY {
            return self.evaluator.evaluate(node.position, node.ply);
        }
        let correction = self.eval_correction(node);
        let entry = if self.selective { self.tt.probe(node.key, node.ply) } else { None };
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
            (best, best_move) = self.search_captures::<PV>(node, best, alpha, beta, depth, entry);
            if self.time.stopped() {
                return 0;
            }
        }
        if self.selective {
            let bound = match best {
                _ if best >= beta => Bound::Lower,
                _ if PV && best > start => Bound::Exact,
                _ => Bound::Upper,
            };
            let pv = PV || entry.is_some_and(|entry| entry.pv);
            let entry = Entry { best: best_move, score: best, eval, depth, bound, pv };
            self.tt.store(node.key, node.ply, entry);
        }
        best
    }

    fn search_captures<const PV: bool>(
        &mut self,
        node: &Node,
        mut best: Score,
        mut alpha: Score,
        beta: Score,
        depth: i32,
        entry: Option<Entry>,
    ) -> (Score, PackedMove) {
        let checks = depth == DEPTH_QS_CHECKS && self.selective && self.params.quiescence_checks > 0;
        let mut picker = QuiescencePicker::empty();
        picker.fill(node, entry.map_or(PackedMove::NONE, |entry| entry.best), checks);
        if node.in_check && picker.is_empty() {
            return (mated_in(node.ply as i32), PackedMove::NONE);
        }
        if self.selective {
            // The moves are few, and their table entries take long to arrive.
            for &m in picker.remaining() {
                self.tt.prefetch(key::approximate_after(node.position, node.key, m));
            }
        }
        let mut best_move = PackedMove::NONE;
        let futile = self.delta_limit(node, best);
        let mut replies = 0;
        while let Some(m) = picker.next(node) {
            // Quiet evasions come after the captures; a few suffice to show that it is not mate.
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
                if limit <= alpha && !self.may_gain(node, m) {
                    best = best.max(limit);
                    continue;
                }
            }
            let mut after = copy_position(node.position);
            after.play_unchecked(m);
            let key = key::after(node.position, node.key, m, &after);
            let child = node.child(&after, key);
            // Not pushed on the stack: quiescence needs no repetition keys.
            let score = -self.quiesce::<PV>(&child, -beta, -alpha, DEPTH_QS_NO_CHECKS);
            if self.time.stopped() {
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

    fn may_gain(&self, node: &Node, m: Move) -> bool {
        self.params.quiescence_winning == 0 || see_ge(node.position, m, 1)
    }

    /// Delta pruning: the most that a capture can raise the score to, without the captured piece (Schaeffer's
    /// "futility cut-off" in quiescence). `None` in check and for labels.
    #[inline]
    fn delta_limit(&self, node: &Node, standing: Score) -> Option<Score> {
        (self.selective && !node.in_check).then_some(standing + self.params.quiescence_margin)
    }
}
