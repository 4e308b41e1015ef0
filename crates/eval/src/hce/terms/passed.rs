//! Passed pawns. Sources: Ethereal for the state of the next square, Stockfish for the king distances, any textbook for
//! the rule of the square.

use shakmaty::{Bitboard, Color, Rank, Role, Square};

use super::pawns::file_pair;
use crate::hce::context::Context;
use crate::hce::squares::{above, beside, relative, relative_square};
use crate::hce::sink::Sink;

term! {
    "passed", "passed pawns";
    RANK = list("rank", 6, "a passed pawn by rank 2 to 7");
    FILE = list("file", 4, "a passed pawn by file a/h, b/g, c/f, d/e");
    PROTECTED = list("protected", 6, "a passed pawn that an own pawn defends, by rank 2 to 7");
    BESIDE = list("beside", 6, "a passed pawn right beside another one, by rank 2 to 7");
    OWN_KING = grid("own_king", 4, 8,
        "rows: rank 4 to 7; columns: moves of the own king to the next square, 0 to 7");
    ENEMY_KING = grid("enemy_king", 4, 8,
        "rows: rank 4 to 7; columns: moves of the enemy king to the next square");
    NEXT = grid("next", 4, 6,
        "by rank 2 to 7; rows: next square occupied and attacked, occupied, attacked, free and safe");
    BLOCKED = list("blocked", 6, "an enemy piece on the next square, by rank 2 to 7");
    FREE_PATH = single("free_path", "the way is safe and nothing stands on it");
    RACE = list("race", 4,
        "the enemy has no pieces: king in the square, out of it; the same with a free way");
}

#[inline(always)]
pub fn structure<S: Sink>(c: &Context<'_>, us: Color, sink: &mut S) {
    let passed = relative(us, c.structure.passed[us]);
    let protected = passed & relative(us, c.by_role[us].pawn);
    let neighbours = passed & beside(passed);
    for square in passed {
        let rank = square.rank() as usize - 1;
        sink.add(us, RANK + rank, 1);
        sink.add(us, FILE + file_pair(square), 1);
        sink.add(us, PROTECTED + rank, i32::from(protected.contains(square)));
        sink.add(us, BESIDE + rank, i32::from(neighbours.contains(square)));
        let Some(next) = square.offset(8) else { continue };
        if rank < 2 {
            continue;
        }
        for (color, part) in [(us, OWN_KING), (us.other(), ENEMY_KING)] {
            if let Some(king) = c.kings[color] {
                let moves = relative_square(us, king).distance(next) as usize;
                sink.add(us, part + (rank - 2) * 8 + moves, 1);
            }
        }
    }
}

#[inline(always)]
pub fn pieces<S: Sink>(c: &Context<'_>, us: Color, sink: &mut S) {
    let passed = c.structure.passed[us];
    if passed.is_empty() {
        return;
    }
    let them = us.other();
    let occupied = relative(us, c.board.occupied());
    let blockers = relative(us, c.board.by_color(them));
    let attacked = relative(us, c.attacked[them]);
    let alone = (c.board.by_color(them) & !c.board.pawns() & !c.board.kings()).is_empty();
    for square in relative(us, passed) {
        let rank = square.rank() as usize - 1;
        let Some(next) = square.offset(8) else { continue };
        let (free, safe) = (!occupied.contains(next), !attacked.contains(next));
        sink.add(us, NEXT + 12 * usize::from(free) + 6 * usize::from(safe) + rank, 1);
        sink.add(us, BLOCKED + rank, i32::from(blockers.contains(next)));
        let path = above(Bitboard::from_square(square));
        let safe_path = path.is_disjoint(attacked);
        let free_path = path.is_disjoint(occupied);
        sink.add(us, FREE_PATH, i32::from(safe_path && free_path));
        if alone && let Some(king) = c.kings[them] {
            let target = Square::from_coords(square.file(), Rank::Eighth);
            let moves = relative_square(us, king).distance(target);
            // A double push from the second rank saves a step.
            let steps = (7 - square.rank() as u32).min(5);
            let outside = moves > steps + u32::from(c.turn == them);
            sink.add(us, RACE + 2 * usize::from(free_path) + usize::from(outside), 1);
        }
    }
}

/// Own pawns without enemy pawns on their file, for rooks behind them.
#[inline(always)]
pub(super) fn lone_pawns(c: &Context<'_>, us: Color) -> Bitboard {
    let theirs = relative(us, c.pieces(us.other(), Role::Pawn));
    let files = theirs | above(theirs) | crate::hce::squares::below(theirs);
    relative(us, c.pieces(us, Role::Pawn)).without(files)
}
