//! Raw weights whose layout is not known: what their size, padding and first bytes say.

use std::sync::Arc;

use patzer_chess::random_positions;
use shakmaty::{Color, Position, Role};

use super::{LAYOUTS, NamedLayout};
use crate::evaluator::BoardEvaluator;
use crate::nnue::architecture::Architecture;
use crate::nnue::{Network, Nnue, halfmoves};

/// Formats of other programs that a size alone would take for weights.
pub fn foreign_format(bytes: &[u8]) -> Option<&'static str> {
    bytes.starts_with(b"BINP").then_some("a binpack of positions, not a network")
}

/// Tests whether the layouts `patzer`, `bullet` and `bullet-columns` have the numbers of an architecture in another
/// order.
pub fn layouts_differ(shape: &Architecture) -> bool {
    !shape.wdl_head && (!shape.layers.is_empty() || shape.output_buckets > 1)
}

/// Names of the layouts whose own architecture has files of this size and padding.
pub fn layouts_of_size(bytes: &[u8]) -> Vec<&'static str> {
    let fits = |named: &&NamedLayout| named.layout.hidden(&named.architecture, bytes).is_some();
    LAYOUTS.iter().filter(fits).map(|named| &named.name[..]).collect()
}

/// Mean values of a queen and a rook in centipawns: how far an evaluation falls for its side without one, in positions
/// of random games. Weights in a wrong order hardly know pieces.
pub fn piece_values(network: &Network) -> [f64; 2] {
    let mut nnue = Nnue::new(Arc::new(network.clone()));
    let positions = random_positions(200, 0);
    [Role::Queen, Role::Rook].map(|role| {
        let (mut sum, mut count) = (0.0, 0u32);
        for position in &positions {
            for side in Color::ALL {
                let mut board = position.board().clone();
                let Some(square) = (board.by_color(side) & board.by_role(role)).first() else { continue };
                let before = nnue.evaluate_board(&board, halfmoves(position), side, 0);
                board.discard_piece_at(square);
                let after = nnue.evaluate_board(&board, halfmoves(position), side, 0);
                (sum, count) = (sum + f64::from(before - after), count + 1);
            }
        }
        sum / f64::from(count.max(1))
    })
}
