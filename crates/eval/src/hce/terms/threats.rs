//! Threats: pieces attacked by cheaper ones, or not defended enough.
//! The classes are those of the classical Stockfish and of Ethereal.

use shakmaty::{Bitboard, Color, Rank, Role, attacks};

use crate::hce::context::Context;
use crate::hce::squares::{beside, relative};
use crate::hce::sink::Sink;
use patzer_chess::sliders;

term! {
    "threats", "attacks on enemy pieces; weak = not defended by a pawn, and attacked at least as often as defended";
    BY_PAWN = list("by_pawn", 4, "a knight, bishop, rook, queen attacked by a pawn");
    BY_MINOR = list("by_minor", 5,
        "a weak pawn, knight, bishop, or any rook, queen attacked by a knight or bishop");
    BY_ROOK = list("by_rook", 5, "a weak pawn, knight, bishop, rook, or any queen attacked by a rook");
    MINOR_BY_MINOR = single("minor_by_minor", "a knight or bishop attacked by a knight or bishop");
    BY_KING = single("by_king", "a weak piece attacked by the king");
    NEXT_ON_QUEEN = list("next_on_queen", 3,
        "a safe square to attack a queen: for a knight, a slider, a slider that is backed");
    HANGING = single("hanging", "a weak piece or pawn that nothing defends");
    BY_PUSH = single("by_push", "a piece that a safe push of a pawn would attack");
}

#[inline(always)]
pub fn pieces<S: Sink>(c: &Context<'_>, us: Color, sink: &mut S) {
    let them = us.other();
    let ours = &c.by_role[us];
    let theirs = c.board.by_color(them).without(c.board.kings());
    let pieces = theirs.without(c.board.pawns());
    let strong = c.by_role[them].pawn | (c.twice[them] & !c.twice[us]);
    let weak = theirs & c.attacked[us] & !strong;
    let minor = ours.knight | ours.bishop;
    // Positions without any attack are common enough to test for.
    if !theirs.is_disjoint(c.attacked[us]) {
        by_kind(c, us, Role::Pawn, weak, sink);
        by_kind(c, us, Role::Knight, weak, sink);
        by_kind(c, us, Role::Bishop, weak, sink);
        by_kind(c, us, Role::Rook, weak, sink);
        by_kind(c, us, Role::Queen, weak, sink);
        let minors = pieces & (c.board.knights() | c.board.bishops());
        sink.add(us, MINOR_BY_MINOR, (minors & minor).count() as i32);
        sink.add(us, BY_KING, (weak & ours.king).count() as i32);
        sink.add(us, HANGING, (weak & !c.attacked[them]).count() as i32);
    }
    sink.add(us, BY_PUSH, (pieces & push_attacks(c, us)).without(ours.pawn).count() as i32);
    on_queens(c, us, strong, sink);
}

#[inline(always)]
fn by_kind<S: Sink>(c: &Context<'_>, us: Color, role: Role, weak: Bitboard, sink: &mut S) {
    let ours = &c.by_role[us];
    let all = c.pieces(us.other(), role);
    let kind = role as usize - Role::Pawn as usize;
    if role != Role::Pawn {
        sink.add(us, BY_PAWN + kind - 1, (all & ours.pawn).count() as i32);
    }
    let by_minor = if matches!(role, Role::Rook | Role::Queen) { all } else { all & weak };
    sink.add(us, BY_MINOR + kind, (by_minor & (ours.knight | ours.bishop)).count() as i32);
    let by_rook = if role == Role::Queen { all } else { all & weak };
    sink.add(us, BY_ROOK + kind, (by_rook & ours.rook).count() as i32);
}

#[inline(always)]
fn on_queens<S: Sink>(c: &Context<'_>, us: Color, strong: Bitboard, sink: &mut S) {
    let ours = &c.by_role[us];
    let safe = c.mobility_area[us] & !strong;
    for queen in c.pieces(us.other(), Role::Queen) {
        let occupied = c.board.occupied();
        let sliders = (ours.bishop & sliders::diagonal(queen, occupied))
            | (ours.rook & sliders::straight(queen, occupied));
        let knights = ours.knight & attacks::knight_attacks(queen) & safe;
        sink.add(us, NEXT_ON_QUEEN, knights.count() as i32);
        sink.add(us, NEXT_ON_QUEEN + 1, (sliders & safe).count() as i32);
        sink.add(us, NEXT_ON_QUEEN + 2, (sliders & safe & c.twice[us]).count() as i32);
    }
}

/// Squares that pawns would attack after a push to a square where they are not simply lost.
#[inline(always)]
fn push_attacks(c: &Context<'_>, us: Color) -> Bitboard {
    let them = us.other();
    let empty = relative(us, !c.board.occupied());
    let single = relative(us, c.pieces(us, Role::Pawn)).shift(8) & empty;
    let double = (single & Bitboard::from_rank(Rank::Third)).shift(8) & empty;
    let unsafe_squares = c.by_role[them].pawn | (c.attacked[them] & !c.attacked[us]);
    let landed = (single | double).without(relative(us, unsafe_squares));
    relative(us, beside(landed).shift(8))
}
