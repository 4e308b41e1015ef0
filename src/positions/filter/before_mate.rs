//! Drops positions in the window before checkmate.
//!
//! In: a sample of a game that may end in checkmate, with `to_end`, the plies until its last move (0 = the next).
//! Out: keep or drop. Source: zurichess, "Choosing positions for Texel's Tuning Method" (2016).

use super::{Filter, Sample};
use crate::positions::flags;

/// Positions from which checkmate is given within `plies` plies, counting the mating move as the first.
#[derive(Debug, Clone, Copy)]
pub struct BeforeMate {
    /// Window length in plies; 5 in the presets.
    pub plies: u8,
}

impl Filter for BeforeMate {
    fn keeps(&self, sample: &Sample) -> bool {
        !sample.has(flags::MATE_END) || sample.to_end >= self.plies
    }
}
