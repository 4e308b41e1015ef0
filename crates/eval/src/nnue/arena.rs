//! Sums of the hidden layer for many positions, one after another in memory.
//!
//! In: how many, and the network whose sums they are. Out: the sums of one, or of one to read and another to write.

use shakmaty::Color;

use super::network::{Block, Network};
use patzer_chess::score::MAX_PLY;

/// Slots for every ply and side.
pub const PLIES: usize = 2 * (MAX_PLY + 1);

/// Where a side's sums of a ply are; those of the ply before are two slots lower.
#[inline]
pub fn slot(side: Color, ply: usize) -> usize {
    2 * ply.min(MAX_PLY) + usize::from(side.is_black())
}

/// The sums.
#[derive(Debug, Clone)]
pub struct Slots {
    sums: Vec<Block>,
    blocks: usize,
}

impl Slots {
    /// So many, all those of the empty board.
    pub fn new(network: &Network, count: usize) -> Slots {
        Slots { sums: network.bias().repeat(count), blocks: network.blocks() }
    }

    /// One to read.
    #[inline]
    pub fn at(&self, slot: usize) -> &[Block] {
        &self.sums[self.blocks * slot..self.blocks * (slot + 1)]
    }

    /// One to write.
    #[inline]
    pub fn at_mut(&mut self, slot: usize) -> &mut [Block] {
        &mut self.sums[self.blocks * slot..self.blocks * (slot + 1)]
    }

    /// The one two slots lower to read, and this one to write.
    #[inline]
    pub fn before_and_at(&mut self, slot: usize) -> (&[Block], &mut [Block]) {
        let (below, above) = self.sums.split_at_mut(self.blocks * slot);
        (&below[self.blocks * (slot - 2)..][..self.blocks], &mut above[..self.blocks])
    }
}
