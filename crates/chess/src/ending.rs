//! Ends of a game by the rules of chess.

use shakmaty::{Color, MoveList, Position};

use super::Line;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Checkmate,
    Stalemate,
    Repetition,
    FiftyMoves,
    InsufficientMaterial,
}

/// Winner and cause if the rules of chess end the game here; repetitions count from the start of the line.
pub fn ending(line: &Line) -> Option<(Option<Color>, Ending)> {
    ending_with(line, &line.position().legal_moves())
}

/// [`ending`] with the legal moves of the position.
pub fn ending_with(line: &Line, legal: &MoveList) -> Option<(Option<Color>, Ending)> {
    let position = line.position();
    if legal.is_empty() {
        return Some(match position.is_check() {
            true => (Some(!position.turn()), Ending::Checkmate),
            false => (None, Ending::Stalemate),
        });
    }
    let draw = if position.is_insufficient_material() {
        Ending::InsufficientMaterial
    } else if position.halfmoves() >= 100 {
        Ending::FiftyMoves
    } else if line.repetitions() >= 2 {
        Ending::Repetition
    } else {
        return None;
    };
    Some((None, draw))
}
