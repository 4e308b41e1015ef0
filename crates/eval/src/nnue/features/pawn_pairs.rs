//! `pp`: two pawns, of one side or of both, on the same file or on adjacent files.
//! Index: the pairs of own pawns, the pairs of theirs, then an own pawn with one of theirs. Source: the engine
//! Pawnocchio, where of all pairs those at most a file apart mattered; Stockfish has them since SFNNv16.

use shakmaty::Bitboard;

use super::changes::{BlockRows, BoardChange};
use super::square_pairs::SquarePairs;
use super::{Bits, Perspective};

/// Ranks 2 to 7: pawns elsewhere have no features.
pub const PAWN_RANKS: u64 = 0x00ff_ffff_ffff_ff00;

/// Two pawns of one side.
pub static ONE_SIDE: SquarePairs = SquarePairs::unordered(partners());
/// An own pawn and one of theirs.
pub static BOTH_SIDES: SquarePairs = SquarePairs::new(partners());

pub const COUNT: usize = 2 * SquarePairs::unordered(partners()).count + SquarePairs::new(partners()).count;

/// Squares of other pawns at most one file apart, by the square of a pawn.
const fn partners() -> [u64; 64] {
    let (mut masks, mut at) = ([0; 64], 0);
    while at < 64 * 64 {
        let (first, second): (usize, usize) = (at / 64, at % 64);
        let are_pawns = PAWN_RANKS >> first & PAWN_RANKS >> second & 1 == 1;
        if are_pawns && first != second && (first % 8).abs_diff(second % 8) <= 1 {
            masks[first] |= 1 << second;
        }
        at += 1;
    }
    masks
}

/// Feature of two pawns, each by a flag for the other side's and its square.
#[inline]
fn index(a: (bool, usize), b: (bool, usize)) -> usize {
    match (a.0, b.0) {
        (true, false) => index(b, a),
        (false, true) => 2 * ONE_SIDE.count + BOTH_SIDES.number(a.1, b.1),
        (theirs, _) => usize::from(theirs) * ONE_SIDE.count + ONE_SIDE.number(a.1.min(b.1), a.1.max(b.1)),
    }
}

pub(super) fn write(perspective: &Perspective, bits: &mut Bits<'_>) {
    let [own, theirs] = [0, 6].map(|kind| perspective.pieces[kind] & PAWN_RANKS);
    for first in Bitboard(own | theirs) {
        for second in Bitboard(own | theirs) {
            if first < second && first.file().distance(second.file()) <= 1 {
                let [a, b] =
                    [first, second].map(|square| (theirs >> square as u32 & 1 == 1, square as usize));
                bits.set(index(a, b));
            }
        }
    }
}

pub(super) fn changes(change: &BoardChange, rows: &mut BlockRows<'_>) {
    let flips = rows.flips();
    for (men, is_added) in [(&change.before, false), (&change.after, true)] {
        let (mut pawns, black) = (men.roles[0] & PAWN_RANKS, men.colors[1]);
        let seen = |square: usize, side: usize| (black >> square & 1 != side as u64, square ^ flips[side]);
        for first in Bitboard(pawns & change.changed) {
            let first = first as usize;
            pawns &= !(1 << first);
            for second in Bitboard(pawns & BOTH_SIDES.masks[first]) {
                rows.push(is_added, [0, 1].map(|side| index(seen(first, side), seen(second as usize, side))));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_of_pawns_has_an_index_of_its_own() {
        let mut seen = vec![0; COUNT];
        for (first, second) in (0..64 * 64).map(|at| (at / 64, at % 64)) {
            if BOTH_SIDES.masks[first] >> second & 1 == 1 {
                seen[index((false, first), (true, second))] += 2;
                [false, true].into_iter().for_each(|side| seen[index((side, first), (side, second))] += 1);
            }
        }
        assert_eq!((COUNT, seen), (1488, vec![2; COUNT]));
        // a2 and a3 are the first pair; a2 and b7 are adjacent, a2 and c3 are not.
        assert_eq!(index((false, 8), (false, 16)), 1);
        assert_eq!((BOTH_SIDES.masks[8] >> 49 & 1, BOTH_SIDES.masks[8] >> 18 & 1), (1, 0));
    }
}
