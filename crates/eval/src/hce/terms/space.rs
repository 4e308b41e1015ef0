//! Space: room behind the own pawns, restricted squares, and control of the centre.
//! Sources: Stockfish's space and restricted pieces, Ethereal's space.

use shakmaty::{Bitboard, Color, Role};

use crate::hce::context::Context;
use crate::hce::squares::{below, relative};
use crate::hce::sink::Sink;

term! {
    "space", "room and control of squares";
    ROOM = list("room", 24,
        "safe squares on files c to f of the own ranks 2 to 4, those behind pawns twice, 0 to 23");
    RESTRICTED = single("restricted", "a square both sides attack where the enemy's defence is not strong");
    CENTRE = single("centre", "a square of the sixteen in the centre that we alone attack, or more often");
    STOPPED = single("stopped", "an own pawn whose next square is occupied");
}

#[inline(always)]
pub fn pieces<S: Sink>(c: &Context<'_>, us: Color, sink: &mut S) {
    const HOME: Bitboard = Bitboard(0x0000_0000_3c3c_3c00);
    const MIDDLE: Bitboard = Bitboard(0x0000_3c3c_3c3c_0000);
    let them = us.other();
    let (mine, yours) = (c.attacked[us], c.attacked[them]);
    let (mine_twice, yours_twice) = (c.twice[us], c.twice[them]);
    let enemy_pawns = c.by_role[them].pawn;
    let pawns = c.pieces(us, Role::Pawn);

    let room = HOME.without(relative(us, pawns | enemy_pawns));
    let behind = room & below(relative(us, pawns)) & !relative(us, yours);
    sink.add(us, ROOM + (room.count() + behind.count()).min(23), 1);

    let strong = enemy_pawns | (yours_twice & !mine_twice);
    sink.add(us, RESTRICTED, (mine & yours & !strong).count() as i32);
    let control = ((mine_twice & !yours_twice) | (mine & !yours)) & !enemy_pawns;
    sink.add(us, CENTRE, (control & MIDDLE).count() as i32);

    let next = pawns.shift(us.fold_wb(8, -8));
    sink.add(us, STOPPED, (next & c.board.occupied()).count() as i32);
}
