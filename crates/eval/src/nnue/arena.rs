//! Accumulator arena: accumulators of equal width in one allocation.

use shakmaty::Color;

use super::block::Block;
use super::feature_table::FeatureTable;
use patzer_chess::score::MAX_PLY;

pub const PLIES: usize = 2 * (MAX_PLY + 1);

/// The slot of a perspective's accumulator; the previous ply's is two slots lower.
#[inline]
pub fn slot(side: Color, ply: usize) -> usize {
    2 * ply.min(MAX_PLY) + usize::from(side.is_black())
}

#[derive(Debug, Clone)]
pub struct AccumulatorArena {
    blocks: Vec<Block>,
    width: usize,
}

impl AccumulatorArena {
    /// Every slot starts with the accumulator of the empty board.
    pub fn new(table: &FeatureTable, slots: usize) -> AccumulatorArena {
        AccumulatorArena { blocks: table.bias().repeat(slots), width: table.blocks() }
    }

    #[inline]
    pub fn at(&self, slot: usize) -> &[Block] {
        &self.blocks[self.width * slot..self.width * (slot + 1)]
    }

    #[inline]
    pub fn at_mut(&mut self, slot: usize) -> &mut [Block] {
        &mut self.blocks[self.width * slot..self.width * (slot + 1)]
    }

    /// The previous ply's slot to read, and this slot to write.
    #[inline]
    pub fn before_and_at(&mut self, slot: usize) -> (&[Block], &mut [Block]) {
        let (below, above) = self.blocks.split_at_mut(self.width * slot);
        (&below[self.width * (slot - 2)..][..self.width], &mut above[..self.width])
    }
}
