//! Drops positions from which the game went on with a capture.
//!
//! In: a sample's flags. Out: keep or drop. The narrowest window before a capture: that of one ply.

use super::{Filter, Sample};
use crate::positions::flags;

/// Positions whose played move captures.
#[derive(Debug, Clone, Copy)]
pub struct Capture;

impl Filter for Capture {
    fn keeps(&self, sample: &Sample) -> bool {
        !sample.has(flags::CAPTURE)
    }
}
