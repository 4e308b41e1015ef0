//! King shelter: the own pawns before the king, the enemy pawns that come at it, and open files.

use shakmaty::{Bitboard, Color, File, Role};

use crate::eval::hce::context::{Context, above, relative, relative_square};
use crate::eval::hce::layout::{self, Part, Term};
use crate::eval::hce::sink::Sink;

/// King shelter.
pub const TERM: Term = Term {
    name: "king",
    about: "pawns and files around the king; for its own file and the two beside it",
    parts: &[
        Part::grid(
            "shelter",
            4,
            8,
            "rows: file a/h, b/g, c/f, d/e; columns: ranks from the king up to the nearest own pawn, 7 = none",
        ),
        Part::grid(
            "storm",
            4,
            8,
            "rows: file a/h, b/g, c/f, d/e; columns: ranks from the king up to the nearest enemy pawn, 7 = none",
        ),
        Part::single("open_file", "the king's file has no pawn"),
        Part::single("semi_open_file", "the king's file has enemy pawns only"),
    ],
};

const SHELTER: usize = layout::at("king", "shelter");
const STORM: usize = layout::at("king", "storm");
const OPEN: usize = layout::at("king", "open_file");
const SEMI_OPEN: usize = layout::at("king", "semi_open_file");

#[inline(always)]
pub fn count<S: Sink>(c: &Context<'_>, us: Color, sink: &mut S) {
    let Some(king) = c.kings[us] else { return };
    let king = relative_square(us, king);
    let ours = relative(us, c.pieces(us, Role::Pawn));
    let theirs = relative(us, c.pieces(us.other(), Role::Pawn));
    let rank = Bitboard::from_rank(king.rank());
    let in_front = rank | above(rank);
    let middle = (king.file() as u32).clamp(1, 6);
    for file in middle - 1..=middle + 1 {
        let squares = Bitboard::from_file(File::new(file)) & in_front;
        let row = file.min(7 - file) as usize * 8;
        // Never 7 ranks away: a pawn stands on rank 8 at most on boards that are no chess.
        let steps = |pawns: Bitboard| {
            (pawns & squares).first().map_or(7, |pawn| (pawn.rank() as usize - king.rank() as usize).min(7))
        };
        sink.add(us, SHELTER + row + steps(ours), 1);
        sink.add(us, STORM + row + steps(theirs), 1);
    }
    let file = Bitboard::from_file(king.file());
    if ours.is_disjoint(file) {
        sink.add(us, if theirs.is_disjoint(file) { OPEN } else { SEMI_OPEN }, 1);
    }
}
