//! Material: what a piece is worth wherever it stands.
//!
//! The mean of a piece-square table says the same, so the two together are determined only up to a constant a
//! piece. That is meant: material can be tuned without tables, and reads as itself in a weight file.

use shakmaty::{Color, Role};

use crate::eval::hce::context::Context;
use crate::eval::hce::layout::{self, Part, Term};
use crate::eval::hce::sink::Sink;

/// Material.
pub const TERM: Term = Term {
    name: "material",
    about: "worth of each piece wherever it stands",
    parts: &[
        Part::single("pawn", "a pawn"),
        Part::single("knight", "a knight"),
        Part::single("bishop", "a bishop"),
        Part::single("rook", "a rook"),
        Part::single("queen", "a queen"),
    ],
};

const PIECES: [(Role, usize); 5] = [
    (Role::Pawn, layout::at("material", "pawn")),
    (Role::Knight, layout::at("material", "knight")),
    (Role::Bishop, layout::at("material", "bishop")),
    (Role::Rook, layout::at("material", "rook")),
    (Role::Queen, layout::at("material", "queen")),
];

#[inline(always)]
pub fn count<S: Sink>(c: &Context<'_>, us: Color, sink: &mut S) {
    for (role, index) in PIECES {
        sink.add(us, index, c.pieces(us, role).count() as i32);
    }
}
