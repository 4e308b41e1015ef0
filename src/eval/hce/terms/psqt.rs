//! Piece-square tables: what a piece gains by standing where it stands.
//!
//! Squares are seen from the piece's own side, so one table serves both colours.

use shakmaty::{Color, Role};

use crate::eval::hce::context::{Context, relative};
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

const TABLES: [(Role, usize); 6] = [
    (Role::Pawn, layout::at("psqt", "pawn")),
    (Role::Knight, layout::at("psqt", "knight")),
    (Role::Bishop, layout::at("psqt", "bishop")),
    (Role::Rook, layout::at("psqt", "rook")),
    (Role::Queen, layout::at("psqt", "queen")),
    (Role::King, layout::at("psqt", "king")),
];

#[inline(always)]
pub fn count<S: Sink>(c: &Context<'_>, us: Color, sink: &mut S) {
    for (role, table) in TABLES {
        for square in relative(us, c.pieces(us, role)) {
            sink.add(us, table + square as usize, 1);
        }
    }
}
