//! `h`, `v`, `d1`, `d2`: a piece of a role and colour stands on a file, a rank, a diagonal.
//! Index: `lines × kind + line`, kinds as in [`all`](super::all): own pawn 0 to their king 11. A diagonal is
//! file − rank + 7, an antidiagonal file + rank.

use shakmaty::Bitboard;

use super::{Bits, Perspective};

fn each(perspective: &Perspective, bits: &mut Bits<'_>, lines: usize, line: impl Fn(usize, usize) -> usize) {
    for (kind, &squares) in perspective.pieces.iter().enumerate() {
        for square in Bitboard(squares) {
            bits.set(lines * kind + line(square.file() as usize, square.rank() as usize));
        }
    }
}

pub(super) fn file(perspective: &Perspective, bits: &mut Bits<'_>) {
    each(perspective, bits, 8, |file, _| file);
}

pub(super) fn rank(perspective: &Perspective, bits: &mut Bits<'_>) {
    each(perspective, bits, 8, |_, rank| rank);
}

pub(super) fn diagonal(perspective: &Perspective, bits: &mut Bits<'_>) {
    each(perspective, bits, 15, |file, rank| file + 7 - rank);
}

pub(super) fn antidiagonal(perspective: &Perspective, bits: &mut Bits<'_>) {
    each(perspective, bits, 15, |file, rank| file + rank);
}
