//! Pieces near their own king, by distance. Source: Stockfish's king protector, for all pieces here.

use shakmaty::{Color, Role};

use crate::eval::hce::context::{Context, Visit};
use crate::eval::hce::layout::{self, Part, Term};
use crate::eval::hce::sink::Sink;

/// Pieces near their king.
pub const TERM: Term = Term {
    name: "near_king",
    about: "pieces by distance from their own king in king's moves, 0 to 7 (never 0)",
    parts: &[
        Part::list("knight", 8, "a knight"),
        Part::list("bishop", 8, "a bishop"),
        Part::list("rook", 8, "a rook"),
        Part::list("queen", 8, "a queen"),
    ],
};

const START: usize = layout::at("near_king", "knight");

/// One piece.
#[inline(always)]
pub fn visit<S: Sink>(c: &Context<'_>, us: Color, piece: Visit, sink: &mut S) {
    if let Some(king) = c.kings[us] {
        let kind = piece.role as usize - Role::Knight as usize;
        sink.add(us, START + 8 * kind + piece.square.distance(king) as usize, 1);
    }
}
