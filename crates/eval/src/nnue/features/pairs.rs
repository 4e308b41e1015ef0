//! `ph`, `pv`: two pieces are neighbours on a rank or a file, with nothing but empty squares between them.
//! Index: `144 × line + 12 × first + second`; the left piece is first on a rank, the lower one on a file.

use shakmaty::Bitboard;

use super::{Bits, Perspective};

fn kinds(perspective: &Perspective) -> [u8; 64] {
    let mut kinds = [12; 64];
    for (kind, &squares) in perspective.pieces.iter().enumerate() {
        Bitboard(squares).into_iter().for_each(|square| kinds[square as usize] = kind as u8);
    }
    kinds
}

fn neighbours(perspective: &Perspective, bits: &mut Bits<'_>, square: impl Fn(usize, usize) -> usize) {
    let kinds = kinds(perspective);
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

pub(super) fn ranks(perspective: &Perspective, bits: &mut Bits<'_>) {
    neighbours(perspective, bits, |rank, file| 8 * rank + file);
}

pub(super) fn files(perspective: &Perspective, bits: &mut Bits<'_>) {
    neighbours(perspective, bits, |file, rank| 8 * rank + file);
}
