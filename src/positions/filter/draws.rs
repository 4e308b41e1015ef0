//! Drops positions of drawn games.
//!
//! In: a sample's result. Out: keep or drop. Source: zurichess, "Choosing positions for Texel's Tuning Method"
//! (2016).

use super::{Filter, Sample};

/// Positions of games that nobody won.
#[derive(Debug, Clone, Copy)]
pub struct Draws;

impl Filter for Draws {
    fn keeps(&self, sample: &Sample) -> bool {
        sample.result != 0
    }
}
