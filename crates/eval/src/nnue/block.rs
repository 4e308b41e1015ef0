//! Blocks of weights or sums: a cache line each.

/// Weights in a block: one cache line.
pub const LANES: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Block(pub [i16; LANES]);

impl Block {
    pub const ZERO: Block = Block([0; LANES]);
}
