//! Drops positions of drawn games.
//!
//! In: a sample's result. Out: keep or drop. Source: zurichess, "Choosing positions for Texel's Tuning Method"
//! (2016).

use super::registry::{Make, Row};
use super::{Filter, Sample};

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "draws",
    doc: "the game was drawn",
    parameters: &[],
    make: Make::Position(|_| Box::new(Draws)),
};

/// Positions of games that nobody won.
#[derive(Debug, Clone, Copy)]
struct Draws;

impl Filter for Draws {
    #[inline]
    fn keeps(&self, sample: &Sample) -> bool {
        sample.result != 0
    }
}
