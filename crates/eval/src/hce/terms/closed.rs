//! Closed positions: knights like them, rooks do not. Source: Ethereal's closedness.

use shakmaty::{Color, Role};

use crate::hce::context::{Context, Visit};
use crate::hce::layout::{self, Part, Term};
use crate::hce::sink::Sink;

pub const TERM: Term = Term {
    name: "closed",
    about: "pieces by how closed the position is, 0 to 8: many pawns, many rammed, few open files",
    parts: &[
        Part::list("knight", 9, "a knight"),
        Part::list("bishop", 9, "a bishop"),
        Part::list("rook", 9, "a rook"),
        Part::list("queen", 9, "a queen"),
    ],
};

const START: usize = layout::at("closed", "knight");

#[inline(always)]
pub fn visit<S: Sink>(c: &Context<'_>, us: Color, piece: Visit, sink: &mut S) {
    let kind = piece.role as usize - Role::Knight as usize;
    sink.add(us, START + 9 * kind + usize::from(c.structure.closed), 1);
}
