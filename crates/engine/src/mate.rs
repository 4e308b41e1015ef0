//! Proving a mate of a given length, for `go mate`.
//!
//! In: a root and a number of moves. Out: the line of such a mate, if the side to move can force one. The search that
//! plays gives up moves that look bad, and the key of a mate often looks worst of all; here nothing is given up, and
//! nothing is evaluated. The attacker needs one move that works against every reply, the defender one reply that helps
//! against what follows (an and/or tree; Nilsson, "Problem-Solving Methods in Artificial Intelligence", 1971), so
//! a reply that has helped is tried first against the attacker's next move.

use std::collections::HashMap;

use shakmaty::{Chess, Move, MoveList, Position};

use super::search::Search;
use super::searcher::stuck;
use super::stack::Node;
use patzer_chess::score::mate_in;
use patzer_chess::{key, legal, played};
use patzer_eval::Evaluator;

/// Positions without mate that are remembered; beyond that, proofs only take longer.
const MOST_KNOWN: usize = 1 << 20;

/// What a proof has found out on its way.
#[derive(Default)]
pub(super) struct Proof {
    /// By a position's key, in how many moves there is no mate.
    hopeless: HashMap<u64, u32>,
    /// By moves left, the reply that last helped the defender.
    helpful: Vec<Option<Move>>,
}

impl Proof {
    fn new(moves: u32) -> Proof {
        Proof { hopeless: HashMap::new(), helpful: vec![None; moves as usize + 1] }
    }
}

/// The length of the mate to look for before an iteration, if any: before the first one a mate in one, and one more
/// every four plies, so that a long mate, which takes long to exclude, does not keep the search that plays from finding
/// it.
pub(super) fn due(depth: i32, most: u32) -> Option<u32> {
    let moves = (depth + 3) as u32 / 4;
    (depth % 4 == 1 && moves <= most).then_some(moves)
}

