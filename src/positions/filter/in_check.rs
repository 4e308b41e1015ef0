//! Drops positions in which the side to move is in check.
//!
//! In: a sample's flags. Out: keep or drop. A static evaluation says nothing about a position in check.

use super::{Filter, Sample};
use crate::positions::flags;

/// Positions with the side to move in check.
#[derive(Debug, Clone, Copy)]
pub struct InCheck;

impl Filter for InCheck {
    fn keeps(&self, sample: &Sample) -> bool {
        !sample.has(flags::IN_CHECK)
    }
}
