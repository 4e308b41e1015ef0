//! `clock`: the halfmove clock of the fifty-move rule, in steps of twelve plies. Source: the engine Integral.

use super::changes::{BlockRows, BoardChange};
use super::{Bits, Perspective};

pub const COUNT: usize = 8;
const STEP: u8 = 12;

fn index(halfmoves: u8) -> usize {
    usize::from(halfmoves / STEP).min(COUNT - 1)
}

pub(super) fn write(perspective: &Perspective, bits: &mut Bits<'_>) {
    bits.set(index(perspective.halfmoves));
}

pub(super) fn changes(change: &BoardChange, rows: &mut BlockRows<'_>) {
    let [before, after] = [&change.before, &change.after].map(|men| men.pieces.halfmoves().map(index));
    if before != after {
        before.into_iter().for_each(|feature| rows.push(false, [feature; 2]));
        after.into_iter().for_each(|feature| rows.push(true, [feature; 2]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_step_has_no_end() {
        assert_eq!([0, 11, 12, 83, 84, 99, 255].map(index), [0, 0, 1, 6, 7, 7, 7]);
    }
}
