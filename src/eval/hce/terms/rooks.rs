//! Rooks: open and semi-open files, the seventh rank.

use shakmaty::{Bitboard, Color, Rank, Role};

use crate::eval::hce::context::{Context, above, below, relative};
use crate::eval::hce::layout::{self, Part, Term};
use crate::eval::hce::sink::Sink;

/// Rooks.
pub const TERM: Term = Term {
    name: "rooks",
    about: "rooks on files and on the seventh rank",
    parts: &[
        Part::single("open_file", "a rook on a file without pawns"),
        Part::single("semi_open_file", "a rook on a file without own pawns, but with enemy pawns"),
        Part::single("seventh", "a rook on its seventh rank"),
        Part::single("behind_passed", "a rook below an own pawn that is alone on its file, on the same file"),
    ],
};

const OPEN: usize = layout::at("rooks", "open_file");
const SEMI_OPEN: usize = layout::at("rooks", "semi_open_file");
const SEVENTH: usize = layout::at("rooks", "seventh");
const BEHIND: usize = layout::at("rooks", "behind_passed");

#[inline(always)]
pub fn count<S: Sink>(c: &Context<'_>, us: Color, sink: &mut S) {
    let rooks = relative(us, c.pieces(us, Role::Rook));
    let ours = relative(us, c.pieces(us, Role::Pawn));
    let theirs = relative(us, c.pieces(us.other(), Role::Pawn));
    let files = |pawns: Bitboard| pawns | above(pawns) | below(pawns);
    let (own_files, enemy_files) = (files(ours), files(theirs));
    sink.add(us, OPEN, rooks.without(own_files | enemy_files).count() as i32);
    sink.add(us, SEMI_OPEN, (rooks & enemy_files).without(own_files).count() as i32);
    sink.add(us, SEVENTH, (rooks & Bitboard::from_rank(Rank::Seventh)).count() as i32);
    sink.add(us, BEHIND, (rooks & below(ours)).without(enemy_files).count() as i32);
}
