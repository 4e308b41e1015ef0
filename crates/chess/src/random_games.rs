//! Positions of random games.

use std::collections::HashSet;

use shakmaty::{Chess, Position};

use crate::fen;
use crate::rng::Rng;

/// Positions of random games, each once, without those in check, which many engines do not evaluate.
pub fn random_positions(count: usize, seed: u64) -> Vec<Chess> {
    let mut rng = Rng::new(seed);
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    while found.len() < count {
        let mut position = Chess::default();
        // Random play loses its pieces late: every length up to 160 plies fills all output buckets.
        for _ in 0..160 {
            let moves = position.legal_moves();
            if moves.is_empty() || found.len() == count {
                break;
            }
            position.play_unchecked(moves[rng.below(moves.len())]);
            if rng.below(4) == 0 && !position.is_check() && seen.insert(fen::text(&position)) {
                found.push(position.clone());
            }
        }
    }
    found
}
