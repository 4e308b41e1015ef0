use shakmaty::{Chess, Position};

use crate::rng::Rng;

/// Visits every position of random games, where pieces hang and kings stand in check as in no other games.
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
