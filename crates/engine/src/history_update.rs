//! What a search teaches the histories.
//!
//! In: a node with the moves that were tried there and what came of them. Out: nothing; histories, killers and counter
//! moves know more.

use shakmaty::{Move, Position};

use super::move_picker::is_noisy;
use super::search::Search;
use super::stack::Node;
use patzer_chess::score::Score;
use patzer_eval::Evaluator;

impl<E: Evaluator> Search<'_, E> {
    /// Remembers a node's best move, in the histories and a quiet one also as a killer and counter move, and holds
    /// it against the others that they were tried in vain.
    pub(super) fn reward(&mut self, node: &Node, depth: i32, m: Move, quiets: &[Move], noisy: &[Move]) {
        let turn = node.position.turn();
        let before = self.before(node.ply);
        let bonus = (self.params.bonus_slope * depth).min(self.params.bonus_max);
        let of_captures = bonus * self.params.captures;
        if is_noisy(m) {
            self.history.learn_capture(turn, m, of_captures);
        } else {
            if self.params.killers > 0 {
                self.stack.add_killer(node.ply, m);
            }
            if self.params.counters > 0 {
                self.history.learn_counter(self.stack.moved(node.ply, 1), m);
            }
            self.history.learn(turn, m, &before, bonus);
            for &other in quiets.iter().filter(|&&other| other != m) {
                self.history.learn(turn, other, &before, -bonus);
            }
        }
        for &other in noisy.iter().filter(|&&other| other != m) {
            self.history.learn_capture(turn, other, -of_captures);
        }
    }

    /// Rewards the quiet move that led to a node for what it changed the static evaluation by, before any search has
    /// said what it is worth (the idea of Stockfish's "static evaluation difference").
    pub(super) fn reward_gain(&mut self, node: &Node, eval: Option<Score>) {
        let Some(above) = node.ply.checked_sub(1) else { return };
        let above = self.stack.frame(above);
        if let (Some(m), Some(before), Some(eval)) = (above.quiet, above.eval, eval) {
            // Each of the two is from the view of its side to move.
            let gain = -(eval + before);
            let max = self.params.gain_max;
            let bonus = (gain * self.params.gain_slope).clamp(-max, max);
            self.history.learn_alone(!node.position.turn(), m, above.attacked, bonus);
        }
    }

    /// Remembers a quiet move to which no reply was good enough.
    pub(super) fn reward_before(&mut self, node: &Node, depth: i32) {
        let Some(above) = node.ply.checked_sub(1) else { return };
        if let Some(m) = self.stack.frame(above).quiet
            && self.params.bonus_before > 0
        {
            let before = self.before(above);
            let bonus = (self.params.bonus_slope * depth / 2).min(self.params.bonus_max / 2);
            self.history.learn(!node.position.turn(), m, &before, bonus);
        }
    }
}
