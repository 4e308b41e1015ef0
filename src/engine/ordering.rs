//! In which order quiescence tries moves.
//!
//! In: the moves of a node and the table's. Out: one after another, the most promising first: the table's move,
//! captures that do not lose material by victim and attacker, quiet replies to a check, captures that lose material.
//! The exchange is worked out only for captures whose turn has come. Nothing that earlier searches left behind but
//! the table's move plays a part, so that a label depends on the position alone.

use arrayvec::ArrayVec;
use shakmaty::{Move, MoveList, Position, Role};

use super::stack::Node;
use crate::chess::see::{see_ge, value};
use crate::chess::{PackedMove, captures};

const TABLE: i32 = 1 << 30;
const GOOD: i32 = 1 << 24;
const BAD: i32 = -(1 << 24);

/// Moves with their promise, handed out best first.
pub struct Picker {
    moves: MoveList,
    scores: ArrayVec<i32, CAPACITY>,
    next: usize,
}

/// shakmaty's bound on the number of moves in any position, even an absurd one.
pub const CAPACITY: usize = 270;

impl Picker {
    /// No moves yet. A picker is large, so it is filled where it stays instead of being made elsewhere and copied.
    #[inline(always)]
    pub fn empty() -> Picker {
        Picker { moves: MoveList::new(), scores: ArrayVec::new(), next: 0 }
    }

    /// Fills in the moves of a node of quiescence: all if it is in check, else captures and queen promotions.
    pub fn quiescence(&mut self, node: &Node, best: PackedMove) {
        if node.in_check {
            self.moves = node.position.legal_moves();
        } else {
            captures::generate(node.position, &mut self.moves);
        }
        self.rate(best);
    }

    #[inline(always)]
    fn rate(&mut self, best: PackedMove) {
        self.scores.clear();
        self.scores.extend(self.moves.iter().map(|&m| {
            if best != PackedMove::NONE && PackedMove::pack(m) == best {
                TABLE
            } else if is_noisy(m) {
                GOOD + victim_and_attacker(m)
            } else {
                0
            }
        }));
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

    /// The next move, and whether it is a capture or promotion that loses material.
    #[inline]
    pub fn next(&mut self, node: &Node) -> Option<(Move, bool)> {
        loop {
            let left = &self.scores[self.next..self.moves.len()];
            let mut best = 0;
            let mut score = *left.first()?;
            for (i, &other) in left.iter().enumerate().skip(1) {
                if other > score {
                    (best, score) = (i, other);
                }
            }
            best += self.next;
            let m = self.moves[best];
            if (GOOD..TABLE).contains(&score) && !see_ge(node.position, m, 0) {
                self.scores[best] = score - GOOD + BAD;
                continue;
            }
            self.moves.swap(self.next, best);
            self.scores.swap(self.next, best);
            self.next += 1;
            return Some((m, score < BAD / 2));
        }
    }
}

/// Whether a move changes the material on the board.
#[inline]
pub fn is_noisy(m: Move) -> bool {
    m.is_capture() || m.is_promotion()
}

/// Most valuable victim first, then least valuable attacker.
#[inline]
fn victim_and_attacker(m: Move) -> i32 {
    let victim = m.capture().map_or(0, value) + m.promotion().map_or(0, value);
    let attacker = if m.role() == Role::King { 10 } else { value(m.role()) / 100 };
    16 * victim - attacker
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::{fen, key};

    #[test]
    fn captures_come_best_first_and_quiet_moves_not_at_all() {
        let position =
            fen::position("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", false)
                .unwrap();
        let node = Node { position: &position, key: key::of(&position), ply: 0, in_check: false };
        let noisy: Vec<Move> = position.legal_moves().into_iter().filter(|&m| is_noisy(m)).collect();
        let mut picker = Picker::empty();
        picker.quiescence(&node, PackedMove::pack(noisy[0]));
        let mut order = Vec::new();
        while let Some((m, losing)) = picker.next(&node) {
            assert!(order.is_empty() || losing != see_ge(&position, m, 0));
            order.push(m);
        }
        assert_eq!((order.len(), order[0]), (noisy.len(), noisy[0]));
        assert_eq!(order[1].to_string(), "Be2xa6", "a bishop for a bishop is the best that does not lose");
    }
}
