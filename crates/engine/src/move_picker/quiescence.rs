//! Move ordering of quiescence: hash move, captures by victim and attacker; in check then quiet evasions and
//! losing captures, otherwise quiet checks that do not lose material. SEE runs only when a move's turn comes.
//! Uses no state of earlier searches but the hash move, so that a label depends on the position alone.

use arrayvec::ArrayVec;
use shakmaty::{Move, MoveList, Position, Role};

use crate::stack::Node;
use patzer_chess::see::{see_ge, value, value_or_zero};
use patzer_chess::{MoveParts, PackedMove, captures, quiets};

const TT_MOVE: i32 = 1 << 30;
const GOOD: i32 = 1 << 24;
const BAD: i32 = -(1 << 24);
const NO_SCORE: i32 = i32::MIN;

pub(crate) struct QuiescencePicker {
    moves: MoveList,
    scores: ArrayVec<i32, CAPACITY>,
    next: usize,
    /// Quiet checks are still to be generated.
    checks: bool,
}

/// shakmaty's bound on the number of moves in any position.
pub(crate) const CAPACITY: usize = 270;

impl QuiescencePicker {
    /// An unfilled picker: a picker is large, so it is filled in place instead of being copied.
    #[inline(always)]
    pub(crate) fn empty() -> QuiescencePicker {
        QuiescencePicker { moves: MoveList::new(), scores: ArrayVec::new(), next: 0, checks: false }
    }

    /// Generates all evasions in check, else captures and queen promotions, and later quiet checks if `checks`.
    pub(crate) fn fill(&mut self, node: &Node, best: PackedMove, checks: bool) {
        if node.in_check {
            self.moves = node.position.legal_moves();
        } else {
            captures::generate(node.position, &mut self.moves);
            self.checks = checks;
        }
        self.score_moves(best);
    }

    #[inline(always)]
    fn score_moves(&mut self, best: PackedMove) {
        self.scores.clear();
        for &m in &self.moves {
            self.scores.push(if best != PackedMove::NONE && PackedMove::pack(m) == best {
                TT_MOVE
            } else if is_noisy(m) {
                GOOD + victim_and_attacker(m)
            } else {
                0
            });
        }
    }

    #[inline]
    pub(crate) fn remaining(&self) -> &[Move] {
        &self.moves[self.next..]
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.moves.is_empty()
    }

    /// The next move. Captures and promotions that lose material are picked in check only.
    #[inline]
    pub(crate) fn next(&mut self, node: &Node) -> Option<Move> {
        loop {
            let scores = &self.scores[self.next..self.moves.len()];
            let mut best = 0;
            let mut score = scores.first().copied().unwrap_or(NO_SCORE);
            for (i, &other) in scores.iter().enumerate().skip(1) {
                if other > score {
                    (best, score) = (i, other);
                }
            }
            if score == NO_SCORE || (score < BAD / 2 && !node.in_check) {
                if !std::mem::take(&mut self.checks) {
                    return None;
                }
                self.quiet_checks(node);
                continue;
            }
            best += self.next;
            let m = self.moves[best];
            let unchecked = score < TT_MOVE && (score >= GOOD || !node.in_check);
            if unchecked && !see_ge(node.position, m, 0) {
                self.scores[best] = score - GOOD + BAD;
                continue;
            }
            self.moves.swap(self.next, best);
            self.scores.swap(self.next, best);
            self.next += 1;
            return Some(m);
        }
    }

    fn quiet_checks(&mut self, node: &Node) {
        self.next = 0;
        self.moves.clear();
        quiets::checking(node.position, &mut self.moves);
        self.score_moves(PackedMove::NONE);
    }
}

#[inline]
pub(crate) fn is_noisy(m: Move) -> bool {
    MoveParts::new(m).is_noisy()
}

/// MVV-LVA: most valuable victim, then least valuable attacker.
#[inline]
fn victim_and_attacker(m: Move) -> i32 {
    let MoveParts { role, capture, promotion, .. } = MoveParts::new(m);
    let victim = value_or_zero(capture) + value_or_zero(promotion);
    let attacker = if role == Role::King { 10 } else { value(role) / 100 };
    16 * victim - attacker
}

#[cfg(test)]
mod tests {
    use shakmaty::Chess;

    use super::*;
    use patzer_chess::checks::CheckInfo;
    use patzer_chess::key;
    use patzer_chess::testing::{KIWIPETE, along_random_games, from_fen};

    fn handed_out(position: &Chess, first: PackedMove) -> Vec<Move> {
        let node = Node::root(position, key::of(position));
        let mut picker = QuiescencePicker::empty();
        picker.fill(&node, first, true);
        std::iter::from_fn(|| picker.next(&node)).collect()
    }

    #[test]
    fn captures_come_best_first_and_quiet_moves_not_at_all() {
        let position = from_fen(KIWIPETE);
        let losing = position.legal_moves().into_iter().find(|&m| is_noisy(m) && !see_ge(&position, m, 0));
        let order = handed_out(&position, PackedMove::pack(losing.unwrap()));
        assert_eq!(order[0], losing.unwrap(), "the table's move comes whatever it loses");
        assert_eq!(order[1].to_string(), "Be2xa6", "a bishop for a bishop is the best that does not lose");
        assert!(order.iter().all(|&m| is_noisy(m)));
    }

    #[test]
    fn every_move_that_belongs_there_comes_once_and_checks_come_last() {
        along_random_games(5, 60, 150, |position| {
            let order = handed_out(position, PackedMove::NONE);
            let checks = CheckInfo::new(position);
            let belongs = |m: Move| {
                let quiet_check = !is_noisy(m) && !m.is_castle() && checks.gives_check(position, m);
                position.is_check() || (captures::includes(m) || quiet_check) && see_ge(position, m, 0)
            };
            let mut expected: Vec<Move> =
                position.legal_moves().into_iter().filter(|&m| belongs(m)).collect();
            if !position.is_check() {
                assert!(order.is_sorted_by_key(|&m| !is_noisy(m)), "{position:?}");
            }
            let mut found = order;
            for moves in [&mut expected, &mut found] {
                moves.sort_by_key(|&m| PackedMove::pack(m).0);
            }
            assert_eq!(found, expected, "{position:?}");
        });
    }
}
