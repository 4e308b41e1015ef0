//! Stockfish's binpack: chains of positions, each given by its move and the change of score.
//!
//! In and out: blocks of `BINP`, a length (u32, little-endian) and chains. A chain is a position with move, score,
//! ply and result in 32 bytes, a count (u16, big-endian), and that many plies of a few bits each: which piece, which
//! of its moves, how the score differs from the one before. Scores and results are from the side to move; the score
//! 32002 says that there is none. Source: the crate `sfbinpack`, which the tests compare with, and the format's
//! description in Stockfish's tools.

mod bits;
mod moves;
mod reader;
mod stem;
mod writer;

pub use reader::Reader;
pub use writer::Writer;

/// The first bytes of a block.
pub const MAGIC: &[u8; 4] = b"BINP";

/// The score that stands for none (Stockfish's `VALUE_NONE`).
pub(super) const NO_SCORE: i16 = 32_002;

/// The longest block that is believed, in bytes; writers end theirs after about a million.
const LONGEST_BLOCK: u32 = 100 << 20;

fn score(bits: i16) -> Option<i16> {
    (bits != NO_SCORE).then_some(bits)
}
