//! `threats`: a piece attacks a piece of the other side, or defends one of its own.
//! Index: by the kinds of attacker and victim, then by the attacker's square, then by the victim's. After Stockfish's
//! Full_Threats: kings neither attack nor are attacked; what the reverse threat says already is left out, which is a
//! pawn's threat to a bishop or queen, and a bishop's or rook's to a queen. Two pieces of one role that attack each
//! other have one feature, which here leaves no index unused: the attacker is the own piece, or the one on the lower
//! square if both are of one side.

use shakmaty::{Bitboard, Color, Square, attacks};

use super::changes::{BlockRows, BoardChange};
use super::pawn_pairs::PAWN_RANKS;
use super::square_pairs::{SquarePairs, above};
use super::{Bits, Perspective};
use crate::nnue::pieces::Men;
use patzer_chess::sliders;

const PAWN: usize = 0;
const KING: usize = 5;
/// Roles that a role's threats count for: pawn, knight, bishop, rook, queen.
const VICTIMS: [[bool; 5]; 5] = [
    [true, true, false, true, false],
    [true; 5],
    [true, true, true, true, false],
    [true, true, true, true, false],
    [true; 5],
];

const THEIR_PAWN: usize = 5;
/// The first shape of two knights to two queens of one side.
const SAME_ROLE: usize = 6;
/// The first shape with a pawn as victim.
const TO_PAWN: usize = 10;

/// Squares that attacker and victim can have.
pub static SHAPES: [SquarePairs; 16] = {
    const ANY: SquarePairs = SquarePairs::new([0; 64]);
    let (mut shapes, mut role) = ([ANY; 16], 0);
    while role <= THEIR_PAWN {
        shapes[role] = SquarePairs::new(empty_board(role, !0));
        shapes[TO_PAWN + role] = SquarePairs::new(empty_board(role, PAWN_RANKS));
        if role > PAWN && role < THEIR_PAWN {
            shapes[SAME_ROLE + role - 1] = SquarePairs::unordered(empty_board(role, !0));
        }
        role += 1;
    }
    shapes
};

/// The squares among `targets` that a role attacks from each square of an empty board.
const fn empty_board(role: usize, targets: u64) -> [u64; 64] {
    let (mut masks, mut at) = ([0; 64], 0);
    while at < 64 * 64 {
        let (from, to): (usize, usize) = (at / 64, at % 64);
        let files = (from % 8).abs_diff(to % 8);
        let ranks = (from / 8).abs_diff(to / 8);
        let is_pawn = PAWN_RANKS >> from & 1 == 1 && files == 1 && ranks == 1;
        let is_attacked = match role {
            PAWN => is_pawn && to > from,
            THEIR_PAWN => is_pawn && to < from,
            1 => files * ranks == 2,
            2 => files == ranks,
            3 => files == 0 || ranks == 0,
            _ => files == ranks || files == 0 || ranks == 0,
        };
        if is_attacked && from != to && targets >> to & 1 == 1 {
            masks[from] |= 1 << to;
        }
        at += 1;
    }
    masks
}

/// Numbering of a pair of kinds.
#[derive(Debug, Clone, Copy)]
pub struct Pair {
    pub base: u16,
    pub shape: u8,
    /// Set if the reverse threat has the same feature.
    pub swap: bool,
}

/// `[attacker][victim][attacker's square above the victim's]`, kinds as in [`all`](super::all).
pub static PAIRS: [[[Pair; 2]; 12]; 12] = numbered().0;
pub const COUNT: usize = numbered().1;

const fn numbered() -> ([[[Pair; 2]; 12]; 12], usize) {
    let none = Pair { base: 0, shape: 0, swap: false };
    let (mut pairs, mut count, mut at) = ([[[none; 2]; 12]; 12], 0, 0);
    while at < 12 * 12 {
        let (attacker, victim) = (at / 12, at % 12);
        let (role, own) = (attacker % 6, attacker < 6);
        at += 1;
        if role == KING || victim % 6 == KING || !VICTIMS[role][victim % 6] {
            continue;
        }
        let (same_role, same_side) = (role == victim % 6, own == (victim < 6));
        if same_role && !same_side && !own {
            let reverse = pairs[victim][attacker][0];
            pairs[attacker][victim] = [Pair { swap: true, ..reverse }; 2];
            continue;
        }
        let is_sorted = same_role && same_side && role != PAWN;
        let attack = if role == PAWN && !own { THEIR_PAWN } else { role };
        let shape = if is_sorted {
            SAME_ROLE + role - 1
        } else if victim % 6 == PAWN {
            TO_PAWN + attack
        } else {
            attack
        };
        let pair = Pair { base: count as u16, shape: shape as u8, swap: false };
        pairs[attacker][victim] = [pair, Pair { swap: is_sorted, ..pair }];
        count += SHAPES[shape].count;
    }
    (pairs, count)
}

#[inline]
fn index(attacker: usize, from: usize, victim: usize, to: usize) -> usize {
    let pair = PAIRS[attacker][victim][usize::from(from > to)];
    let (from, to) = if pair.swap { (to, from) } else { (from, to) };
    usize::from(pair.base) + SHAPES[usize::from(pair.shape)].number(from, to)
}

