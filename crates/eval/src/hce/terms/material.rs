//! Material: what a piece is worth wherever it stands.
//!
//! The mean of a piece-square table says the same, so the two together are determined only up to a constant a
//! piece. That is meant: material can be tuned without tables, and reads as itself in a weight file.

use shakmaty::{ByColor, Color};

use crate::hce::layout::{self, Part, Term};
use crate::hce::scale::Counts;
use crate::hce::sink::Sink;

/// Material.
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

/// Numbers of pieces alone.
#[inline(always)]
pub fn material<S: Sink>(counts: &ByColor<Counts>, us: Color, sink: &mut S) {
    for (kind, &count) in counts[us].iter().enumerate() {
        sink.add(us, START + kind, count);
    }
}
