//! Networks: (768 → N) × 2 → 1 with squared clipped ReLU, quantised.
//!
//! In: a `.nnue` file or weights from the trainer, and positions. Out: centipawns for the side to move.
//! [`features`] says what a network sees, [`network`] how its weights lie, [`file`](mod@file) how they are
//! stored; the accumulator and the inner loops are private to [`Nnue`].
//!
//! Sources: Nasu, "Efficiently Updatable Neural-Network-based Evaluation Functions for Computer Shogi" (2018);
//! the layout and the squared clipped ReLU are those of the trainer bullet.

mod accumulator;
pub mod features;
pub mod file;
pub mod material;
pub mod network;
mod simd;

use std::sync::Arc;

use shakmaty::{Board, Chess, Color, Position};

pub use network::{About, Network};

use self::accumulator::Stack;
use self::simd::Kernel;
use super::Evaluator;
use crate::chess::score::{MATE_IN_MAX, Score};

/// A network that evaluates, with the hidden layers of the positions of the current line.
#[derive(Debug, Clone)]
pub struct Nnue {
    network: Arc<Network>,
    stack: Stack,
    kernel: Kernel,
}

impl Nnue {
    /// Starts with no position seen.
    pub fn new(network: Arc<Network>) -> Nnue {
        let stack = Stack::new(&network);
        Nnue { network, stack, kernel: Kernel::best() }
    }

    /// As [`Evaluator::evaluate`], for a board that need not be a legal position.
    pub fn evaluate_board(&mut self, board: &Board, side: Color, ply: usize) -> Score {
        let sums = self.stack.update(&self.network, self.kernel, board, side, ply);
        let score = self.network.centipawns(self.kernel.output(&self.network, sums));
        score.clamp(1 - MATE_IN_MAX, MATE_IN_MAX - 1)
    }

    /// The network behind it.
    pub fn network(&self) -> &Arc<Network> {
        &self.network
    }
}

impl Evaluator for Nnue {
    fn evaluate(&mut self, position: &Chess, ply: usize) -> Score {
        self.evaluate_board(position.board(), position.turn(), ply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn what_was_seen_before_never_shows() {
        for hidden in [16, 40] {
            let network = Arc::new(network::tests::random(hidden, 11));
            let mut rng = Rng::new(2);
            let mut nnue = Nnue::new(network.clone());
            for _ in 0..6 {
                let mut position = Chess::default();
                for ply in 0..60 {
                    let moves = position.legal_moves();
                    if moves.is_empty() {
                        break;
                    }
                    position.play_unchecked(moves[rng.below(moves.len())]);
                    // Most of the time the next ply, sometimes any, as after a null move or in another search.
                    let at = if rng.below(4) == 0 { rng.below(140) } else { ply };
                    let fresh = Nnue::new(network.clone()).evaluate(&position, 0);
                    assert_eq!(nnue.evaluate(&position, at), fresh);
                }
            }
        }
    }

    #[test]
    fn both_colours_are_evaluated_alike() {
        let network = Arc::new(network::tests::random(32, 4));
        let mut rng = Rng::new(8);
        let mut position = Chess::default();
        for _ in 0..80 {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            position.play_unchecked(moves[rng.below(moves.len())]);
            let mut setup = position.to_setup(shakmaty::EnPassantMode::Legal);
            setup.mirror();
            let mode = position.castles().mode();
            let Ok(mirrored) = shakmaty::FromSetup::from_setup(setup, mode) else { continue };
            let mut nnue = Nnue::new(network.clone());
            assert_eq!(nnue.evaluate(&position, 0), nnue.evaluate(&mirrored, 0));
        }
    }
}
