//! Positions for tests: those of random games, where pieces hang and kings stand in check as in no other games.
//!
//! In: a seed. Out: one position after another, the same ones for the same seed.

use shakmaty::{Chess, Position};

use crate::rng::Rng;

/// Looks at every position of random games from the start position, each up to this many plies long.
pub fn along_random_games(seed: u64, games: usize, plies: usize, mut look: impl FnMut(&Chess)) {
    let mut rng = Rng::new(seed);
    for _ in 0..games {
        let mut position = Chess::default();
        for _ in 0..plies {
            look(&position);
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            position.play_unchecked(moves[rng.below(moves.len())]);
        }
    }
}
