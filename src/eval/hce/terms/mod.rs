//! The terms of the evaluation, one file each.
//!
//! In: a [`Context`](super::context::Context) and a side. Out: counts of weights for that side, put into a
//! [`Sink`](super::sink::Sink). The list below is the only place that names all terms: to add one, write its file
//! and add its name here. A term that looks at single pieces has a `visit` beside its `count`, called from the one
//! walk over all pieces.

use shakmaty::Color;

use super::context::Context;
use super::layout::Term;
use super::sink::Sink;

macro_rules! terms {
    ($($name:ident),* $(,)?) => {
        $(mod $name;)*

        /// All terms, in the order of weight files.
        pub const TERMS: &[&Term] = &[$(&$name::TERM),*];

        /// Counts every weight of every term for one side.
        #[inline(always)]
        fn count<S: Sink>(context: &Context<'_>, us: Color, sink: &mut S) {
            $($name::count(context, us, sink);)*
        }
    };
}

terms! {
    material,
    psqt,
    mobility,
    pawns,
    passed,
    bishops,
    knights,
    rooks,
    king,
    attack,
    threats,
    tempo,
}

/// Counts every weight of every term for both sides.
#[inline(always)]
pub fn count_all<S: Sink>(mut context: Context<'_>, sink: &mut S) {
    for us in [Color::White, Color::Black] {
        context.walk(us, |context, piece| {
            psqt::visit(us, piece, sink);
            mobility::visit(context, us, piece, sink);
            attack::visit(context, us, piece, sink);
        });
    }
    count(&context, Color::White, sink);
    count(&context, Color::Black, sink);
}
