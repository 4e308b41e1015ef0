//! Mate search for `go mate`: an unpruned AND/OR search without evaluation, since the key move of a mate
//! often looks worst (Nilsson, "Problem-Solving Methods in Artificial Intelligence", 1971).

use std::collections::HashMap;

use shakmaty::{Chess, Move, MoveList, Position};

use super::search::Search;
use super::searcher::has_no_moves;
use super::stack::Node;
use patzer_chess::score::mate_in;
use patzer_chess::{key, played};
use patzer_eval::Evaluator;

/// Maximum number of remembered positions; beyond it proofs only take longer.
const MAX_NO_MATE: usize = 1 << 20;

struct Proof {
    no_mate: HashMap<u64, u32>,
    /// Killer replies by moves left: the reply that last refuted an attempt.
    refutations: Vec<Option<Move>>,
}

/// The mate length to try before an iteration, growing slowly, since excluding a long mate takes long.
pub(super) fn length_to_try(depth: i32, most: u32) -> Option<u32> {
    let moves = (depth + 3) as u32 / 4;
    (depth % 4 == 1 && moves <= most).then_some(moves)
}

impl<E: Evaluator> Search<'_, E> {
    /// Proves a mate in this many moves, given that there is no shorter one, and puts it first at the root.
    pub(super) fn prove_mate(&mut self, root: &Node, moves: u32) -> bool {
        let mut proof = Proof { no_mate: HashMap::new(), refutations: vec![None; moves as usize + 1] };
        let moves_to_try: MoveList = self.moves.iter().map(|root_move| root_move.m).collect();
        let Some(m) = self.mating_move(root, &moves_to_try, moves, &mut proof) else { return false };
        let mut line = vec![m];
        let (mut position, mut left) = (played(root.position, m), moves);
        while let Some((reply, answer)) = self.longest_defence(&position, left, &mut proof) {
            position = played(&played(&position, reply), answer);
            line.extend([reply, answer]);
            left -= 1;
        }
        if let Some(at) = self.moves.iter().position(|root_move| root_move.m == m) {
            self.moves[..=at].rotate_right(1);
            let plies = 2 * moves as usize - 1;
            self.moves[0].set(mate_in(plies as i32), line, plies);
        }
        !self.time.stopped()
    }

    fn mating_move(
        &mut self,
        node: &Node,
        moves_to_try: &[Move],
        moves: u32,
        proof: &mut Proof,
    ) -> Option<Move> {
        if self.visit() || node.position.halfmoves() >= 100 {
            return None;
        }
        if proof.no_mate.get(&node.key).is_some_and(|&longest| longest >= moves) {
            return None;
        }
        // Checks leave the fewest replies, and only a check can be the last move.
        for checks in [true, false] {
            if moves == 1 && !checks {
                break;
            }
            for &m in moves_to_try {
                let after = played(node.position, m);
                let key = key::after(node.position, node.key, m, &after);
                let child = node.child(&after, key);
                if child.in_check == checks && self.all_replies_mated(&child, moves, proof) {
                    return Some(m);
                }
                if self.time.stopped() {
                    return None;
                }
            }
        }
        if moves > 1 && proof.no_mate.len() < MAX_NO_MATE {
            proof.no_mate.insert(node.key, moves);
        }
        None
    }

    /// Tests whether every reply ends in mate within this many moves, counting the attacker's last one.
    fn all_replies_mated(&mut self, node: &Node, moves: u32, proof: &mut Proof) -> bool {
        if self.visit() {
            return false;
        }
        if moves == 1 {
            return node.in_check && has_no_moves(node.position);
        }
        let mut replies = node.position.legal_moves();
        if replies.is_empty() {
            return node.in_check;
        }
        let refutations = proof.refutations[moves as usize];
        if let Some(at) = replies.iter().position(|&m| Some(m) == refutations) {
            replies.swap(0, at);
        }
        for reply in replies {
            let after = played(node.position, reply);
            let key = key::after(node.position, node.key, reply, &after);
            let child = node.child(&after, key);
            if self.mating_move(&child, &after.legal_moves(), moves - 1, proof).is_none() {
                proof.refutations[moves as usize] = Some(reply);
                return false;
            }
        }
        true
    }

    /// The reply that delays a proven mate longest, and the attacker's answer; `None` if it is mate.
    fn longest_defence(&mut self, position: &Chess, moves: u32, proof: &mut Proof) -> Option<(Move, Move)> {
        let mut found = None;
        for reply in position.legal_moves() {
            let after = played(position, reply);
            let node = Node::root(&after, key::of(&after));
            let moves_to_try = after.legal_moves();
            let sooner =
                (1..moves - 1).any(|left| self.mating_move(&node, &moves_to_try, left, proof).is_some());
            if found.is_none() || !sooner {
                found =
                    self.mating_move(&node, &moves_to_try, moves - 1, proof).map(|answer| (reply, answer));
                if !sooner {
                    break;
                }
            }
        }
        found
    }

    fn visit(&mut self) -> bool {
        let spent = self.time.should_stop(self.nodes);
        self.nodes += u64::from(!spent);
        spent
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::uci::UciMove;
    use shakmaty::{CastlingMode, Color, Piece, Setup, Square};

    use super::*;
    use crate::testing::{Simple, engine, search};
    use crate::{Limits, Report, Searcher};
    use patzer_chess::Line;
    use patzer_chess::rng::Rng;
    use patzer_chess::score::Score;
    use patzer_chess::testing::from_fen;

    fn go_mate(position: &Chess, moves: u32) -> Report {
        let limits = Limits { mate: Some(moves), depth: Some(4 * moves as i32 - 3), ..Limits::default() };
        search(&mut engine(), &Line::new(position.clone()), limits)
    }

    fn exhaustive(position: &Chess, plies: i32) -> Score {
        let limits = Limits { depth: Some(plies), ..Limits::default() };
        search(&mut Searcher::exhaustive(Simple), &Line::new(position.clone()), limits).score
    }

    #[test]
    fn problems_are_solved_at_their_length() {
        for (text, moves, key) in [
            // A sacrifice into zugzwang: P. Morphy, New York Clipper, 1856.
            ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", 2, "a1a6"),
            // The smothered mate of Lucena, 1497.
            ("5r1k/6pp/7N/8/2Q5/8/8/6K1 w - - 0 1", 2, "c4g8"),
            // Two rooks, with a quiet first move.
            ("8/7k/8/8/8/R7/1R6/6K1 w - - 0 1", 2, "b2g2"),
            // The king first: promoting at once takes longer.
            ("8/5P1k/8/5K2/8/8/8/8 w - - 0 1", 4, "f5f6"),
        ] {
            let position = from_fen(text);
            let report = go_mate(&position, moves);
            assert_eq!(report.score, mate_in(2 * moves as i32 - 1), "{text}");
            let key = key.parse::<UciMove>().unwrap().to_move(&position).unwrap();
            assert_eq!(report.best, Some(key), "{text}");
            assert_eq!(report.pv.len(), 2 * moves as usize - 1, "{text}");
            let end = report.pv.iter().fold(position, |position, &m| position.play(m).unwrap());
            assert!(end.is_checkmate(), "{text}");
        }
    }

    #[test]
    fn a_mate_is_proven_exactly_where_a_full_search_sees_one() {
        // King and knight against queen and rook, at random squares.
        let (mut rng, mut mates) = (Rng::new(11), 0);
        for _ in 0..120 {
            let mut setup = Setup { turn: Color::White, ..Setup::empty() };
            for piece in "KQRkn".chars().filter_map(Piece::from_char) {
                setup.board.set_piece_at(Square::new(rng.below(64) as u32), piece);
            }
            let Ok(position) = setup.position::<Chess>(CastlingMode::Standard) else { continue };
            let (report, full) = (go_mate(&position, 2), exhaustive(&position, 3));
            if full >= mate_in(3) {
                assert_eq!(report.score, full, "{position:?}");
                mates += 1;
            } else {
                assert!(report.score < mate_in(3), "{position:?}");
            }
        }
        assert!((5..60).contains(&mates), "{mates}");
    }

    #[test]
    fn the_fifty_move_rule_comes_before_a_later_mate() {
        let at = |text: &str| go_mate(&from_fen(text), 2).score;
        assert_eq!(at("7k/8/8/8/8/8/R7/1R4K1 w - - 97 90"), mate_in(3));
        assert!(at("7k/8/8/8/8/8/R7/1R4K1 w - - 98 90") < mate_in(3));
    }
}
