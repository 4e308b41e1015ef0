//! Properties of the hand-crafted evaluation on any position with any weights.

use std::sync::Arc;

use patzer_chess::rng::Rng;
use patzer_eval::Evaluator;
use patzer_eval::hce::{self, COUNT, FULL_PHASE, FULL_SCALE, Hce, Trace, Weights};
use proptest::prelude::*;
use shakmaty::{Board, Chess, Color, Piece, Position, Role, Square};

/// A position after some random moves.
fn position(seed: u64, plies: usize) -> Chess {
    let mut rng = Rng::new(seed);
    let mut position = Chess::default();
    for _ in 0..plies {
        let moves = position.legal_moves();
        if moves.is_empty() {
            break;
        }
        position.play_unchecked(moves[rng.below(moves.len())]);
    }
    position
}

/// A board with pieces anywhere, legal or not: up to 32 pieces, pawns on end ranks and kings missing included.
fn anything(seed: u64, pieces: usize) -> Board {
    let mut rng = Rng::new(seed);
    let mut board = Board::empty();
    for _ in 0..pieces {
        let role = Role::ALL[rng.below(6)];
        let color = Color::from_white(rng.below(2) == 0);
        board.set_piece_at(Square::new(rng.below(64) as u32), Piece { role, color });
    }
    board
}

fn weights(seed: u64) -> Weights {
    let mut rng = Rng::new(seed);
    let mut value = || rng.below(2001) as i32 - 1000;
    let pairs: Vec<[i32; 2]> = (0..COUNT).map(|_| [value(), value()]).collect();
    Weights::from_pairs(1.0 + seed as f64 / 7.0, &pairs).unwrap()
}

/// The evaluation worked out from the trace alone.
fn from_trace(board: &Board, turn: Color, weights: &Weights) -> i32 {
    let mut trace = Trace::default();
    hce::trace(board, turn, &mut trace);
    let (mut mg, mut eg) = (0i64, 0i64);
    trace.drain(|index, count| {
        let [a, b] = weights.pairs()[usize::from(index)];
        (mg, eg) = (mg + i64::from(a) * i64::from(count), eg + i64::from(b) * i64::from(count));
    });
    let (phase, full) = (i64::from(hce::phase(board)), i64::from(FULL_PHASE));
    let (scale, whole) = (i64::from(hce::scale(board)), i64::from(FULL_SCALE));
    ((mg * phase * whole + eg * (full - phase) * scale) / (full * whole)).clamp(-30_999, 30_999) as i32
}

proptest! {
    #[test]
    fn a_trace_times_the_weights_is_the_evaluation(seed: u64, plies in 0usize..150, pieces in 0usize..40) {
        let weights = weights(seed % 1000);
        let hce = Hce::new(Arc::new(weights.clone()));
        let position = position(seed, plies);
        for board in [position.board(), &anything(seed, pieces)] {
            for turn in Color::ALL {
                prop_assert_eq!(hce.white(board, turn), from_trace(board, turn, &weights));
            }
        }
    }

    #[test]
    fn colours_are_treated_alike(seed: u64, plies in 0usize..150, pieces in 0usize..40) {
        let hce = Hce::new(Arc::new(weights(seed % 1000)));
        let position = position(seed, plies);
        for board in [position.board().clone(), anything(seed, pieces)] {
            for turn in Color::ALL {
                let mirrored = board.clone().into_mirrored();
                prop_assert_eq!(hce.white(&board, turn), -hce.white(&mirrored, turn.other()));
            }
        }
    }

    #[test]
    fn the_shares_of_the_terms_add_up(seed: u64, plies in 0usize..150) {
        let mut hce = Hce::new(Arc::new(weights(seed % 1000)));
        let position = position(seed, plies);
        let shares = hce.breakdown(&position);
        let [mg, eg] = [0, 1].map(|half| shares.iter().map(|s| s.white[half] - s.black[half]).sum());
        let board = position.board();
        let white = hce::taper(mg, eg, hce::phase(board), hce::scale(board)).clamp(-30_999, 30_999);
        prop_assert_eq!(hce.evaluate(&position, 0), position.turn().fold_wb(white, -white));
    }

    #[test]
    fn weights_survive_their_file(seed in 0u64..100_000) {
        let weights = weights(seed);
        prop_assert_eq!(Weights::parse(&weights.to_toml()).unwrap(), weights);
    }
}
