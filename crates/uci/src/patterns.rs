//! Patterns of what engines write, and the numbers in it.

use regex::bytes::Regex;

/// A pattern of this program.
pub fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("patterns of this program are valid")
}

/// The number in the first group of the first pattern that matches.
pub fn number_in(patterns: &[Regex], line: &[u8]) -> Option<u64> {
    number(&patterns.iter().find_map(|pattern| pattern.captures(line))?[1])
}

pub fn number(bytes: &[u8]) -> Option<u64> {
    std::str::from_utf8(bytes).ok()?.parse().ok()
}
