//! Mobility: attacked squares without own pawns, the own king and squares that enemy pawns attack. One weight per
//! number of squares, so that no shape of the curve is assumed. Bishops and queens see through each other on
//! diagonals, rooks and queens on files and ranks, as in Ethereal.

use shakmaty::{Color, Role};

use crate::hce::context::{Context, Visit};
use crate::hce::sink::Sink;

term! {
    "mobility", "squares attacked, without own pawns, own king and squares that enemy pawns attack";
    KNIGHT = list("knight", 9, "a knight by number of squares, 0 to 8");
    BISHOP = list("bishop", 14, "a bishop by number of squares, 0 to 13");
    ROOK = list("rook", 15, "a rook by number of squares, 0 to 14");
    QUEEN = list("queen", 28, "a queen by number of squares, 0 to 27");
}

#[inline(always)]
pub fn visit<S: Sink>(c: &Context<'_>, us: Color, piece: Visit, sink: &mut S) {
    let table = match piece.role {
        Role::Knight => KNIGHT,
        Role::Bishop => BISHOP,
        Role::Rook => ROOK,
        _ => QUEEN,
    };
    sink.add(us, table + (piece.attacks & c.mobility_area[us]).count(), 1);
}
