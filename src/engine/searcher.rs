//! An engine: the memory that outlives a search, and the searches that work on it.
//!
//! In: an evaluation. Out: an [`Engine`].

use std::sync::atomic::AtomicBool;

use shakmaty::{Bitboard, Chess, Position, attacks};

use super::budget::Budget;
use super::history::History;
use super::search::Search;
use super::stack::{Node, Stack};
use super::table::Table;
use super::{Engine, Limits, Report};
use crate::chess::Line;
use crate::chess::score::{INFINITE, Score, mated_in};
use crate::eval::Evaluator;

/// Evaluator, transposition table, histories and stack of one searching thread.
pub struct Searcher<E: Evaluator> {
    evaluator: E,
    table: Table,
    history: History,
    stack: Stack,
    selective: bool,
}

impl<E: Evaluator> Searcher<E> {
    /// An engine with a table of this many MiB, at least one.
    pub fn new(evaluator: E, hash_mb: usize) -> Searcher<E> {
        Searcher {
            evaluator,
            table: Table::new(hash_mb),
            history: History::new(),
            stack: Stack::new(),
            selective: true,
        }
    }

    /// An engine that looks at everything: no pruning, no reductions, no cut-offs by the table.
    #[cfg(test)]
    pub(super) fn exhaustive(evaluator: E) -> Searcher<E> {
        Searcher { selective: false, ..Searcher::new(evaluator, 1) }
    }

    fn begin<'a>(&'a mut self, limits: &Limits, stop: &'a AtomicBool) -> Search<'a, E> {
        Search {
            evaluator: &mut self.evaluator,
            table: &mut self.table,
            history: &mut self.history,
            stack: &mut self.stack,
            budget: Budget::new(limits, stop),
            selective: self.selective,
            nodes: 0,
            seldepth: 0,
            root_depth: 0,
        }
    }
}

impl<E: Evaluator> Engine for Searcher<E> {
    fn new_game(&mut self) {
        self.table.clear();
        self.history.clear();
    }

    fn search(
        &mut self,
        line: &Line,
        limits: &Limits,
        stop: &AtomicBool,
        info: &mut dyn FnMut(&Report),
    ) -> Report {
        self.begin(limits, stop).run(line, limits, info)
    }

    fn evaluate(&mut self, position: &Chess) -> Score {
        self.evaluator.evaluate(position, 0)
    }

    fn resolve(&mut self, position: &Chess) -> Option<(Chess, Score)> {
        static NEVER: AtomicBool = AtomicBool::new(false);
        let root = Node { position, key: 0, ply: 0, in_check: position.is_check() };
        let value = self.begin(&Limits::default(), &NEVER).quiesce::<true>(&root, -INFINITE, INFINITE);
        let line = self.stack.line(0);
        let mut leaf = position.clone();
        for &m in line {
            leaf.play_unchecked(m);
        }
        if stuck(&leaf) {
            return leaf.is_check().then(|| (leaf, mated_in(0)));
        }
        // The value of the search is the evaluation of its leaf, seen from the root.
        let score = if line.len().is_multiple_of(2) { value } else { -value };
        Some((leaf, score))
    }

    fn resize(&mut self, hash_mb: usize) {
        // The old table goes first, so that the two are never in memory together.
        self.table = Table::new(1);
        self.table = Table::new(hash_mb);
    }
}

/// Whether a side has no legal move. Generating them all is the last resort: hardly any position is without a pawn,
/// or a knight off the king's lines, that can simply move.
fn stuck(position: &Chess) -> bool {
    let free = |king| {
        let board = position.board();
        let lines = attacks::queen_attacks(king, Bitboard::EMPTY);
        let ours = position.us();
        let pawns = ours & board.pawns() & !lines;
        let steps = pawns.shift(position.turn().fold_wb(8, -8)) & !board.occupied();
        let leaps = (ours & board.knights() & !lines)
            .into_iter()
            .any(|from| !attacks::knight_attacks(from).is_subset(ours));
        steps.any() || leaps
    };
    let king = position.board().king_of(position.turn());
    (position.is_check() || !king.is_some_and(free)) && position.legal_moves().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::{fen, score};
    use crate::engine::engine;
    use crate::eval::Evaluation;
    use crate::rng::Rng;

    fn along_random_games(mut check: impl FnMut(&Chess)) {
        let mut rng = Rng::new(5);
        for _ in 0..30 {
            let mut position = Chess::default();
            for _ in 0..200 {
                check(&position);
                let moves = position.legal_moves();
                if moves.is_empty() {
                    break;
                }
                position.play_unchecked(moves[rng.below(moves.len())]);
            }
        }
    }

    #[test]
    fn a_side_is_stuck_if_it_has_no_legal_move() {
        along_random_games(|position| assert_eq!(stuck(position), position.legal_moves().is_empty()));
        for (text, expected) in [
            ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", true),
            ("7k/5Q2/6K1/8/7p/8/8/8 b - - 0 1", false),
            // The only pawn is blocked; then also a knight, which is pinned.
            ("k7/8/1Q6/8/8/7p/7P/K7 b - - 0 1", true),
            ("k1n4R/8/1Q6/8/8/7p/7P/7K b - - 0 1", true),
        ] {
            assert_eq!(stuck(&fen::position(text, false).unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn the_score_of_a_leaf_is_its_evaluation() {
        let mut engine = engine(&Evaluation::default_hce(), 1);
        along_random_games(|position| {
            if let Some((leaf, value)) = engine.resolve(position)
                && !score::is_mate(value)
            {
                assert_eq!(value, engine.evaluate(&leaf), "{position:?}");
            }
        });
    }
}
