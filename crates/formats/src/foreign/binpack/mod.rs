//! Stockfish's binpack: chains of moves and score differences.
//!
//! Blocks of `BINP`, a length (u32, little-endian) and chains. A chain is a stem (position, move, score, ply and
//! result in 32 bytes), a count (u16, big-endian), and as many plies of a few bits each: piece, move of the piece,
//! score difference. Scores and results are from the side to move; the score 32002 means none. Source: the crate
//! `sfbinpack`, which the tests compare with, and the description in Stockfish's tools.

mod bits;
mod moves;
mod reader;
mod stem;
mod writer;

pub use reader::Reader;
pub use writer::{Writer, encode};

pub const MAGIC: &[u8; 4] = b"BINP";

/// Stockfish's `VALUE_NONE`.
pub(super) const NO_SCORE: i16 = 32_002;

/// Longest accepted block in bytes; writers end theirs after about a million.
const LONGEST_BLOCK: u32 = 100 << 20;

fn score(bits: i16) -> Option<i16> {
    (bits != NO_SCORE).then_some(bits)
}
