use shakmaty::{Move, Position};

use super::move_picker::is_noisy;
use super::search::Search;
use super::stack::Node;
use patzer_chess::score::Score;
use patzer_eval::Evaluator;

impl<E: Evaluator> Search<'_, E> {
    /// Rewards the best move, if quiet also as killer and counter move, and penalises the moves that failed.
    pub(super) fn update_histories(
        &mut self,
        node: &Node,
        depth: i32,
        m: Move,
        failed_quiets: &[Move],
        failed_captures: &[Move],
    ) {
        let turn = node.position.turn();
        let context = self.continuation_context(node.ply);
        let bonus = (self.params.bonus_slope * depth).min(self.params.bonus_max);
        let capture_bonus = bonus * self.params.captures;
        if is_noisy(m) {
            self.history.update_capture(turn, m, capture_bonus);
        } else {
            if self.params.killers > 0 {
                self.stack.add_killer(node.ply, m);
            }
            if self.params.counters > 0 {
                self.history.set_counter_move(self.stack.moved(node.ply, 1), m);
            }
            self.history.update(turn, m, &context, bonus);
            for &other in failed_quiets.iter().filter(|&&other| other != m) {
                self.history.update(turn, other, &context, -bonus);
            }
        }
        for &other in failed_captures.iter().filter(|&&other| other != m) {
            self.history.update_capture(turn, other, -capture_bonus);
        }
    }

    /// Updates the previous quiet move by Stockfish's "static evaluation difference".
    pub(super) fn update_by_evaluation_gain(&mut self, node: &Node, eval: Option<Score>) {
        let Some(above) = node.ply.checked_sub(1) else { return };
        let above = self.stack.frame(above);
        if let (Some(m), Some(before), Some(eval)) = (above.quiet, above.eval, eval) {
            // Each evaluation is from its side to move.
            let gain = -(eval + before);
            let max = self.params.gain_max;
            let bonus = (gain * self.params.gain_slope).clamp(-max, max);
            self.history.update_butterfly(!node.position.turn(), m, above.attacked, bonus);
        }
    }

    pub(super) fn update_previous_move(&mut self, node: &Node, depth: i32) {
        let Some(above) = node.ply.checked_sub(1) else { return };
        if let Some(m) = self.stack.frame(above).quiet
            && self.params.bonus_before > 0
        {
            let context = self.continuation_context(above);
            let bonus = (self.params.bonus_slope * depth / 2).min(self.params.bonus_max / 2);
            self.history.update(!node.position.turn(), m, &context, bonus);
        }
    }
}
