//! In which order to try moves.
//!
//! In: the moves of a node and what is known about them. Out: one after another, the most promising first: the
//! table's move, captures that do not lose material by victim and attacker, killers, quiet moves by history, and
//! captures that lose material. The exchange is worked out only for captures whose turn has come.

use shakmaty::{Move, MoveList, Position, Role};

use super::history::{Before, History};
use super::stack::Node;
use crate::chess::PackedMove;
use crate::chess::see::{see_ge, value};

const TABLE: i32 = 1 << 30;
const GOOD: i32 = 1 << 24;
const KILLER: i32 = 1 << 20;
const BAD: i32 = -(1 << 24);

/// Moves with their promise, handed out best first.
pub struct Picker {
    moves: MoveList,
    scores: [i32; CAPACITY],
    next: usize,
}

/// shakmaty's bound on the number of moves in any position, even an absurd one.
const CAPACITY: usize = 270;

impl Picker {
    /// All moves of a node of the main search.
    pub fn new(
        node: &Node,
        moves: MoveList,
        best: PackedMove,
        killers: [Option<Move>; 2],
        history: &History,
        before: Before,
    ) -> Picker {
        let turn = node.position.turn();
        Picker::scored(moves, |m| {
            if PackedMove::pack(m) == best {
                TABLE
            } else if is_noisy(m) {
                GOOD + victim_and_attacker(m)
            } else if killers[0] == Some(m) {
                KILLER + 1
            } else if killers[1] == Some(m) {
                KILLER
            } else {
                history.score(turn, m, before)
            }
        })
    }

    /// Moves of quiescence, ordered by nothing that earlier searches left behind but the table's move.
    pub fn quiescence(moves: MoveList, best: PackedMove) -> Picker {
        Picker::scored(moves, |m| {
            if PackedMove::pack(m) == best {
                TABLE
            } else if is_noisy(m) {
                GOOD + victim_and_attacker(m)
            } else {
                0
            }
        })
    }

    fn scored(moves: MoveList, score: impl Fn(Move) -> i32) -> Picker {
        let mut scores = [0; CAPACITY];
        for (slot, &m) in scores.iter_mut().zip(&moves) {
            *slot = score(m);
        }
        Picker { moves, scores, next: 0 }
    }

    /// The next move, and whether it is a capture or promotion that loses material.
    #[inline]
    pub fn next(&mut self, node: &Node) -> Option<(Move, bool)> {
        loop {
            let best = (self.next..self.moves.len()).max_by_key(|&i| (self.scores[i], usize::MAX - i))?;
            let (m, score) = (self.moves[best], self.scores[best]);
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
    use crate::engine::history::NO_MOVE;

    #[test]
    fn moves_come_best_first_and_each_once() {
        let position =
            fen::position("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", false)
                .unwrap();
        let node = Node { position: &position, key: key::of(&position), ply: 0, in_check: false };
        let moves = position.legal_moves();
        let quiet: Vec<Move> = moves.iter().copied().filter(|&m| !is_noisy(m)).collect();
        let mut history = History::new();
        history.learn(position.turn(), quiet[5], [NO_MOVE; 2], 900);
        let killers = [Some(quiet[3]), Some(quiet[4])];
        let table = PackedMove::pack(quiet[7]);
        let mut picker = Picker::new(&node, moves.clone(), table, killers, &history, [NO_MOVE; 2]);
        let mut order = Vec::new();
        while let Some((m, losing)) = picker.next(&node) {
            assert_eq!(losing, is_noisy(m) && !see_ge(&position, m, 0));
            order.push(m);
        }
        assert_eq!(order.len(), moves.len());
        let at = |m: Move| order.iter().position(|&o| o == m).unwrap();
        assert_eq!(at(quiet[7]), 0);
        assert_eq!(
            order[1].to_string(),
            "Be2xa6",
            "a bishop for a bishop is the best capture that does not lose"
        );
        assert!(at(quiet[3]) < at(quiet[4]) && at(quiet[4]) < at(quiet[5]) && at(quiet[5]) < at(quiet[6]));
        let last = order[order.len() - 1];
        assert!(is_noisy(last) && !see_ge(&position, last, 0));
    }
}
