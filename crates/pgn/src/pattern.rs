//! Patterns for tag values: the whole value, ignoring case, with `*` for any text.

use serde::{Deserialize, Serialize};

/// A pattern for a tag value: `Stockfish 17`, `Stockfish*`, `2026.*`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pattern(String);

impl Pattern {
    pub fn new(text: &str) -> Pattern {
        Pattern(text.trim().to_lowercase())
    }

    pub fn text(&self) -> &str {
        &self.0
    }

    pub fn matches(&self, value: &str) -> bool {
        let value = value.trim().to_lowercase();
        let Some((first, rest)) = self.0.split_once('*') else { return self.0 == value };
        let Some(mut value) = value.strip_prefix(first) else { return false };
        let mut parts = rest.split('*').peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                return value.ends_with(part);
            }
            match value.find(part) {
                Some(at) => value = &value[at + part.len()..],
                None => return false,
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_the_whole_value_but_for_its_stars() {
        for (pattern, value, expected) in [
            ("Stockfish 17", "stockfish 17 ", true),
            ("Stockfish", "Stockfish 17", false),
            ("stockfish*", "Stockfish 17", true),
            ("*17", "Stockfish 17", true),
            ("*fish*", "Stockfish 17", true),
            ("s*k*7", "Stockfish 17", true),
            ("ab*ba", "aba", false),
            ("*", "", true),
            ("", "x", false),
            ("*é*", "CAFÉ x", true),
        ] {
            assert_eq!(Pattern::new(pattern).matches(value), expected, "{pattern} {value}");
        }
    }
}