impl<E: Evaluator> Search<'_, E> {
    /// Whether one of the moves at the root forces mate in exactly this many moves, given that none does in fewer. That
    /// move then is the first, with its score and line. A search that is ended meanwhile has proven nothing.
    pub(super) fn prove_mate(&mut self, root: &Node, moves: u32) -> bool {
        let mut proof = Proof::new(moves);
        let choices: MoveList = self.moves.iter().map(|known| known.m).collect();
        let Some(m) = self.mating_move(root, &choices, moves, &mut proof) else { return false };
        let mut line = vec![m];
        let (mut position, mut left) = (played(root.position, m), moves);
        while let Some((reply, answer)) = self.longest(&position, left, &mut proof) {
            position = played(&played(&position, reply), answer);
            line.extend([reply, answer]);
            left -= 1;
        }
        if let Some(at) = self.moves.iter().position(|known| known.m == m) {
            self.moves[..=at].rotate_right(1);
            let first = &mut self.moves[0];
            (first.score, first.line) = (mate_in(2 * moves as i32 - 1), line);
            first.seldepth = 2 * moves as usize - 1;
        }
        !self.budget.stopped()
    }

    /// A move of these that forces mate in this many moves, at least one.
    fn mating_move(&mut self, node: &Node, choices: &[Move], moves: u32, proof: &mut Proof) -> Option<Move> {
        // A position that is drawn by the fifty-move rule is never mate any more.
        if self.visit() || node.position.halfmoves() >= 100 {
            return None;
        }
        if proof.hopeless.get(&node.key).is_some_and(|&known| known >= moves) {
            return None;
        }
        // Checks leave the fewest replies, and only they can be the last move.
        for checks in [true, false] {
            if moves == 1 && !checks {
                break;
            }
            for &m in choices {
                let after = played(node.position, m);
                let in_check = legal::in_check(&after);
                if in_check == checks {
                    let key = key::after(node.position, node.key, m, &after);
                    let child = Node { position: &after, key, ply: node.ply + 1, in_check };
                    if self.no_escape(&child, moves, proof) {
                        return Some(m);
                    }
                }
                if self.budget.stopped() {
                    return None;
                }
            }
        }
        if moves > 1 && proof.hopeless.len() < MOST_KNOWN {
            proof.hopeless.insert(node.key, moves);
        }
        None
    }

    /// Whether every reply to the attacker's move, after which the position stands, ends in mate within what is left of
    /// this many moves.
    fn no_escape(&mut self, node: &Node, moves: u32, proof: &mut Proof) -> bool {
        if self.visit() {
            return false;
        }
        if moves == 1 {
            return node.in_check && stuck(node.position);
        }
        let mut replies = node.position.legal_moves();
        if replies.is_empty() {
            return node.in_check;
        }
        let helpful = proof.helpful[moves as usize];
        if let Some(at) = replies.iter().position(|&m| Some(m) == helpful) {
            replies.swap(0, at);
        }
        for reply in replies {
            let after = played(node.position, reply);
            let key = key::after(node.position, node.key, reply, &after);
            let in_check = legal::in_check(&after);
            let child = Node { position: &after, key, ply: node.ply + 1, in_check };
            if self.mating_move(&child, &after.legal_moves(), moves - 1, proof).is_none() {
                proof.helpful[moves as usize] = Some(reply);
                return false;
            }
        }
        true
    }

    /// The reply that puts off a proven mate longest, and the attacker's answer; `None` if it is mate.
    fn longest(&mut self, position: &Chess, moves: u32, proof: &mut Proof) -> Option<(Move, Move)> {
        let mut found = None;
        for reply in position.legal_moves() {
            let after = played(position, reply);
            let node = Node { position: &after, key: key::of(&after), ply: 0, in_check: false };
            let choices = after.legal_moves();
            let sooner = (1..moves - 1).any(|left| self.mating_move(&node, &choices, left, proof).is_some());
            if found.is_none() || !sooner {
                found = self.mating_move(&node, &choices, moves - 1, proof).map(|answer| (reply, answer));
                if !sooner {
                    break;
                }
            }
        }
        found
    }

    /// Counts a position; true if the search has to end.
    fn visit(&mut self) -> bool {
        let spent = self.budget.spent(self.nodes);
        self.nodes += u64::from(!spent);
        spent
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use shakmaty::uci::UciMove;
    use shakmaty::{CastlingMode, Color, Piece, Setup, Square};

    use super::*;
    use crate::testing::Simple;
    use crate::transposition_table::Table;
    use crate::{Engine, Limits, Report, Searcher};
    use patzer_chess::rng::Rng;
    use patzer_chess::score::Score;
    use patzer_chess::{Line, fen};

    fn go_mate(position: &Chess, moves: u32) -> Report {
        let limits = Limits { mate: Some(moves), depth: Some(4 * moves as i32 - 3), ..Limits::default() };
        let stop = AtomicBool::new(false);
        Searcher::new(Simple, Table::least()).search(
            &Line::new(position.clone()),
            &limits,
            &stop,
            &mut |_| {},
        )
    }

    fn exhaustive(position: &Chess, plies: i32) -> Score {
        let limits = Limits { depth: Some(plies), ..Limits::default() };
        let stop = AtomicBool::new(false);
        let mut engine = Searcher::exhaustive(Simple);
        engine.search(&Line::new(position.clone()), &limits, &stop, &mut |_| {}).score
    }

    #[test]
    fn problems_are_solved_at_their_length() {
        for (text, moves, key) in [
            // A sacrifice into zugzwang: P. Morphy, New York Clipper, 1856.
            ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", 2, "a1a6"),
            // The smothered mate of Lucena, 1497.
            ("5r1k/6pp/7N/8/2Q5/8/8/6K1 w - - 0 1", 2, "c4g8"),
            // Two rooks, and a first move without check.
            ("8/7k/8/8/8/R7/1R6/6K1 w - - 0 1", 2, "b2g2"),
            // The king first: a pawn that promotes at once takes longer.
            ("8/5P1k/8/5K2/8/8/8/8 w - - 0 1", 4, "f5f6"),
        ] {
            let position = fen::position(text, false).unwrap();
            let report = go_mate(&position, moves);
            assert_eq!(report.score, mate_in(2 * moves as i32 - 1), "{text}");
            let key = key.parse::<UciMove>().unwrap().to_move(&position).unwrap();
            assert_eq!(report.best, Some(key), "{text}");
            // The line is legal, of full length, and ends in mate.
            assert_eq!(report.pv.len(), 2 * moves as usize - 1, "{text}");
            let end = report.pv.iter().fold(position, |position, &m| position.play(m).unwrap());
            assert!(end.is_checkmate(), "{text}");
        }
    }

    #[test]
    fn a_mate_is_proven_exactly_where_a_full_search_sees_one() {
        // A king and a knight against a queen and a rook, anywhere.
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
        let at = |halfmoves: u32| {
            let text = format!("7k/8/8/8/8/8/R7/1R4K1 w - - {halfmoves} 90");
            go_mate(&fen::position(&text, false).unwrap(), 2).score
        };
        assert_eq!(at(97), mate_in(3));
        assert!(at(98) < mate_in(3));
    }
}
