//! The first layer's rows, one for each feature, as accumulators add them.

use patzer_chess::huge_pages::advise_huge_pages;
use patzer_chess::prefetch::prefetch;

use super::block::{Block, LANES};

/// Rows of equal width, and the accumulator of the empty board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureTable {
    rows: Vec<Block>,
    bias: Vec<Block>,
}

impl FeatureTable {
    /// A table without rows, with room for as many of the bias' width.
    pub fn new(bias: Vec<Block>, rows: usize) -> FeatureTable {
        let mut blocks = Vec::with_capacity(rows * bias.len());
        // The rows of threats take megabytes and are read at random.
        advise_huge_pages(&mut blocks);
        FeatureTable { rows: blocks, bias }
    }

    /// Appends a row of [`FeatureTable::blocks`] blocks.
    pub fn push(&mut self, row: impl IntoIterator<Item = Block>) {
        self.rows.extend(row);
        debug_assert!(self.rows.len().is_multiple_of(self.blocks()), "a row of another width");
    }

    /// Blocks of a row.
    #[inline]
    pub fn blocks(&self) -> usize {
        self.bias.len()
    }

    pub fn bias(&self) -> &[Block] {
        &self.bias
    }

    pub fn rows(&self) -> impl Iterator<Item = &[Block]> {
        self.rows.chunks_exact(self.blocks())
    }

    #[inline]
    pub fn row(&self, row: u16) -> &[Block] {
        let (blocks, row) = (self.blocks(), usize::from(row));
        &self.rows[row * blocks..(row + 1) * blocks]
    }

    #[inline]
    pub fn prefetch(&self, row: u16) {
        self.row(row).iter().for_each(prefetch);
    }
}

/// Blocks of these weights, the last one filled with zeros.
pub fn padded(row: &[i16]) -> impl Iterator<Item = Block> + '_ {
    row.chunks(LANES).map(|part| {
        let mut block = Block::ZERO;
        block.0[..part.len()].copy_from_slice(part);
        block
    })
}
