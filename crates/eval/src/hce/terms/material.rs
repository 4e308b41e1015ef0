//! Material.
//! Redundant with the mean of a piece-square table, so the two are determined only up to a constant per piece. That is
//! on purpose: material can be tuned without tables, and a weight file shows it.

use shakmaty::{ByColor, Color};

use crate::hce::layout::{self, Part, Term};
use crate::hce::scale::Counts;
use crate::hce::sink::Sink;

pub const TERM: Term = Term {
    name: "material",
    about: "worth of each piece wherever it stands",
    parts: &[
        Part::single("pawn", "a pawn"),
        Part::single("knight", "a knight"),
        Part::single("bishop", "a bishop"),
        Part::single("rook", "a rook"),
        Part::single("queen", "a queen"),
    ],
};

const START: usize = layout::at("material", "pawn");

#[inline(always)]
pub fn material<S: Sink>(counts: &ByColor<Counts>, us: Color, sink: &mut S) {
    for (kind, &count) in counts[us].iter().enumerate() {
        sink.add(us, START + kind, count);
    }
}
