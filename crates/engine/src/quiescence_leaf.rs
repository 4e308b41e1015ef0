//! The leaf of a position: where its exchanges end if both sides play them as well as they can.
//!
//! In: a position. Out: the end of the principal variation of the quiescence search, and its evaluation. The tree is
//! that of [`super::quiescence`] with an open window, which looks at the same moves in the same order and is the plain
//! twin of this module; only the way through it is another one. A label needs one line, so nearly all nodes
//! are asked a yes-or-no question: is the score at least so much? That takes fewer nodes, and fewer of them have to
//! be evaluated. Source: J. Pearl, "SCOUT: A Simple Game-Searching Algorithm with Proven Optimal Properties" (1980).

use shakmaty::{Chess, Position};

use super::move_picker::Picker;
use super::quiescence_cache::{Memory, Place};
use super::searcher::stuck;
use super::stack::Node;
use patzer_chess::score::{MAX_PLY, Score, is_mate, mated_in};
use patzer_chess::{PackedMove, legal, played};
use patzer_eval::hce::Hce;
use patzer_eval::nnue::Nnue;
use patzer_eval::{Evaluation, Evaluator};

/// Something that resolves positions, whatever it evaluates them with.
pub trait Resolve: Send {
    /// The leaf of a position, and its static evaluation in centipawns from the side to move there or a mate score.
    /// `None` if the leaf is a stalemate, which no evaluation describes.
    fn resolve(&mut self, position: &Chess) -> Option<(Chess, Score)>;
}

/// A resolver with this evaluation.
pub fn resolver(evaluation: &Evaluation) -> Box<dyn Resolve> {
    match evaluation {
        Evaluation::Hce(weights) => Box::new(Resolver::new(Hce::new(weights.clone()))),
        Evaluation::Nnue(network) => Box::new(Resolver::new(Nnue::new(network.clone()))),
    }
}

struct Resolver<E> {
    evaluator: E,
    memory: Memory,
}

impl<E: Evaluator> Resolver<E> {
    fn new(evaluator: E) -> Resolver<E> {
        Resolver { evaluator, memory: Memory::new() }
    }
}

/// Where the best line of a node leads.
struct Line {
    /// The score of the node.
    score: Score,
    /// The leaf and what it is worth to its side to move; `None` if the node itself is the leaf.
    leaf: Option<(Chess, Score)>,
}

impl<E: Evaluator> Resolve for Resolver<E> {
    fn resolve(&mut self, position: &Chess) -> Option<(Chess, Score)> {
        let root = Node { position, key: 0, ply: 0, in_check: position.is_check() };
        let line = self.best_line(&root);
        let (leaf, score) = line.leaf.unwrap_or_else(|| (position.clone(), line.score));
        if stuck(&leaf) {
            return leaf.is_check().then(|| (leaf, mated_in(0)));
        }
        Some((leaf, score))
    }
}

impl<E: Evaluator> Resolver<E> {
    /// The exact score of a node and its leaf. Of moves that lead to the same score the first counts.
    fn best_line(&mut self, node: &Node) -> Line {
        // To be mated at once is the worst that there is, so any reply to a check is better.
        let mated = node.in_check && node.ply < MAX_PLY;
        let score =
            if mated { mated_in(node.ply as i32) } else { self.standing(node, &Place::of(node.position)) };
        let mut best = Line { score, leaf: None };
        if node.ply >= MAX_PLY {
            return best;
        }
        let mut moves = Picker::empty();
        moves.quiescence(node, PackedMove::NONE, false);
        while let Some(m) = moves.next(node) {
            let after = played(node.position, m);
            let child = below(node, &after);
            if self.at_least(&child, -best.score) {
                continue;
            }
            let line = self.best_line(&child);
            best.score = -line.score;
            best.leaf = Some(line.leaf.unwrap_or_else(|| (after.clone(), line.score)));
        }
        best
    }

    /// Whether the score of a node reaches a bound.
    fn at_least(&mut self, node: &Node, bound: Score) -> bool {
        // Mates are counted from the root, so what is known of them holds for one ply only.
        let place = Place::of(node.position);
        if is_mate(bound) {
            return self.search(node, &place, bound);
        }
        let known = self.memory.at(&place);
        if known.low >= bound || known.high < bound {
            return known.low >= bound;
        }
        let reached = self.search(node, &place, bound);
        let known = self.memory.at(&place);
        if reached {
            known.low = known.low.max(bound);
        } else {
            known.high = known.high.min(bound - 1);
        }
        reached
    }

    /// The same, without what is known of the node itself.
    fn search(&mut self, node: &Node, place: &Place, bound: Score) -> bool {
        if node.ply >= MAX_PLY {
            return self.standing(node, place) >= bound;
        }
        if !node.in_check && self.standing(node, place) >= bound {
            return true;
        }
        let mut moves = Picker::empty();
        moves.quiescence(node, PackedMove::NONE, false);
        if node.in_check && moves.is_empty() {
            return mated_in(node.ply as i32) >= bound;
        }
        while let Some(m) = moves.next(node) {
            let after = played(node.position, m);
            if !self.at_least(&below(node, &after), 1 - bound) {
                return true;
            }
        }
        false
    }

    fn standing(&mut self, node: &Node, place: &Place) -> Score {
        let known = self.memory.at(place);
        if let Some(standing) = known.standing {
            return standing;
        }
        let standing = self.evaluator.evaluate(node.position, node.ply);
        known.standing = Some(standing);
        standing
    }
}

fn below<'a>(node: &Node, after: &'a Chess) -> Node<'a> {
    Node { position: after, key: 0, ply: node.ply + 1, in_check: legal::in_check(after) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine;
    use patzer_chess::testing::along_random_games;

    #[test]
    fn the_leaf_is_that_of_the_quiescence_search_that_plays() {
        for (evaluation, games) in [(Evaluation::default_hce(), 12), (Evaluation::default(), 6)] {
            let mut plain = engine(&evaluation, 1);
            let mut fast = resolver(&evaluation);
            along_random_games(6, games, 150, |position| {
                assert_eq!(fast.resolve(position), plain.resolve(position), "{position:?}");
            });
        }
    }
}
