//! Standing of a match, and its numbers as C++ writes them.

use patzer_match::Tally;
use patzer_stats::{Sprt, Verdict};

/// Standing of a match of two players.
pub struct MatchStatus<'a> {
    pub names: [&'a str; 2],
    pub conditions: &'a str,
    /// From the first player's side.
    pub tally: &'a Tally,
    pub test: Option<(Sprt, f64)>,
    /// True if the statistics count pairs, not games.
    pub by_pairs: bool,
}

pub(super) fn accepted(sprt: &Sprt, llr: f64) -> Option<&'static str> {
    match sprt.verdict(llr) {
        Verdict::H1 => Some("H1"),
        Verdict::H0 => Some("H0"),
        Verdict::Undecided => None,
    }
}

pub(super) fn percent(sprt: &Sprt, llr: f64) -> f64 {
    100.0 * llr / if llr < 0.0 { -sprt.lower() } else { sprt.upper() }
}

/// Formats a number as C++ does: `nan` without sign.
pub(super) fn number(value: f64, digits: usize) -> String {
    if value.is_nan() { "nan".into() } else { format!("{value:.digits$}") }
}

/// Formats an error as C++ does: an infinite one is `nan`.
pub(super) fn error(value: f64, digits: usize) -> String {
    number(if value.is_finite() { value } else { f64::NAN }, digits)
}
