//! Attack on the king: pieces that bear on the squares around the enemy king, and checks that they could give.
//!
//! Counts are for the attacker. The number of attacking pieces has one weight a number, which lets danger grow
//! faster than linearly while the evaluation stays linear in its weights.

use shakmaty::{Color, Role, attacks};

use crate::eval::hce::context::{Context, Visit};
use crate::eval::hce::layout::{self, Part, Term};
use crate::eval::hce::sink::Sink;

/// Attack on the king.
pub const TERM: Term = Term {
    name: "attack",
    about: "attack on the enemy king; its zone is its square and those around it",
    parts: &[
        Part::list("zone", 4, "an attack on a square of the zone by a knight, bishop, rook, queen"),
        Part::list("attackers", 8, "number of knights, bishops, rooks and queens that attack the zone, 0 to 7"),
        Part::list("safe_check", 4, "a square for a safe check by a knight, bishop, rook, queen"),
        Part::single("weak_zone", "a square of the zone that we attack and only their king or queen defends"),
    ],
};

const ZONE: usize = layout::at("attack", "zone");
const ATTACKERS: usize = layout::at("attack", "attackers");
const SAFE_CHECK: usize = layout::at("attack", "safe_check");
const WEAK_ZONE: usize = layout::at("attack", "weak_zone");

#[inline(always)]
pub fn visit<S: Sink>(c: &mut Context<'_>, us: Color, piece: Visit, sink: &mut S) {
    let hits = (piece.attacks & c.zone[us.other()]).count();
    sink.add(us, ZONE + piece.role as usize - Role::Knight as usize, hits as i32);
    c.attackers[us] += usize::from(hits > 0);
}

#[inline(always)]
pub fn count<S: Sink>(c: &Context<'_>, us: Color, sink: &mut S) {
    let them = us.other();
    let Some(king) = c.kings[them] else { return };
    sink.add(us, ATTACKERS + c.attackers[us].min(7), 1);

    let zone = c.zone[them];
    let theirs = &c.by_role[them];
    let solid = theirs.pawn | theirs.knight | theirs.bishop | theirs.rook | c.twice[them];
    sink.add(us, WEAK_ZONE, (zone & c.attacked[us] & !solid).count() as i32);

    let ours = &c.by_role[us];
    let occupied = c.board.occupied();
    let diagonal = attacks::bishop_attacks(king, occupied);
    let straight = attacks::rook_attacks(king, occupied);
    // A check is safe where nothing of theirs stands guard, or only the king or queen against two of ours.
    let safe = !c.board.by_color(us) & (!c.attacked[them] | (c.twice[us] & !solid));
    sink.add(us, SAFE_CHECK, (attacks::knight_attacks(king) & ours.knight & safe).count() as i32);
    sink.add(us, SAFE_CHECK + 1, (diagonal & ours.bishop & safe).count() as i32);
    sink.add(us, SAFE_CHECK + 2, (straight & ours.rook & safe).count() as i32);
    sink.add(us, SAFE_CHECK + 3, ((diagonal | straight) & ours.queen & safe).count() as i32);
}
