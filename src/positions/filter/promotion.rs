//! Drops positions from which the game went on with a promotion.
//!
//! In: a sample's flags. Out: keep or drop.

use super::{Filter, Sample};
use crate::positions::flags;

/// Positions whose played move promotes.
#[derive(Debug, Clone, Copy)]
pub struct Promotion;

impl Filter for Promotion {
    fn keeps(&self, sample: &Sample) -> bool {
        !sample.has(flags::PROMOTION)
    }
}
