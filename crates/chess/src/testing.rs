use shakmaty::uci::UciMove;
use shakmaty::{Chess, Move, Position};

use crate::rng::Rng;
use crate::{Line, fen};

/// The perft position of Peter McKenzie, full of captures, checks, castling and promotions.
pub const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

pub fn from_fen(text: &str) -> Chess {
    fen::position(text, false).expect("a legal position")
}

/// A game line from UCI moves.
pub fn line(start: &str, moves: &str) -> Line {
    let mut line = Line::new(from_fen(start));
    for text in moves.split_whitespace() {
        line.play(text.parse::<UciMove>().unwrap().to_move(line.position()).unwrap());
    }
    line
}

pub fn sorted(moves: impl IntoIterator<Item = Move>) -> Vec<String> {
    let mut texts: Vec<String> = moves.into_iter().map(|m| format!("{m:?}")).collect();
    texts.sort();
    texts
}

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
