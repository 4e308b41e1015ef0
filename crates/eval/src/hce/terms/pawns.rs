//! Pawn structure: isolated, backward, doubled, connected pawns, candidates, islands. A pawn is opposed if an enemy
//! pawn is in front of it on its file. The classes are those of the classical Stockfish and of Ethereal.

use shakmaty::{Bitboard, Color, Role, Square};

use crate::hce::context::Context;
use crate::hce::squares::{above, below, beside, relative};
use crate::hce::pawn_structure::END_RANKS;
use crate::hce::sink::Sink;

term! {
    "pawns", "pawn structure";
    NUMBER = list("number", 9, "number of own pawns, 0 to 8");
    ISLANDS = list("islands", 5, "number of groups of files with own pawns, 0 to 4");
    DOUBLED = grid("doubled", 2, 4,
        "a pawn behind an own pawn; rows: free, opposed; files a/h, b/g, c/f, d/e");
    ISOLATED = grid("isolated", 2, 4,
        "a pawn without own pawns on the files beside it; rows and files likewise");
    BACKWARD = grid("backward", 2, 6,
        "a pawn that none can support and whose next square an enemy pawn attacks; free, opposed; rank 2 to 7");
    CONNECTED = grid("connected", 6, 4,
        "a pawn beside or defended by an own pawn; rank 2 to 7; file a/h to d/e");
    PHALANX = list("phalanx", 6, "a pawn with an own pawn right beside it, by rank 2 to 7");
    DEFENDED = list("defended", 6, "a pawn that an own pawn defends, by rank 2 to 7 (never 2)");
    CANDIDATE = grid("candidate", 2, 6,
        "a pawn with no pawn before it, held from beside; rows: fewer helpers than guards, enough; rank 2 to 7");
}

#[inline(always)]
pub(super) fn file_pair(square: Square) -> usize {
    let file = square.file() as usize;
    file.min(7 - file)
}

#[inline(always)]
pub fn structure<S: Sink>(c: &Context<'_>, us: Color, sink: &mut S) {
    let ours = relative(us, c.pieces(us, Role::Pawn)).without(END_RANKS);
    let theirs = relative(us, c.pieces(us.other(), Role::Pawn)).without(END_RANKS);
    let attacked = relative(us, c.by_role[us.other()].pawn);
    let defended = ours & relative(us, c.by_role[us].pawn);
    let opposed = below(theirs);
    let rank = |square: Square| square.rank() as usize - 1;

    let files = (ours | below(ours)) & Bitboard(0xff);
    let islands = files.without(files.shift(1)).count();
    sink.add(us, NUMBER + ours.count().min(8), 1);
    sink.add(us, ISLANDS + islands, 1);
    let doubled = ours & below(ours);
    let isolated = ours.without(beside(ours | above(ours) | below(ours)));
    for square in doubled | isolated {
        let class = 4 * usize::from(opposed.contains(square)) + file_pair(square);
        sink.add(us, DOUBLED + class, i32::from(doubled.contains(square)));
        sink.add(us, ISOLATED + class, i32::from(isolated.contains(square)));
    }
    // Squares that an own pawn attacks now or after pushes.
    let support = beside(above(ours));
    for stop in (ours.shift(8) & attacked).without(support) {
        let square = Square::new(stop as u32 - 8);
        sink.add(us, BACKWARD + 6 * usize::from(opposed.contains(square)) + rank(square), 1);
    }
    // One loop for all three: the ends of such loops are hard to predict.
    let phalanx = ours & beside(ours);
    for square in phalanx | defended {
        sink.add(us, CONNECTED + 4 * rank(square) + file_pair(square), 1);
        sink.add(us, PHALANX + rank(square), i32::from(phalanx.contains(square)));
        sink.add(us, DEFENDED + rank(square), i32::from(defended.contains(square)));
    }
    let passed = relative(us, c.structure.passed[us]);
    for square in ours.without(opposed | below(ours) | passed) {
        let sides = beside(Bitboard::from_square(square));
        let guards = above(sides) & theirs;
        let helpers = (sides | below(sides)) & ours;
        sink.add(us, CANDIDATE + 6 * usize::from(helpers.count() >= guards.count()) + rank(square), 1);
    }
}
