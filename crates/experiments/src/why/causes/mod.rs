//! Causes by kind of evidence: each gives the player at fault and a sentence, where it stands out.

pub(super) mod games;
pub(super) mod scores;
pub(super) mod search;

/// Standard errors beyond which a difference stands out.
const CLEAR: f64 = 5.0;

/// Tests a ratio that differs from 1 by this factor, either way.
fn beyond(ratio: f64, factor: f64) -> bool {
    ratio > factor || ratio < 1.0 / factor
}
