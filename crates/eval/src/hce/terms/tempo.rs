//! Tempo: a bonus for the side to move.

use shakmaty::Color;

use crate::hce::context::Context;
use crate::hce::sink::Sink;

term! {
    "tempo", "the right to move";
    TURN = single("turn", "it is this side's move");
}

#[inline(always)]
pub fn pieces<S: Sink>(c: &Context<'_>, us: Color, sink: &mut S) {
    sink.add(us, TURN, i32::from(c.turn == us));
}
