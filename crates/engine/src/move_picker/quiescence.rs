//! In which order quiescence tries moves.
//!
//! In: the moves of a node and the table's. Out: one after another, the most promising first: the table's move,
//! captures that do not lose material by victim and attacker, then in check quiet replies and captures that lose
//! material, else quiet checks that do not. The exchange is worked out only for moves whose turn has come, and checks
//! are generated only when theirs has. Nothing that earlier searches left behind but the table's move plays a part, so
//! that a label depends on the position alone.

use arrayvec::ArrayVec;
use shakmaty::{Move, MoveList, Position, Role};

use crate::stack::Node;
use patzer_chess::see::{see_ge, value, worth};
use patzer_chess::{PackedMove, Parts, captures, quiets};

const TABLE: i32 = 1 << 30;
const GOOD: i32 = 1 << 24;
const BAD: i32 = -(1 << 24);
/// Of no move.
const NEVER: i32 = i32::MIN;

/// Moves with their promise, handed out best first.
pub struct Picker {
    moves: MoveList,
    scores: ArrayVec<i32, CAPACITY>,
    next: usize,
    /// Whether quiet checks are still to come.
    checks: bool,
}

/// shakmaty's bound on the number of moves in any position, even an absurd one.
pub const CAPACITY: usize = 270;

impl Picker {
    /// No moves yet. A picker is large, so it is filled where it stays instead of being made elsewhere and copied.
    #[inline(always)]
    pub fn empty() -> Picker {
        Picker { moves: MoveList::new(), scores: ArrayVec::new(), next: 0, checks: false }
    }

    /// Fills in the moves of a node of quiescence: all if it is in check, else captures and queen promotions, behind
    /// which quiet checks come if they are wanted.
    pub fn quiescence(&mut self, node: &Node, best: PackedMove, checks: bool) {
        if node.in_check {
            self.moves = node.position.legal_moves();
        } else {
            captures::generate(node.position, &mut self.moves);
            self.checks = checks;
        }
        self.rate(best);
    }

    #[inline(always)]
    fn rate(&mut self, best: PackedMove) {
        self.scores.clear();
        for &m in &self.moves {
            self.scores.push(if best != PackedMove::NONE && PackedMove::pack(m) == best {
                TABLE
            } else if is_noisy(m) {
                GOOD + victim_and_attacker(m)
            } else {
                0
            });
        }
    }

    /// The moves that are left, and all of them before the first is handed out.
    #[inline]
    pub fn left(&self) -> &[Move] {
        &self.moves[self.next..]
    }

    /// Whether there is no move at all.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.moves.is_empty()
    }

    /// The next move. Captures and promotions that lose material are handed out in check alone.
    #[inline]
    pub fn next(&mut self, node: &Node) -> Option<Move> {
        loop {
            let left = &self.scores[self.next..self.moves.len()];
            let mut best = 0;
            let mut score = left.first().copied().unwrap_or(NEVER);
            for (i, &other) in left.iter().enumerate().skip(1) {
                if other > score {
                    (best, score) = (i, other);
                }
            }
            if score == NEVER || (score < BAD / 2 && !node.in_check) {
                if !std::mem::take(&mut self.checks) {
                    return None;
                }
                self.quiet_checks(node);
                continue;
            }
            best += self.next;
            let m = self.moves[best];
            let doubtful = score < TABLE && (score >= GOOD || !node.in_check);
            if doubtful && !see_ge(node.position, m, 0) {
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
        self.rate(PackedMove::NONE);
    }
}

/// Whether a move changes the material on the board.
#[inline]
pub fn is_noisy(m: Move) -> bool {
    Parts::of(m).is_noisy()
}

/// Most valuable victim first, then least valuable attacker.
#[inline]
fn victim_and_attacker(m: Move) -> i32 {
    let Parts { role, capture, promotion, .. } = Parts::of(m);
    let victim = worth(capture) + worth(promotion);
    let attacker = if role == Role::King { 10 } else { value(role) / 100 };
    16 * victim - attacker
}

#[cfg(test)]
mod tests {
    use shakmaty::Chess;

    use super::*;
    use patzer_chess::checks::Checks;
    use patzer_chess::testing::along_random_games;
    use patzer_chess::{fen, key};

    fn handed_out(position: &Chess, first: PackedMove) -> Vec<Move> {
        let node = Node { position, key: key::of(position), ply: 0, in_check: position.is_check() };
        let mut picker = Picker::empty();
        picker.quiescence(&node, first, true);
        std::iter::from_fn(|| picker.next(&node)).collect()
    }

    #[test]
    fn captures_come_best_first_and_quiet_moves_not_at_all() {
        let position =
            fen::position("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", false)
                .unwrap();
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
            let checks = Checks::of(position);
            let belongs = |m: Move| {
                let quiet_check = !is_noisy(m) && !m.is_castle() && checks.gives(position, m);
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
