//! Drops positions in the window before a check.
//!
//! In: a sample with `to_check`, the plies until the next check is given (0 = the next move gives it).
//! Out: keep or drop. Source: zurichess, "Choosing positions for Texel's Tuning Method" (2016).

use super::{Filter, Sample};

/// Positions from which a check is given within `plies` plies, counting the checking move as the first.
#[derive(Debug, Clone, Copy)]
pub struct BeforeCheck {
    /// Window length in plies; 5 in the presets.
    pub plies: u8,
}

impl Filter for BeforeCheck {
    fn keeps(&self, sample: &Sample) -> bool {
        sample.to_check >= self.plies
    }
}
