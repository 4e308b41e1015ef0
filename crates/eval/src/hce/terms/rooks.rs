//! Rooks: open and semi-open files, the seventh rank, batteries, and rooks shut in by their king.

use shakmaty::{Bitboard, Color, Rank, Role};

use super::passed::lone_pawns;
use crate::hce::context::{Context, Visit};
use crate::hce::squares::{below, relative, relative_square};
use crate::hce::sink::Sink;

term! {
    "rooks", "rooks on files and on the seventh rank";
    OPEN = single("open_file", "a rook on a file without pawns");
    SEMI_OPEN = single("semi_open_file", "a rook on a file without own pawns, but with enemy pawns");
    HELD = single("held_file", "such a file where an enemy pawn defends one of its pawns");
    SEVENTH = list("seventh", 3,
        "a rook on its seventh rank; with the enemy king or pawns to attack; a queen so");
    BEHIND = single("behind_passed", "a rook below an own pawn that is alone on its file, on the same file");
    TRAPPED = list("trapped", 4,
        "a rook with 0 to 3 squares on the shorter side of its king on the first rank");
}

#[inline(always)]
pub fn visit<S: Sink>(c: &Context<'_>, us: Color, piece: Visit, sink: &mut S) {
    if piece.role != Role::Rook {
        return;
    }
    let them = us.other();
    let file = Bitboard::from_file(piece.square.file());
    let closed = !file.is_disjoint(c.pieces(us, Role::Pawn));
    let theirs = file & c.pieces(them, Role::Pawn);
    sink.add(us, if theirs.is_empty() { OPEN } else { SEMI_OPEN }, i32::from(!closed));
    sink.add(us, HELD, i32::from(!closed && !theirs.is_disjoint(c.by_role[them].pawn)));
    let squares = (piece.attacks & c.mobility_area[us]).count();
    if squares <= 3
        && let Some(king) = c.kings[us]
        && relative_square(us, king).rank() == Rank::First
        && (king.file() < shakmaty::File::E) == (piece.square.file() < king.file())
    {
        sink.add(us, TRAPPED + squares, 1);
    }
}

#[inline(always)]
pub fn pieces<S: Sink>(c: &Context<'_>, us: Color, sink: &mut S) {
    let rooks = relative(us, c.pieces(us, Role::Rook));
    let queens = relative(us, c.pieces(us, Role::Queen));
    let seventh = Bitboard::from_rank(Rank::Seventh);
    let targets = relative(us, c.board.by_color(us.other()));
    let pawns = targets & relative(us, c.board.pawns()) & seventh;
    let king = targets & relative(us, c.board.kings()) & (seventh | Bitboard::from_rank(Rank::Eighth));
    let worth_it = i32::from((pawns | king).any());
    let on_seventh = (rooks & seventh).count() as i32;
    sink.add(us, SEVENTH, on_seventh);
    sink.add(us, SEVENTH + 1, on_seventh * worth_it);
    sink.add(us, SEVENTH + 2, (queens & seventh).count() as i32 * worth_it);
    sink.add(us, BEHIND, (rooks & below(lone_pawns(c, us))).count() as i32);
}
