//! Mobility: how many useful squares a piece attacks.
//!
//! A square is useful unless an own pawn or the own king stands there or an enemy pawn attacks it. One weight for
//! each number of squares, so that no shape of the curve is assumed.

use shakmaty::{Color, Role};

use crate::eval::hce::context::Context;
use crate::eval::hce::layout::{self, Part, Term};
use crate::eval::hce::sink::Sink;

/// Mobility.
pub const TERM: Term = Term {
    name: "mobility",
    about: "squares attacked, without own pawns, own king and squares that enemy pawns attack",
    parts: &[
        Part::list("knight", 9, "a knight by number of squares, 0 to 8"),
        Part::list("bishop", 14, "a bishop by number of squares, 0 to 13"),
        Part::list("rook", 15, "a rook by number of squares, 0 to 14"),
        Part::list("queen", 28, "a queen by number of squares, 0 to 27"),
    ],
};

const TABLES: [(Role, usize); 4] = [
    (Role::Knight, layout::at("mobility", "knight")),
    (Role::Bishop, layout::at("mobility", "bishop")),
    (Role::Rook, layout::at("mobility", "rook")),
    (Role::Queen, layout::at("mobility", "queen")),
];

#[inline(always)]
pub fn count<S: Sink>(c: &Context<'_>, us: Color, sink: &mut S) {
    let blocked = c.pieces(us, Role::Pawn) | c.pieces(us, Role::King);
    let useful = !(blocked | c.by_role[us.other()].pawn);
    for (role, table) in TABLES {
        for square in c.pieces(us, role) {
            sink.add(us, table + (c.attacks_from(square) & useful).count(), 1);
        }
    }
}