pub(super) fn write(perspective: &Perspective, bits: &mut Bits<'_>) {
    let occupied = Bitboard(perspective.occupied());
    for (attacker, &squares) in perspective.pieces.iter().enumerate().filter(|(kind, _)| kind % 6 != KING) {
        for from in Bitboard(squares) {
            let reach = match attacker % 6 {
                PAWN => Bitboard(SHAPES[if attacker < 6 { PAWN } else { THEIR_PAWN }].masks[from as usize]),
                1 => attacks::knight_attacks(from),
                2 => attacks::bishop_attacks(from, occupied),
                3 => attacks::rook_attacks(from, occupied),
                _ => attacks::queen_attacks(from, occupied),
            };
            for (victim, &squares) in perspective.pieces.iter().enumerate() {
                if victim % 6 != KING && VICTIMS[attacker % 6][victim % 6] {
                    for to in reach & Bitboard(squares) {
                        bits.set(index(attacker, from as usize, victim, to as usize));
                    }
                }
            }
        }
    }
}

/// The victims of the piece on a square, each pair of one role once: White's piece attacks, or the lower one.
#[inline(always)]
fn victims(men: &Men, kind: usize, square: usize) -> u64 {
    let (role, black) = (kind % 6, kind / 6);
    let at = Square::new(square as u32);
    let occupied = Bitboard(men.occupied());
    let [pawns, knights, _, rooks, queens, kings] = men.roles;
    let targets = match role {
        PAWN => SHAPES[THEIR_PAWN * black].masks[square] & (pawns | knights | rooks),
        1 => SHAPES[1].masks[square] & !kings,
        2 => sliders::diagonal(at, occupied).0 & !(queens | kings),
        3 => sliders::straight(at, occupied).0 & !(queens | kings),
        4 => (sliders::diagonal(at, occupied) | sliders::straight(at, occupied)).0 & !kings,
        _ => 0,
    };
    let of_others = if black == 1 { men.colors[0] } else { 0 };
    let of_own = if role == PAWN { 0 } else { men.colors[black] & !above(square) };
    targets & occupied.0 & !(men.roles[role] & (of_others | of_own))
}

/// The pieces that stay and attack a changed square before or after, through empty squares too.
#[inline(always)]
fn attackers(change: &BoardChange) -> u64 {
    let (before, after) = (&change.before, &change.after);
    let stay = before.occupied() & !change.changed;
    let [pawns, knights, bishops, rooks, queens, _] = before.roles.map(|pieces| pieces & stay);
    if stay == 0 {
        return 0;
    }
    let both = [before, after].map(|men| Bitboard(men.occupied()));
    let mut found = 0;
    for square in Bitboard(change.changed) {
        let [diagonal, straight] = [sliders::diagonal, sliders::straight]
            .map(|reach| (reach(square, both[0]) | reach(square, both[1])).0);
        let at = square as usize;
        found |= diagonal & (bishops | queens) | straight & (rooks | queens) | SHAPES[1].masks[at] & knights;
        let pawns = pawns & PAWN_RANKS;
        found |= attacks::pawn_attacks(Color::Black, square).0 & pawns & before.colors[0];
        found |= attacks::pawn_attacks(Color::White, square).0 & pawns & before.colors[1];
    }
    found
}

pub(super) fn changes(change: &BoardChange, rows: &mut BlockRows<'_>) {
    let (before, after, changed) = (&change.before, &change.after, change.changed);
    for from in Bitboard(attackers(change)) {
        let from = from as usize;
        let kind = before.kind(from);
        let (old, new) = (victims(before, kind, from), victims(after, kind, from));
        push(rows, false, before, (kind, from), old & (!new | changed));
        push(rows, true, after, (kind, from), new & (!old | changed));
    }
    for (men, is_added) in [(before, false), (after, true)] {
        for from in Bitboard(changed & men.occupied()) {
            let from = from as usize;
            let kind = men.kind(from);
            push(rows, is_added, men, (kind, from), victims(men, kind, from));
        }
    }
}

#[inline(always)]
fn push(rows: &mut BlockRows<'_>, is_added: bool, men: &Men, (attacker, from): (usize, usize), victims: u64) {
    let [white, black] = rows.flips();
    let other = |kind: usize| if kind < 6 { kind + 6 } else { kind - 6 };
    for to in Bitboard(victims) {
        let to = to as usize;
        let victim = men.kind(to);
        let both = [
            index(attacker, from ^ white, victim, to ^ white),
            index(other(attacker), from ^ black, other(victim), to ^ black),
        ];
        rows.push(is_added, both);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_threat_has_an_index_of_its_own() {
        let mut seen = vec![0; COUNT];
        for (attacker, victim) in (0..144).map(|at| (at / 12, at % 12)) {
            let role = attacker % 6;
            if role == KING || victim % 6 == KING || !VICTIMS[role][victim % 6] {
                continue;
            }
            let shape = if attacker == 6 { THEIR_PAWN } else { role };
            let reverse = role == victim % 6 && (role != PAWN || (attacker < 6) != (victim < 6));
            for (from, to) in (0..64 * 64).map(|at| (at / 64, at % 64)) {
                let is_possible = [(attacker, from), (victim, to)]
                    .into_iter()
                    .all(|(kind, square)| kind % 6 != PAWN || PAWN_RANKS >> square & 1 == 1);
                if is_possible && SHAPES[shape].masks[from] >> to & 1 == 1 {
                    let feature = index(attacker, from, victim, to);
                    seen[feature] += if reverse { 1 } else { 2 };
                    assert!(!reverse || feature == index(victim, to, attacker, from));
                }
            }
        }
        assert_eq!((COUNT, seen), (50_626, vec![2; COUNT]));
    }
}
