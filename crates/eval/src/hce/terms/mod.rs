//! The terms of the evaluation, one file each.
//!
//! To add a term, write a file here that declares it with `term!` and counts weights into a [`Sink`], and add its name
//! to the list below with the functions that it has:
//!
//! - `material` depends on the numbers of pieces alone, `structure` on pawns and kings alone; the cache keeps both;
//! - `visit` gets each knight, bishop, rook and queen, in one walk for all terms;
//! - `pieces` runs last, when all attacks are known.

use shakmaty::{ByColor, Color, Role};

use super::context::{Context, Visit};
use super::layout::Term;
use super::scale::Counts;
use super::sink::Sink;

/// Declares `TERM` and, for each part, a constant with its first index: `CONSTANT = shape("part", sizes,
/// "description");`.
macro_rules! term {
    ($name:literal, $about:literal; $($index:ident = $shape:ident($part:literal, $($rest:tt)*);)*) => {
        pub const TERM: $crate::hce::layout::Term = $crate::hce::layout::Term {
            name: $name,
            about: $about,
            parts: &[$($crate::hce::layout::Part::$shape($part, $($rest)*)),*],
        };
        $(const $index: usize = $crate::hce::layout::at($name, $part);)*
    };
}

macro_rules! terms {
    ($($name:ident: $($function:ident)*;)*) => {
        $(mod $name;)*

        /// All terms, in the order of weight files.
        pub const TERMS: &[&Term] = &[$(&$name::TERM),*];

        #[inline(always)]
        fn material_of<S: Sink>(counts: &ByColor<Counts>, us: Color, sink: &mut S) {
            $($(call!(material $function, $name, (counts, us, sink));)*)*
        }

        #[inline(always)]
        fn structure_of<S: Sink>(context: &Context<'_>, us: Color, sink: &mut S) {
            $($(call!(structure $function, $name, (context, us, sink));)*)*
        }

        #[inline(always)]
        fn visit<S: Sink>(context: &mut Context<'_>, us: Color, piece: Visit, sink: &mut S) {
            $($(call!(visit $function, $name, (context, us, piece, sink));)*)*
        }

        #[inline(always)]
        fn pieces_of<S: Sink>(context: &Context<'_>, us: Color, sink: &mut S) {
            $($(call!(pieces $function, $name, (context, us, sink));)*)*
        }
    };
}

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

pub use psqt::{PIECE_SQUARES, Wings, weights as psqt_weights};

#[inline(always)]
pub fn material<S: Sink>(counts: &ByColor<Counts>, sink: &mut S) {
    material_of(counts, Color::White, sink);
    material_of(counts, Color::Black, sink);
}

#[inline(always)]
pub fn structure<S: Sink>(context: &Context<'_>, sink: &mut S) {
    structure_of(context, Color::White, sink);
    structure_of(context, Color::Black, sink);
}

/// Visits the pieces of one role for all terms at once: the ends of such loops are hard to predict, so fewer are
/// faster. One loop per role lets the compiler drop the terms that ignore it.
#[inline(always)]
fn visit_all<S: Sink>(context: &mut Context<'_>, us: Color, role: Role, sink: &mut S) {
    for square in context.pieces(us, role) {
        let attacks = context.reach(us, role, square);
        context.add_attacks(us, role, attacks);
        visit(context, us, Visit { role, square, attacks }, sink);
    }
}

#[inline(always)]
fn visit_side<S: Sink>(context: &mut Context<'_>, us: Color, sink: &mut S) {
    visit_all(context, us, Role::Knight, sink);
    visit_all(context, us, Role::Bishop, sink);
    visit_all(context, us, Role::Rook, sink);
    visit_all(context, us, Role::Queen, sink);
}

/// Runs `visit` and `pieces`. Two calls, not a loop: each is compiled for its colour, and sums stay in registers.
#[inline(always)]
pub fn pieces<S: Sink>(context: &mut Context<'_>, sink: &mut S) {
    visit_side(context, Color::White, sink);
    visit_side(context, Color::Black, sink);
    pieces_of(context, Color::White, sink);
    pieces_of(context, Color::Black, sink);
}
