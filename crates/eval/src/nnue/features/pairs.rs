//! `ph`, `pv`: two pieces are neighbours on a rank or a file, with nothing but empty squares between them.
//!
//! In: a view. Out: `144 × line + 12 × first + second`: on a rank the left one is first, on a file the lower one.

use super::{Bits, View};

/// The kind of piece on each square; 12 for none.
fn kinds(view: &View) -> [u8; 64] {
    let mut kinds = [12; 64];
    for (kind, &squares) in view.pieces.iter().enumerate() {
        let mut left = squares;
        while left != 0 {
            kinds[left.trailing_zeros() as usize] = kind as u8;
            left &= left - 1;
        }
    }
    kinds
}

fn neighbours(view: &View, bits: &mut Bits<'_>, square: impl Fn(usize, usize) -> usize) {
    let kinds = kinds(view);
    for line in 0..8 {
        let mut before = 12;
        for step in 0..8 {
            let kind = usize::from(kinds[square(line, step)]);
            if kind < 12 {
                if before < 12 {
                    bits.set(144 * line + 12 * before + kind);
                }
                before = kind;
            }
        }
    }
}

pub(super) fn ranks(view: &View, bits: &mut Bits<'_>) {
    neighbours(view, bits, |rank, file| 8 * rank + file);
}

pub(super) fn files(view: &View, bits: &mut Bits<'_>) {
    neighbours(view, bits, |file, rank| 8 * rank + file);
}
