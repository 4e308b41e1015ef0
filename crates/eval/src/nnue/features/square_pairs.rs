//! Numbers pairs of squares, so that only pairs that can occur have features.

/// Second squares by first square, and the number of pairs before them.
pub struct SquarePairs {
    pub masks: [u64; 64],
    pub offsets: [u16; 64],
    pub count: usize,
}

impl SquarePairs {
    pub const fn new(masks: [u64; 64]) -> SquarePairs {
        let (mut offsets, mut count, mut square) = ([0; 64], 0, 0);
        while square < 64 {
            offsets[square] = count as u16;
            count += masks[square].count_ones() as usize;
            square += 1;
        }
        SquarePairs { masks, offsets, count }
    }

    /// Each pair once, the lower square first.
    pub const fn unordered(mut masks: [u64; 64]) -> SquarePairs {
        let mut square = 0;
        while square < 64 {
            masks[square] &= above(square);
            square += 1;
        }
        SquarePairs::new(masks)
    }

    #[inline]
    pub fn number(&self, first: usize, second: usize) -> usize {
        let before = self.masks[first] & ((1 << second) - 1);
        usize::from(self.offsets[first]) + before.count_ones() as usize
    }
}

/// The squares that come after a square, from a1 to h8.
pub const fn above(square: usize) -> u64 {
    !1 << square
}
