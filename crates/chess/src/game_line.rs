use shakmaty::{Chess, Move, Position};

use super::{key, played};

/// A start position with the moves played from it, and the keys that repetition detection needs.
#[derive(Debug, Clone)]
pub struct Line {
    start: Chess,
    position: Chess,
    moves: Vec<Move>,
    keys: Vec<u64>,
}

impl Line {
    pub fn new(start: Chess) -> Line {
        let keys = vec![key::of(&start)];
        Line { position: start.clone(), start, moves: Vec::new(), keys }
    }

    pub fn play(&mut self, m: Move) {
        let after = played(&self.position, m);
        self.keys.push(key::after(&self.position, self.key(), m, &after));
        self.moves.push(m);
        self.position = after;
    }

    pub fn position(&self) -> &Chess {
        &self.position
    }

    pub fn start(&self) -> &Chess {
        &self.start
    }

    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    pub fn key(&self) -> u64 {
        self.keys[self.moves.len()]
    }

    /// Keys of all positions, from the start to the current one.
    pub fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// Earlier occurrences of the current position; 2 is a draw by threefold repetition.
    pub fn repetitions(&self) -> usize {
        let now = self.moves.len();
        let reversible = (self.position.halfmoves() as usize).min(now);
        let key = self.key();
        (2..=reversible).step_by(2).filter(|back| self.keys[now - back] == key).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::line;

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

    #[test]
    fn repetitions_count_earlier_occurrences() {
        let shuffle = "g1f3 g8f6 f3g1 f6g8";
        for (moves, repetitions) in [
            ("", 0),
            ("g1f3 g8f6", 0),
            (shuffle, 1),
            (&format!("{shuffle} {shuffle}"), 2),
            // Both kings step out and back: same board, same side to move, no castling rights.
            ("e2e4 e7e5 e1e2 e8e7 e2e1 e7e8", 0),
            ("e2e4 e7e5 e1e2 e8e7 e2e1 e7e8 e1e2 e8e7 e2e1 e7e8", 1),
        ] {
            assert_eq!(line(START, moves).repetitions(), repetitions, "{moves}");
        }
    }

    #[test]
    fn the_key_is_that_of_the_position() {
        let line = line(START, "e2e4 c7c5 g1f3 d7d6 f1b5 c8d7 e1g1");
        assert_eq!(line.key(), key::of(line.position()));
        assert_eq!(line.moves().len(), 7);
        assert_eq!(line.start(), &Chess::default());
    }
}
