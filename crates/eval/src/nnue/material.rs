//! A network that counts material, in centipawns to within 1 %: a sound start, and something to beat.
//! A squared clipped ReLU is not linear, but the difference of two is. With c = 1/2 and x the balance of one
//! kind of piece, (c + x)² − (c − x)² = 4·c·x, exactly, as long as |x| ≤ c. So each kind of piece has a pair of
//! neurons that see own pieces as ±u and the opponent's as ∓u, with output weights +w and −w. Both perspectives
//! see the same balance with opposite signs, which doubles it. u is chosen so that the balance of that kind
//! rarely leaves the linear range: 10 pawns, 4 knights, 4 bishops, 3 rooks, 3 queens.

use super::architecture::Architecture;
use super::features::all::COUNT;
use super::network::{About, Network, Weights};

/// A pair of neurons: the role's index (pawn 0 to king 5), u in 1/QA, w in 1/QB. With c = 127/255 a piece is
/// worth 2 · 4 · 127 · u · w · 400 / (255² · 64) centipawns.
const PAIRS: [(usize, i16, i16); 6] = [
    (0, 12, 85),  // pawn 100
    (1, 30, 109), // knight 319
    (2, 30, 113), // bishop 331
    (3, 42, 122), // rook 500
    (4, 42, 110), // queen 898, as the sum of two pairs, because one weight would be too large
    (4, 42, 109),
];

pub const MIN_HIDDEN: usize = 2 * PAIRS.len();

/// The bias of a pair: the middle of the activation's range.
const CENTRE: i16 = 127;

/// Builds the network; neurons beyond [`MIN_HIDDEN`] have no weights. `None` if `hidden` is below that or too large.
pub fn network(hidden: usize) -> Option<Network> {
    if hidden < MIN_HIDDEN {
        return None;
    }
    let (mut features, mut bias, mut output) =
        (vec![0; COUNT * hidden], vec![0; hidden], vec![0; 2 * hidden]);
    for (pair, (role, unit, weight)) in PAIRS.into_iter().enumerate() {
        for (neuron, sign) in [(2 * pair, 1), (2 * pair + 1, -1)] {
            for square in 0..64 {
                features[(64 * role + square) * hidden + neuron] = sign * unit;
                features[(384 + 64 * role + square) * hidden + neuron] = -sign * unit;
            }
            bias[neuron] = CENTRE;
            output[neuron] = sign * weight;
            output[hidden + neuron] = -sign * weight;
        }
    }
    let description = "material only: pawn 100, knight 320, bishop 330, rook 500, queen 900".to_string();
    let weights = Weights::plain(features, bias, output, 0);
    Network::new(Architecture::plain(hidden), &weights, About { description, training: String::new() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Evaluator, nnue::Nnue};

    #[test]
    fn material_is_worth_its_centipawns() {
        let mut nnue = Nnue::new(network(16).unwrap().into());
        for (fen, expected) in [
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 0),
            ("rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 900),
            ("rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1", -900),
            ("4k3/8/8/8/8/8/P7/4K3 w - - 0 1", 100),
            ("4k3/8/8/8/8/8/PPPPPPPP/4K3 w - - 0 1", 800),
            ("4k3/8/8/8/8/8/8/1NB1K2R b - - 0 1", -1150),
            ("4k2r/8/8/8/8/8/8/QQ2K3 w - - 0 1", 1300),
        ] {
            let score = nnue.evaluate(&patzer_chess::fen::position(fen, false).unwrap(), 0);
            assert!((score - expected).abs() <= 1 + expected.abs() / 100, "{fen}: {score}");
        }
    }
}
