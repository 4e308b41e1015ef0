//! The terms of the evaluation, one file each.
//!
//! In: a [`Context`](super::context::Context) and a side. Out: counts of weights for that side, put into a
//! [`Sink`](super::sink::Sink). The list below is the only place that names all terms: to add one, write its file
//! and add its name here, with the functions that it has:
//!
//! - `material` depends on the numbers of pieces alone, `structure` on pawns and kings alone; a cache may keep both;
//! - `visit` looks at a single piece, called from the one walk over all pieces;
//! - `pieces` looks at everything once all attacks are known.

use shakmaty::{ByColor, Color, Role};

use super::context::{Context, Visit};
use super::layout::Term;
use super::scale::Counts;
use super::sink::Sink;

macro_rules! terms {
    ($($name:ident: $($function:ident)*;)*) => {
        $(mod $name;)*

        /// All terms, in the order of weight files.
        pub const TERMS: &[&Term] = &[$(&$name::TERM),*];

        /// The terms that depend on numbers of pieces alone, for one side.
        #[inline(always)]
        fn material_of<S: Sink>(counts: &ByColor<Counts>, us: Color, sink: &mut S) {
            $($(call!(material $function, $name, (counts, us, sink));)*)*
        }

        /// The terms that depend on pawns and kings alone, for one side.
        #[inline(always)]
        fn structure_of<S: Sink>(context: &Context<'_>, us: Color, sink: &mut S) {
            $($(call!(structure $function, $name, (context, us, sink));)*)*
        }

        /// The terms about single pieces, for one piece.
        #[inline(always)]
        fn visit<S: Sink>(context: &mut Context<'_>, us: Color, piece: Visit, sink: &mut S) {
            $($(call!(visit $function, $name, (context, us, piece, sink));)*)*
        }

        /// All other terms, for one side.
        #[inline(always)]
        fn pieces_of<S: Sink>(context: &Context<'_>, us: Color, sink: &mut S) {
            $($(call!(pieces $function, $name, (context, us, sink));)*)*
        }
    };
}

/// A call of a term's function if it is of the wanted kind, else nothing.
macro_rules! call {
    (material material, $name:ident, $arguments:tt) => { $name::material $arguments };
    (structure structure, $name:ident, $arguments:tt) => { $name::structure $arguments };
    (visit visit, $name:ident, $arguments:tt) => { $name::visit $arguments };
    (pieces pieces, $name:ident, $arguments:tt) => { $name::pieces $arguments };
    ($wanted:ident $other:ident, $name:ident, $arguments:tt) => {};
}

terms! {
    material: material;
    psqt: structure visit;
    psqt_own:;
    psqt_enemy:;
    imbalance: material;
    mobility: visit;
    pawns: structure;
    passed: structure pieces;
    bishops: visit pieces;
    knights: pieces;
    rooks: visit pieces;
    king: structure pieces;
    king_distance: visit;
    attack: visit pieces;
    threats: pieces;
    pins: pieces;
    space: pieces;
    closed: visit;
    tempo: pieces;
}

pub use psqt::{PLACES, Wings, weights as place_weights};

/// Counts what depends on numbers of pieces alone.
#[inline(always)]
pub fn material<S: Sink>(counts: &ByColor<Counts>, sink: &mut S) {
    material_of(counts, Color::White, sink);
    material_of(counts, Color::Black, sink);
}

/// Counts what depends on pawns and kings alone.
#[inline(always)]
pub fn structure<S: Sink>(context: &Context<'_>, sink: &mut S) {
    structure_of(context, Color::White, sink);
    structure_of(context, Color::Black, sink);
}

/// Visits the pieces of one kind. One visit for all terms that look at single pieces: the ends of such loops are hard
/// to predict, so few are fast. A loop of its own for each kind leaves each term only what concerns that kind.
#[inline(always)]
fn visit_all<S: Sink>(context: &mut Context<'_>, us: Color, role: Role, sink: &mut S) {
    for square in context.pieces(us, role) {
        let attacks = context.reach(us, role, square);
        context.note(us, role, attacks);
        visit(context, us, Visit { role, square, attacks }, sink);
    }
}

/// Visits all pieces of one side that have a term about them.
#[inline(always)]
fn visit_side<S: Sink>(context: &mut Context<'_>, us: Color, sink: &mut S) {
    visit_all(context, us, Role::Knight, sink);
    visit_all(context, us, Role::Bishop, sink);
    visit_all(context, us, Role::Rook, sink);
    visit_all(context, us, Role::Queen, sink);
}

/// Counts everything else. Two calls, not a loop: each is compiled for its colour, and sums stay in registers.
#[inline(always)]
pub fn pieces<S: Sink>(context: &mut Context<'_>, sink: &mut S) {
    visit_side(context, Color::White, sink);
    visit_side(context, Color::Black, sink);
    pieces_of(context, Color::White, sink);
    pieces_of(context, Color::Black, sink);
}
