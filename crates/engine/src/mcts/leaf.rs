//! Values of new positions: the expected score of the quiescence search, or a game played to its end.

use shakmaty::{Chess, Move, MoveList, Position};

use super::SearchKind;
use super::prior::Model;
use crate::search::Search;
use crate::stack::Node;
use crate::transposition_table::DEPTH_QS_NO_CHECKS;
use crate::uci::Chances;
use patzer_chess::move_features::PreviousMoves;
use patzer_chess::rng::Rng;
use patzer_chess::score::INFINITE;
use patzer_eval::Evaluator;

/// Plies after which a played-out game counts as drawn.
const LONGEST: usize = 400;

pub(super) struct Leaf {
    pub kind: SearchKind,
    model: &'static Model,
    rng: Rng,
    /// WDL model at the root's material.
    pub chances: Chances,
}

impl Leaf {
    pub(super) fn new(kind: SearchKind, root: &Chess, seed: u64) -> Leaf {
        Leaf { kind, model: Model::embedded(), rng: Rng::new(seed), chances: Chances::of(root) }
    }

    /// Expected score of the side to move, 0 to 1.
    pub(super) fn value<E: Evaluator>(
        &mut self,
        search: &mut Search<'_, E>,
        position: &Chess,
        key: u64,
        moves: &[Move],
    ) -> f32 {
        if self.kind.plays_out() {
            return self.play_out(search, position.clone(), moves);
        }
        let node = Node::root(position, key);
        let score = search.quiesce::<false>(&node, -INFINITE, INFINITE, DEPTH_QS_NO_CHECKS);
        self.chances.expected(score) as f32
    }

    /// Prior probabilities of the legal moves, given the moves played before.
    pub(super) fn priors(&self, position: &Chess, legal: &MoveList, moves: &[Move]) -> Vec<f32> {
        if self.kind.has_prior() {
            self.model.probabilities(position, legal, PreviousMoves::of(moves))
        } else {
            vec![1.0 / legal.len() as f32; legal.len()]
        }
    }

    /// Plays a game to its end, in which each ply counts as a node.
    fn play_out<E: Evaluator>(
        &mut self,
        search: &mut Search<'_, E>,
        mut position: Chess,
        moves: &[Move],
    ) -> f32 {
        let side = position.turn();
        let mut last = PreviousMoves::of(moves);
        for _ in 0..LONGEST {
            if search.time.should_stop(search.nodes) {
                return 0.5;
            }
            search.nodes += 1;
            let legal = position.legal_moves();
            if legal.is_empty() {
                return match (position.is_check(), position.turn() == side) {
                    (false, _) => 0.5,
                    (true, true) => 0.0,
                    (true, false) => 1.0,
                };
            }
            if position.halfmoves() >= 100 || position.is_insufficient_material() {
                return 0.5;
            }
            let m = match self.kind.has_prior() {
                true => legal[self.draw(&self.model.probabilities(&position, &legal, last))],
                false => legal[self.rng.below(legal.len())],
            };
            last = PreviousMoves { last: Some(m), own: last.last };
            position.play_unchecked(m);
        }
        0.5
    }

    fn draw(&mut self, probabilities: &[f32]) -> usize {
        let mut left = self.rng.unit() as f32;
        for (at, probability) in probabilities.iter().enumerate() {
            left -= probability;
            if left < 0.0 {
                return at;
            }
        }
        probabilities.len() - 1
    }
}
