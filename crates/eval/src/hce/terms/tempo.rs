//! Tempo: a bonus for the side to move.

use shakmaty::Color;

use crate::hce::context::Context;
use crate::hce::layout::{self, Part, Term};
use crate::hce::sink::Sink;

pub const TERM: Term = Term {
    name: "tempo",
    about: "the right to move",
    parts: &[Part::single("turn", "it is this side's move")],
};

const TURN: usize = layout::at("tempo", "turn");

#[inline(always)]
pub fn pieces<S: Sink>(c: &Context<'_>, us: Color, sink: &mut S) {
    sink.add(us, TURN, i32::from(c.turn == us));
}
