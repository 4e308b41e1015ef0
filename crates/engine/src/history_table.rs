//! History tables with dirty-block tracking: clearing costs only what was written.

use std::ops::Index;

use patzer_chess::huge_pages::zeroed;

/// Two cache lines.
const BLOCK: usize = 64;

#[derive(Debug)]
pub(crate) struct HistoryTable {
    values: Vec<i16>,
    start: usize,
    /// A bit for each block written since the last `clear`.
    dirty: Box<[u64]>,
}

impl HistoryTable {
    pub(crate) fn new(count: usize) -> HistoryTable {
        let blocks = count.div_ceil(BLOCK);
        let (values, start) = zeroed(count);
        HistoryTable { values, start, dirty: vec![0; blocks.div_ceil(64)].into_boxed_slice() }
    }

    #[inline]
    pub(crate) fn row<const N: usize>(&self, start: usize) -> &[i16; N] {
        self.values[self.start + start..].first_chunk().expect("a row within the table")
    }

    /// Adds a bonus or malus with gravity: the step shrinks towards ±`max`.
    #[inline]
    pub(crate) fn update(&mut self, at: usize, bonus: i32, max: i32) {
        let number = &mut self.values[self.start + at];
        let value = i32::from(*number);
        *number = (value + bonus - value * bonus.abs() / max) as i16;
        let block = at / BLOCK;
        self.dirty[block / 64] |= 1 << (block % 64);
    }

    pub(crate) fn clear(&mut self) {
        for (blocks, bits) in self.values[self.start..].chunks_mut(64 * BLOCK).zip(&mut self.dirty) {
            while *bits != 0 {
                let start = bits.trailing_zeros() as usize * BLOCK;
                let end = blocks.len().min(start + BLOCK);
                blocks[start..end].fill(0);
                *bits &= *bits - 1;
            }
        }
    }
}

impl Index<usize> for HistoryTable {
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
            let mut table = HistoryTable::new(count);
            for round in 0..4 {
                let places: Vec<usize> =
                    (0..30 * round).map(|_| rng.below(count)).chain([count - 1]).collect();
                places.iter().for_each(|&at| table.update(at, 100, 1000));
                assert!(places.iter().all(|&at| table[at] > 0));
                table.clear();
                assert!(table.values.iter().all(|&value| value == 0), "{count} numbers");
                assert!(table.dirty.iter().all(|&bits| bits == 0));
            }
        }
    }
}
