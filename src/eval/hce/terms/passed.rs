//! Passed pawns: no enemy pawn can stop them any more, on their file or from beside.

use shakmaty::{Color, Role};

use super::pawns::END_RANKS;
use crate::eval::hce::context::{Context, below, beside, relative, relative_square};
use crate::eval::hce::layout::{self, Part, Term};
use crate::eval::hce::sink::Sink;

/// Passed pawns.
pub const TERM: Term = Term {
    name: "passed",
    about: "passed pawns",
    parts: &[
        Part::list("rank", 6, "a passed pawn by rank 2 to 7"),
        Part::list("blocked", 6, "a passed pawn with an enemy piece on its next square, by rank 2 to 7"),
        Part::list("safe", 6, "a passed pawn whose next square the enemy does not attack, by rank 2 to 7"),
        Part::grid("own_king", 4, 8, "rows: rank 4 to 7; columns: moves of the own king to the next square, 0 to 7"),
        Part::grid("enemy_king", 4, 8, "rows: rank 4 to 7; columns: moves of the enemy king to the next square"),
    ],
};

const RANK: usize = layout::at("passed", "rank");
const BLOCKED: usize = layout::at("passed", "blocked");
const SAFE: usize = layout::at("passed", "safe");
const OWN_KING: usize = layout::at("passed", "own_king");
const ENEMY_KING: usize = layout::at("passed", "enemy_king");

#[inline(always)]
pub fn count<S: Sink>(c: &Context<'_>, us: Color, sink: &mut S) {
    let them = us.other();
    let ours = relative(us, c.pieces(us, Role::Pawn)).without(END_RANKS);
    let theirs = relative(us, c.pieces(them, Role::Pawn));
    let guarded = below(theirs | beside(theirs));
    let blockers = relative(us, c.board.by_color(them));
    let attacked = relative(us, c.attacked[them]);
    for square in ours.without(guarded | below(ours)) {
        let rank = square.rank() as usize - 1;
        let Some(next) = square.offset(8) else { continue };
        sink.add(us, RANK + rank, 1);
        sink.add(us, BLOCKED + rank, i32::from(blockers.contains(next)));
        sink.add(us, SAFE + rank, i32::from(!attacked.contains(next)));
        if rank < 2 {
            continue;
        }
        let row = (rank - 2) * 8;
        if let Some(king) = c.kings[us] {
            sink.add(us, OWN_KING + row + relative_square(us, king).distance(next) as usize, 1);
        }
        if let Some(king) = c.kings[them] {
            sink.add(us, ENEMY_KING + row + relative_square(us, king).distance(next) as usize, 1);
        }
    }
}
