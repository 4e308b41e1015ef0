//! Drops positions in the window before a capture.
//!
//! In: a sample with `to_capture`, the plies until the next capture is played (0 = the next move).
//! Out: keep or drop. Source: zurichess, "Choosing positions for Texel's Tuning Method" (2016).

use super::{Filter, Sample};

/// Positions from which a capture is played within `plies` plies, counting the capturing move as the first.
#[derive(Debug, Clone, Copy)]
pub struct BeforeCapture {
    /// Window length in plies; 5 in the `quiet` preset.
    pub plies: u8,
}

impl Filter for BeforeCapture {
    fn keeps(&self, sample: &Sample) -> bool {
        sample.to_capture >= self.plies
    }
}
