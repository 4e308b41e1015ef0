//! Bishops: the pair, and own pawns that stand in a bishop's way.

use shakmaty::{Bitboard, Color, Role};

use super::knights::outposts;
use crate::eval::hce::context::Context;
use crate::eval::hce::layout::{self, Part, Term};
use crate::eval::hce::sink::Sink;

/// Bishops.
pub const TERM: Term = Term {
    name: "bishops",
    about: "bishop pair, bad bishop, outpost",
    parts: &[
        Part::single("pair", "bishops on squares of both colours"),
        Part::single("pawns", "an own pawn on the colour of a bishop, for each bishop"),
        Part::single("outpost", "a bishop on an outpost: defended by a pawn, never to be attacked by one"),
    ],
};

const PAIR: usize = layout::at("bishops", "pair");
const PAWNS: usize = layout::at("bishops", "pawns");
const OUTPOST: usize = layout::at("bishops", "outpost");

#[inline(always)]
pub fn count<S: Sink>(c: &Context<'_>, us: Color, sink: &mut S) {
    let bishops = c.pieces(us, Role::Bishop);
    let pawns = c.pieces(us, Role::Pawn);
    let light = (bishops & Bitboard::LIGHT_SQUARES).count();
    let dark = (bishops & Bitboard::DARK_SQUARES).count();
    sink.add(us, PAIR, i32::from(light > 0 && dark > 0));
    let light_pawns = (pawns & Bitboard::LIGHT_SQUARES).count();
    let dark_pawns = (pawns & Bitboard::DARK_SQUARES).count();
    sink.add(us, PAWNS, (light * light_pawns + dark * dark_pawns) as i32);
    sink.add(us, OUTPOST, (bishops & outposts(c, us)).count() as i32);
}
