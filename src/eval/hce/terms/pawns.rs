//! Pawn structure: doubled, isolated, backward, phalanx and defended pawns.

use shakmaty::{Bitboard, Color, Rank, Role};

use crate::eval::hce::context::{Context, above, below, beside, relative};
use crate::eval::hce::layout::{self, Part, Term};
use crate::eval::hce::sink::Sink;

/// Pawn structure.
pub const TERM: Term = Term {
    name: "pawns",
    about: "pawn structure",
    parts: &[
        Part::single("doubled", "a pawn with an own pawn in front of it on its file"),
        Part::list("isolated", 4, "a pawn without own pawns on the files beside it, by file: a/h, b/g, c/f, d/e"),
        Part::single("backward", "a pawn that none can support and whose next square an enemy pawn attacks"),
        Part::list("phalanx", 6, "a pawn with an own pawn right beside it, by rank 2 to 7"),
        Part::list("defended", 6, "a pawn that an own pawn defends, by rank 2 to 7 (never 2)"),
    ],
};

const DOUBLED: usize = layout::at("pawns", "doubled");
const ISOLATED: usize = layout::at("pawns", "isolated");
const BACKWARD: usize = layout::at("pawns", "backward");
const PHALANX: usize = layout::at("pawns", "phalanx");
const DEFENDED: usize = layout::at("pawns", "defended");

#[inline(always)]
pub fn count<S: Sink>(c: &Context<'_>, us: Color, sink: &mut S) {
    let ours = relative(us, c.pieces(us, Role::Pawn)).without(END_RANKS);
    let attacked = relative(us, c.by_role[us.other()].pawn);
    let files = ours | above(ours) | below(ours);

    sink.add(us, DOUBLED, (ours & below(ours)).count() as i32);
    let isolated = ours.without(beside(files));
    for (file, squares) in FILE_PAIRS.into_iter().enumerate() {
        sink.add(us, ISOLATED + file, (isolated & squares).count() as i32);
    }
    // Squares that an own pawn attacks or could come to attack.
    let support = beside(above(ours));
    let stops = ours.shift(8) & attacked;
    sink.add(us, BACKWARD, stops.without(support).count() as i32);
    // A count for each rank is faster than a walk over pawns whose end nobody can predict.
    let (phalanx, defended) = (ours & beside(ours), ours & relative(us, c.by_role[us].pawn));
    for rank in 0..6 {
        let squares = Bitboard::from_rank(Rank::new(rank + 1));
        sink.add(us, PHALANX + rank as usize, (phalanx & squares).count() as i32);
        sink.add(us, DEFENDED + rank as usize, (defended & squares).count() as i32);
    }
}

/// Files a and h, b and g, c and f, d and e.
const FILE_PAIRS: [Bitboard; 4] = [
    Bitboard(0x8181_8181_8181_8181),
    Bitboard(0x4242_4242_4242_4242),
    Bitboard(0x2424_2424_2424_2424),
    Bitboard(0x1818_1818_1818_1818),
];

/// No legal pawn stands there; a board from elsewhere must not lead out of a table.
pub(super) const END_RANKS: Bitboard = Bitboard(0xff00_0000_0000_00ff);
