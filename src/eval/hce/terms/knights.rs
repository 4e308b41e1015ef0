//! Knights: outposts.

use shakmaty::{Bitboard, Color, Role};

use crate::eval::hce::context::{Context, below, beside, relative};
use crate::eval::hce::layout::{self, Part, Term};
use crate::eval::hce::sink::Sink;

/// Knights.
pub const TERM: Term = Term {
    name: "knights",
    about: "outposts of knights",
    parts: &[
        Part::single("outpost", "a knight on an outpost: defended by a pawn, never to be attacked by one"),
        Part::single("behind_pawn", "a knight or bishop right behind a pawn of either side"),
    ],
};

const OUTPOST: usize = layout::at("knights", "outpost");
const BEHIND_PAWN: usize = layout::at("knights", "behind_pawn");

#[inline(always)]
pub fn count<S: Sink>(c: &Context<'_>, us: Color, sink: &mut S) {
    let knights = c.pieces(us, Role::Knight);
    sink.add(us, OUTPOST, (knights & outposts(c, us)).count() as i32);
    let minors = relative(us, knights | c.pieces(us, Role::Bishop));
    let pawns = relative(us, c.board.pawns());
    sink.add(us, BEHIND_PAWN, (minors & pawns.shift(-8)).count() as i32);
}

/// Squares on ranks 4 to 6 that an own pawn defends and that no enemy pawn can come to attack.
#[inline(always)]
pub(super) fn outposts(c: &Context<'_>, us: Color) -> Bitboard {
    const RANKS: Bitboard = Bitboard(0x0000_ffff_ff00_0000);
    let theirs = relative(us, c.pieces(us.other(), Role::Pawn));
    let defended = relative(us, c.by_role[us].pawn);
    relative(us, (defended & RANKS).without(beside(below(theirs))))
}
