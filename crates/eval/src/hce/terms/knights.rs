//! Knights, and outposts and pawn cover, which they share with bishops.

use shakmaty::{Bitboard, Color, Role};

use crate::hce::context::Context;
use crate::hce::squares::{below, beside, relative};
use crate::hce::sink::Sink;

term! {
    "knights", "outposts of knights, and minor pieces behind pawns";
    OUTPOST = list("outpost", 4,
        "on a square that no pawn can attack: at the edge, defended there; inside, defended");
    REACH = list("reach", 2, "a knight, a bishop attacks a defended square that no enemy pawn can attack");
    BEHIND_PAWN = single("behind_pawn", "a knight or bishop right behind a pawn of either side");
}

#[inline(always)]
pub fn pieces<S: Sink>(c: &Context<'_>, us: Color, sink: &mut S) {
    let knights = c.pieces(us, Role::Knight);
    let squares = safe_squares(c, us);
    outposts(c, us, relative(us, knights) & squares, OUTPOST, sink);
    let own = &c.by_role[us];
    let goals = relative(us, squares) & own.pawn & !c.board.by_color(us);
    sink.add(us, REACH, i32::from(!own.knight.is_disjoint(goals)));
    sink.add(us, REACH + 1, i32::from(!own.bishop.is_disjoint(goals)));
    let minors = relative(us, knights | c.pieces(us, Role::Bishop));
    let pawns = relative(us, c.board.pawns());
    sink.add(us, BEHIND_PAWN, (minors & pawns.shift(-8)).count() as i32);
}

/// Relative squares on ranks 4 to 6 that no enemy pawn can ever attack.
#[inline(always)]
pub(super) fn safe_squares(c: &Context<'_>, us: Color) -> Bitboard {
    const RANKS: Bitboard = Bitboard(0x0000_ffff_ff00_0000);
    let theirs = relative(us, c.pieces(us.other(), Role::Pawn));
    RANKS.without(beside(below(theirs)))
}

#[inline(always)]
pub(super) fn outposts<S: Sink>(c: &Context<'_>, us: Color, pieces: Bitboard, part: usize, sink: &mut S) {
    const INSIDE: Bitboard = Bitboard(0x7e7e_7e7e_7e7e_7e7e);
    let defended = relative(us, c.by_role[us].pawn);
    for square in pieces {
        let (inside, defended) = (INSIDE.contains(square), defended.contains(square));
        sink.add(us, part + 2 * usize::from(inside) + usize::from(defended), 1);
    }
}
