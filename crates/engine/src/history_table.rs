//! Numbers that searches learn, and forget as fast as they learnt them.
//!
//! In: how much a number rises or falls. Out: the numbers. Which of them were touched is kept for blocks of them, so
//! that a short search does not pay for clearing tables of a megabyte of which it wrote a few lines.

use std::ops::Index;

use patzer_chess::huge_pages::zeros;

/// Numbers in a block, two cache lines of them.
const BLOCK: usize = 64;

/// A table of numbers, all 0 at first.
#[derive(Debug)]
pub struct Tallies {
    values: Vec<i16>,
    /// Where they begin.
    start: usize,
    /// A bit for each block that was written to.
    touched: Box<[u64]>,
}

impl Tallies {
    /// So many numbers.
    pub fn new(count: usize) -> Tallies {
        let blocks = count.div_ceil(BLOCK);
        let (values, start) = zeros(count);
        Tallies { values, start, touched: vec![0; blocks.div_ceil(64)].into_boxed_slice() }
    }

    /// So many numbers in a row.
    #[inline]
    pub fn row<const N: usize>(&self, start: usize) -> &[i16; N] {
        self.values[self.start + start..].first_chunk().expect("a row within the table")
    }

    /// Raises (`bonus` above 0) or lowers a number that stays within ±`most`, by gravity: the nearer to the end, the
    /// smaller the step towards it.
    #[inline]
    pub fn nudge(&mut self, at: usize, bonus: i32, most: i32) {
        let number = &mut self.values[self.start + at];
        let value = i32::from(*number);
        *number = (value + bonus - value * bonus.abs() / most) as i16;
        let block = at / BLOCK;
        self.touched[block / 64] |= 1 << (block % 64);
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        for (blocks, bits) in self.values[self.start..].chunks_mut(64 * BLOCK).zip(&mut self.touched) {
            while *bits != 0 {
                let start = bits.trailing_zeros() as usize * BLOCK;
                let end = blocks.len().min(start + BLOCK);
                blocks[start..end].fill(0);
                *bits &= *bits - 1;
            }
        }
    }
}

impl Index<usize> for Tallies {
    type Output = i16;

    #[inline]
    fn index(&self, at: usize) -> &i16 {
        &self.values[self.start + at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::rng::Rng;

    #[test]
    fn everything_that_was_learnt_is_forgotten() {
        let mut rng = Rng::new(3);
        for count in [1, 63, 64, 4096, 4097, 70_001, 600_000] {
            let mut tallies = Tallies::new(count);
            for round in 0..4 {
                let places: Vec<usize> =
                    (0..30 * round).map(|_| rng.below(count)).chain([count - 1]).collect();
                places.iter().for_each(|&at| tallies.nudge(at, 100, 1000));
                assert!(places.iter().all(|&at| tallies[at] > 0));
                tallies.clear();
                assert!(tallies.values.iter().all(|&value| value == 0), "{count} numbers");
                assert!(tallies.touched.iter().all(|&bits| bits == 0));
            }
        }
    }
}
