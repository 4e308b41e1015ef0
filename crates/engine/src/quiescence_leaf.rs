//! Quiescence leaf: the end of the quiescence search's principal variation, found mostly by zero-window tests,
//! which take fewer nodes. Source: J. Pearl, "SCOUT: A Simple Game-Searching Algorithm with Proven Optimal
//! Properties" (1980).

use shakmaty::{Chess, Position};

use super::move_picker::QuiescencePicker;
use super::quiescence_cache::{CacheKey, QuiescenceCache};
use super::searcher::has_no_moves;
use super::stack::Node;
use patzer_chess::score::{MAX_PLY, Score, is_mate, mated_in};
use patzer_chess::{PackedMove, played};
use patzer_eval::{Evaluation, Evaluator, with_evaluator};

/// Finds quiescence leaves, with any evaluation.
pub trait LeafSearch: Send {
    /// The leaf of a position, with its static evaluation in centipawns from its side to move or a mate
    /// score; `None` if the leaf is a stalemate.
    fn quiescence_leaf(&mut self, position: &Chess) -> Option<(Chess, Score)>;

    /// The score of the quiescence search for the side to move, in centipawns or a mate score.
    fn quiescence_score(&mut self, position: &Chess) -> Score;
}

/// A search for quiescence leaves with this evaluation.
pub fn leaf_search(evaluation: &Evaluation) -> Box<dyn LeafSearch> {
    let cache = QuiescenceCache::new();
    with_evaluator!(evaluation, evaluator => Box::new(LeafSearcher { evaluator, cache }))
}

struct LeafSearcher<E> {
    evaluator: E,
    cache: QuiescenceCache,
}

struct LeafLine {
    score: Score,
    /// The leaf and its score from its side to move; `None` if the node itself is the leaf.
    leaf: Option<(Chess, Score)>,
}

impl<E: Evaluator> LeafSearch for LeafSearcher<E> {
    fn quiescence_leaf(&mut self, position: &Chess) -> Option<(Chess, Score)> {
        let root = Node::root(position, 0);
        let line = self.best_line(&root);
        let (leaf, score) = line.leaf.unwrap_or_else(|| (position.clone(), line.score));
        if has_no_moves(&leaf) {
            return leaf.is_check().then(|| (leaf, mated_in(0)));
        }
        Some((leaf, score))
    }

    fn quiescence_score(&mut self, position: &Chess) -> Score {
        self.best_line(&Node::root(position, 0)).score
    }
}

impl<E: Evaluator> LeafSearcher<E> {
    /// The exact score of a node and its leaf; the first move wins ties.
    fn best_line(&mut self, node: &Node) -> LeafLine {
        // Being mated at once is the worst score, so any evasion improves on it.
        let mated = node.in_check && node.ply < MAX_PLY;
        let score = if mated {
            mated_in(node.ply as i32)
        } else {
            self.stand_pat(node, &CacheKey::new(node.position))
        };
        let mut best = LeafLine { score, leaf: None };
        if node.ply >= MAX_PLY {
            return best;
        }
        let mut moves = QuiescencePicker::empty();
        moves.fill(node, PackedMove::NONE, false);
        while let Some(m) = moves.next(node) {
            let after = played(node.position, m);
            let child = node.child(&after, 0);
            if self.reaches(&child, -best.score) {
                continue;
            }
            let line = self.best_line(&child);
            best.score = -line.score;
            best.leaf = Some(line.leaf.unwrap_or_else(|| (after.clone(), line.score)));
        }
        best
    }

    fn reaches(&mut self, node: &Node, bound: Score) -> bool {
        // Mate scores count from the root, so cached bounds hold for one ply only.
        let key = CacheKey::new(node.position);
        if is_mate(bound) {
            return self.reaches_uncached(node, &key, bound);
        }
        let entry = self.cache.entry(&key);
        if entry.low >= bound || entry.high < bound {
            return entry.low >= bound;
        }
        let reached = self.reaches_uncached(node, &key, bound);
        let entry = self.cache.entry(&key);
        if reached {
            entry.low = entry.low.max(bound);
        } else {
            entry.high = entry.high.min(bound - 1);
        }
        reached
    }

    fn reaches_uncached(&mut self, node: &Node, key: &CacheKey, bound: Score) -> bool {
        if node.ply >= MAX_PLY {
            return self.stand_pat(node, key) >= bound;
        }
        if !node.in_check && self.stand_pat(node, key) >= bound {
            return true;
        }
        let mut moves = QuiescencePicker::empty();
        moves.fill(node, PackedMove::NONE, false);
        if node.in_check && moves.is_empty() {
            return mated_in(node.ply as i32) >= bound;
        }
        while let Some(m) = moves.next(node) {
            let after = played(node.position, m);
            if !self.reaches(&node.child(&after, 0), 1 - bound) {
                return true;
            }
        }
        false
    }

    fn stand_pat(&mut self, node: &Node, key: &CacheKey) -> Score {
        let entry = self.cache.entry(key);
        if let Some(eval) = entry.eval {
            return eval;
        }
        let eval = self.evaluator.evaluate(node.position, node.ply);
        entry.eval = Some(eval);
        eval
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine;
    use patzer_chess::testing::along_random_games;

    #[test]
    fn the_leaf_is_that_of_the_quiescence_search_that_plays() {
        for (evaluation, games) in [(Evaluation::default_hce(), 12), (Evaluation::default(), 6)] {
            let mut plain = engine(&evaluation, 1).unwrap();
            let mut fast = leaf_search(&evaluation);
            along_random_games(6, games, 150, |position| {
                let leaf = fast.quiescence_leaf(position);
                assert_eq!(leaf, plain.quiescence_leaf(position), "{position:?}");
                let Some((leaf, score)) = leaf.filter(|(_, score)| !is_mate(*score)) else { return };
                let score = if leaf.turn() == position.turn() { score } else { -score };
                assert_eq!(fast.quiescence_score(position), score, "{position:?}");
            });
        }
    }
}
