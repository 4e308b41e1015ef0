//! King attack: attacks on the enemy king's zone, and possible checks. Counts are for the attacker. Danger grows
//! faster than linearly: besides single counts there is one weight for each number of attackers, and one for each
//! degree of a king danger index in the manner of Stockfish and Ethereal. The evaluation stays linear in its weights.

use shakmaty::{Bitboard, Color, Role, attacks};

use crate::hce::context::{Context, Visit};
use crate::hce::squares::relative;
use crate::hce::sink::Sink;
use patzer_chess::sliders;

term! {
    "attack", "attack on the enemy king; its zone is its square and those around it";
    ZONE = list("zone", 4, "an attack on a square of the zone by a knight, bishop, rook, queen");
    ATTACKERS = grid("attackers", 2, 8,
        "rows: with, without own queen; columns: number of attackers, 0 to 7");
    SAFE_CHECK = list("safe_check", 4, "a square for a safe check by a knight, bishop, rook, queen");
    UNSAFE_CHECK = list("unsafe_check", 4, "there is another check by a knight, bishop, rook, queen");
    DANGER = list("danger", 32,
        "index of danger: kinds of attackers, checks, weak squares, own queen, their pawns");
    FLANK = list("flank", 16, "attacks on the king's wing, twice attacked squares twice, by pairs");
}

#[inline(always)]
pub fn visit<S: Sink>(c: &mut Context<'_>, us: Color, piece: Visit, sink: &mut S) {
    let hits = (piece.attacks & c.zone[us.other()]).count();
    sink.add(us, ZONE + piece.role as usize - Role::Knight as usize, hits as i32);
    c.attackers[us] += usize::from(hits > 0);
}

#[inline(always)]
pub fn pieces<S: Sink>(c: &Context<'_>, us: Color, sink: &mut S) {
    let them = us.other();
    let Some(king) = c.kings[them] else { return };
    let queens = c.pieces(us, Role::Queen);
    sink.add(us, ATTACKERS + 8 * usize::from(queens.is_empty()) + c.attackers[us].min(7), 1);

    let zone = c.zone[them];
    let theirs = &c.by_role[them];
    let solid = theirs.pawn | theirs.knight | theirs.bishop | theirs.rook | c.twice[them];
    let weak = (zone & c.attacked[us] & !solid).count() as i32;
    let mut danger = 2 * (c.attacked[us] & zone).count() as i32 + 2 * (c.twice[us] & zone).count() as i32;
    danger += 3 * weak - 2 * (c.pieces(them, Role::Pawn) & zone).count() as i32;
    danger -= if queens.is_empty() { 15 } else { 0 };

    let ours = &c.by_role[us];
    let occupied = c.board.occupied();
    let diagonal = sliders::diagonal(king, occupied);
    let straight = sliders::straight(king, occupied);
    // A check is safe on a square that they do not defend, or only with king or queen against two of ours.
    let not_ours = !c.board.by_color(us);
    let safe = not_ours & (!c.attacked[them] | (c.twice[us] & !solid));
    let mut count = |kind: usize, lines: Bitboard, reach: Bitboard, nearness: i32, check: i32| {
        let checks = lines & reach & not_ours;
        let safe_checks = (checks & safe).count() as i32;
        let any = i32::from(safe_checks > 0);
        sink.add(us, SAFE_CHECK + kind, safe_checks);
        sink.add(us, UNSAFE_CHECK + kind, i32::from((checks & !safe).any()));
        nearness * i32::from(!reach.is_disjoint(zone)) + check * any
    };
    danger += count(0, attacks::knight_attacks(king), ours.knight, 6, 9);
    danger += count(1, diagonal, ours.bishop, 5, 5);
    danger += count(2, straight, ours.rook, 4, 9);
    danger += count(3, diagonal | straight, ours.queen, 3, 6);
    sink.add(us, DANGER + (danger.max(0) as usize / 2).min(31), 1);

    let wing = relative(us, Bitboard(0xffff_ffff_ff00_0000)) & WINGS[king.file() as usize];
    let attacked = wing & c.attacked[us];
    let pressure = attacked.count() + (attacked & c.twice[us]).count();
    sink.add(us, FLANK + (pressure / 2).min(15), 1);
}

const WINGS: [Bitboard; 8] = {
    const QUEEN_SIDE: Bitboard = Bitboard(0x0f0f_0f0f_0f0f_0f0f);
    const CENTRE: Bitboard = Bitboard(0x3c3c_3c3c_3c3c_3c3c);
    const KING_SIDE: Bitboard = Bitboard(0xf0f0_f0f0_f0f0_f0f0);
    [QUEEN_SIDE, QUEEN_SIDE, QUEEN_SIDE, CENTRE, CENTRE, KING_SIDE, KING_SIDE, KING_SIDE]
};
