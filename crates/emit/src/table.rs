//! The self-test's positions: random play from positions with castling, promotions and few pieces.

use shakmaty::Position;

use patzer_chess::fen;
use patzer_chess::rng::Rng;
use patzer_eval::Evaluator;
use patzer_eval::nnue::{Network, Nnue};

const STARTS: [&str; 4] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
];
const PLIES: usize = 24;

/// Successive positions of games as FEN, with the network's value in centipawns for the side to move.
pub fn positions(network: &Network) -> Vec<(String, i32)> {
    let mut nnue = Nnue::new(network.clone().into());
    let mut rng = Rng::new(0);
    let mut positions = Vec::new();
    for start in STARTS {
        let Ok(mut position) = fen::position(start, false) else { continue };
        for _ in 0..PLIES {
            let value = nnue.evaluate(&position, 0);
            positions.push((fen::text(&position), value));
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            position.play_unchecked(moves[rng.below(moves.len())]);
        }
    }
    positions
}
