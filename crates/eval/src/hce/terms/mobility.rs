//! Mobility: how many useful squares a piece attacks.
//!
//! A square is useful unless an own pawn or the own king stands there or an enemy pawn attacks it. One weight for
//! each number of squares, so that no shape of the curve is assumed. Bishops and queens see through each other on
//! their diagonals, rooks and queens on their files and ranks, as in Ethereal.

use shakmaty::{Color, Role};

use crate::hce::context::{Context, Visit};
use crate::hce::layout::{self, Part, Term};
use crate::hce::sink::Sink;

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

const KNIGHT: usize = layout::at("mobility", "knight");
const BISHOP: usize = layout::at("mobility", "bishop");
const ROOK: usize = layout::at("mobility", "rook");
const QUEEN: usize = layout::at("mobility", "queen");

/// One piece.
#[inline(always)]
pub fn visit<S: Sink>(c: &Context<'_>, us: Color, piece: Visit, sink: &mut S) {
    let table = match piece.role {
        Role::Knight => KNIGHT,
        Role::Bishop => BISHOP,
        Role::Rook => ROOK,
        _ => QUEEN,
    };
    sink.add(us, table + (piece.attacks & c.useful[us]).count(), 1);
}
