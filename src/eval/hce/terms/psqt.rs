//! Piece-square tables: what a piece gains by standing where it stands.
//!
//! Squares are seen from the piece's own side, so one table serves both colours.

use shakmaty::{Color, Role};

use crate::eval::hce::context::{Context, Visit, relative, relative_square};
use crate::eval::hce::layout::{self, Part, Term};
use crate::eval::hce::sink::Sink;

/// Piece-square tables.
pub const TERM: Term = Term {
    name: "psqt",
    about: "piece-square tables, added to material",
    parts: &[
        Part::board("pawn", "a pawn by square"),
        Part::board("knight", "a knight by square"),
        Part::board("bishop", "a bishop by square"),
        Part::board("rook", "a rook by square"),
        Part::board("queen", "a queen by square"),
        Part::board("king", "the king by square"),
    ],
};

const PAWN: usize = layout::at("psqt", "pawn");
const KING: usize = layout::at("psqt", "king");

/// The table of a knight, bishop, rook or queen; the tables lie in the order of the roles.
#[inline(always)]
fn table(role: Role) -> usize {
    PAWN + (role as usize - Role::Pawn as usize) * 64
}

#[inline(always)]
pub fn visit<S: Sink>(us: Color, piece: Visit, sink: &mut S) {
    sink.add(us, table(piece.role) + piece.relative as usize, 1);
}

#[inline(always)]
pub fn count<S: Sink>(c: &Context<'_>, us: Color, sink: &mut S) {
    for square in relative(us, c.pieces(us, Role::Pawn)) {
        sink.add(us, PAWN + square as usize, 1);
    }
    if let Some(king) = c.kings[us] {
        sink.add(us, KING + relative_square(us, king) as usize, 1);
    }
}
