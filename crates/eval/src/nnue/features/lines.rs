//! `h`, `v`, `d1`, `d2`: a piece of a role and colour stands on a file, a rank, a diagonal.
//!
//! In: a view. Out: `lines × kind + line`, kinds as in [`all`](super::all): own pawn 0 to their king 11. Files and
//! ranks are counted from a1; a diagonal is file − rank + 7, an antidiagonal file + rank.

use super::{Bits, View};

fn each(view: &View, bits: &mut Bits<'_>, lines: usize, line: impl Fn(usize, usize) -> usize) {
    for (kind, &squares) in view.pieces.iter().enumerate() {
        let mut left = squares;
        while left != 0 {
            let square = left.trailing_zeros() as usize;
            left &= left - 1;
            bits.set(lines * kind + line(square % 8, square / 8));
        }
    }
}

pub(super) fn file(view: &View, bits: &mut Bits<'_>) {
    each(view, bits, 8, |file, _| file);
}

pub(super) fn rank(view: &View, bits: &mut Bits<'_>) {
    each(view, bits, 8, |_, rank| rank);
}

pub(super) fn diagonal(view: &View, bits: &mut Bits<'_>) {
    each(view, bits, 15, |file, rank| file + 7 - rank);
}

pub(super) fn antidiagonal(view: &View, bits: &mut Bits<'_>) {
    each(view, bits, 15, |file, rank| file + rank);
}
