//! Sinks for the counts of the terms: a tapered sum in play, a trace for tuning. Tracing costs nothing in play, since
//! the terms are compiled for each sink.

use shakmaty::{ByColor, Color};

use super::layout::COUNT;
use super::terms::{PIECE_SQUARES, Wings, psqt_weights};
use super::weights::Weights;

pub trait Sink {
    fn add(&mut self, color: Color, index: usize, count: i32);

    /// Counts the up to three weights of a piece-square index (64 × role + relative square) once each.
    #[inline(always)]
    fn piece_square(&mut self, color: Color, wings: Wings, index: usize) {
        psqt_weights(wings, index).for_each(|weight| self.add(color, weight, 1));
    }
}

/// A midgame and an endgame value in one integer, so that one addition adds both.
/// The midgame value is the low half, the endgame value the high half; 32 bits each, so no sum of real
/// weights can overflow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Packed(i64);

impl Packed {
    #[inline]
    pub const fn new(mg: i32, eg: i32) -> Packed {
        Packed(((eg as i64) << 32) + mg as i64)
    }

    #[inline]
    pub const fn mg(self) -> i32 {
        self.0 as i32
    }

    /// The endgame value; corrects for the borrow of a negative midgame value.
    #[inline]
    pub const fn eg(self) -> i32 {
        ((self.0 + (1 << 31)) >> 32) as i32
    }
}

#[derive(Debug)]
pub(super) struct WeightTable {
    weights: Box<[Packed; COUNT]>,
    /// Sums of the weights of each piece-square index, by wings.
    piece_squares: Box<[[Packed; PIECE_SQUARES]; 4]>,
}

impl WeightTable {
    pub fn new(weights: &Weights) -> WeightTable {
        let mut table = WeightTable {
            weights: Box::new([Packed::default(); COUNT]),
            piece_squares: Box::new([[Packed::default(); PIECE_SQUARES]; 4]),
        };
        for (packed, [mg, eg]) in table.weights.iter_mut().zip(weights.pairs()) {
            *packed = Packed::new(*mg, *eg);
        }
        for wings in Wings::ALL {
            for (piece_square, sum) in table.piece_squares[wings.index()].iter_mut().enumerate() {
                psqt_weights(wings, piece_square).for_each(|index| *sum += table.weights[index]);
            }
        }
        table
    }

    pub fn weight(&self, index: usize) -> Packed {
        self.weights[index]
    }
}

/// Sums weights: the sink of play.
pub(super) struct Total<'a> {
    table: &'a WeightTable,
    sums: ByColor<Packed>,
}

impl Total<'_> {
    #[inline(always)]
    pub fn new(table: &WeightTable, start: Packed) -> Total<'_> {
        Total { table, sums: ByColor { black: Packed::default(), white: start } }
    }

    #[inline(always)]
    pub fn sum(&self) -> Packed {
        self.sums.white - self.sums.black
    }
}

impl Sink for Total<'_> {
    #[inline(always)]
    fn add(&mut self, color: Color, index: usize, count: i32) {
        self.sums[color].0 += self.table.weights[index].0 * i64::from(count);
    }

    #[inline(always)]
    fn piece_square(&mut self, color: Color, wings: Wings, index: usize) {
        self.sums[color] += self.table.piece_squares[wings.index()][index];
    }
}

impl std::ops::Sub for Packed {
    type Output = Packed;

    #[inline]
    fn sub(self, other: Packed) -> Packed {
        Packed(self.0 - other.0)
    }
}

impl std::ops::AddAssign for Packed {
    #[inline]
    fn add_assign(&mut self, other: Packed) {
        self.0 += other.0;
    }
}

/// Collects how often each weight counts, White's minus Black's: the sink of tuning.
#[derive(Debug, Clone)]
pub struct Trace {
    counts: Box<[i16; COUNT]>,
    /// A bit for each weight with a count, to walk them in order without sorting.
    touched: [u64; COUNT.div_ceil(64)],
}

impl Default for Trace {
    fn default() -> Trace {
        Trace { counts: Box::new([0; COUNT]), touched: [0; COUNT.div_ceil(64)] }
    }
}

impl Sink for Trace {
    #[inline]
    fn add(&mut self, color: Color, index: usize, count: i32) {
        self.touched[index / 64] |= 1 << (index % 64);
        self.counts[index] += color.fold_wb(count, -count) as i16;
    }
}

impl Trace {
    /// Visits every weight with a non-zero count, in order, and clears the trace.
    pub fn drain(&mut self, mut visit: impl FnMut(u16, i16)) {
        for (number, word) in self.touched.iter_mut().enumerate() {
            let mut left = std::mem::take(word);
            while left != 0 {
                let index = number * 64 + left.trailing_zeros() as usize;
                left &= left - 1;
                let count = std::mem::take(&mut self.counts[index]);
                if count != 0 {
                    visit(index as u16, count);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_halves_survive_sums_of_either_sign() {
        for (a, b) in [((5, -7), (-9, 3)), ((-1, -1), (-1, 1)), ((30_000, -30_000), (-40_000, 70_000))] {
            let mut sum = Packed::new(a.0, a.1);
            sum += Packed::new(b.0, b.1);
            assert_eq!((sum.mg(), sum.eg()), (a.0 + b.0, a.1 + b.1));
            let difference = Packed::new(a.0, a.1) - Packed::new(b.0, b.1);
            assert_eq!((difference.mg(), difference.eg()), (a.0 - b.0, a.1 - b.1));
        }
    }
}
