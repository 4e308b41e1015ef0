//! Checks the score and the notation of an engine's answer, with the warnings of fastchess.

use super::parse::{said, words};
use super::pv_check::{bounded, is_main, is_uci};

/// Warning of a search whose last score is missing or not understood.
pub(crate) fn warning(infos: &[Vec<u8>], name: &str) -> Option<String> {
    let has_score = |line: &&Vec<u8>| is_main(line) && score_of(line).is_some();
    let mut scored = infos.iter().rev().filter(has_score);
    let last = scored.clone().next();
    let Some(line) = scored.find(|line| !bounded(line)).or(last) else {
        return Some(format!("Warning; No info line available to extract score from engine {name}"));
    };
    let value = score_of(line).unwrap_or_default();
    let reason = match value[..] {
        [b"cp" | b"mate", value] => match std::str::from_utf8(value).ok().and_then(|v| v.parse::<i64>().ok())
        {
            Some(_) => return None,
            None => format!("Invalid score value: {}", said(value)),
        },
        [_, _] => format!("Unexpected score type: {}", said(line)),
        _ => "Element 'score' has no type or value".into(),
    };
    Some(format!("Warning; Could not extract score from engine {name}: {reason}"))
}

/// The words after `score`, two at most; `None` without it.
fn score_of(line: &[u8]) -> Option<Vec<&[u8]>> {
    let mut fields = words(line);
    fields.find(|word| matches!(*word, b"score" | b"string")).filter(|word| *word == b"score")?;
    Some(fields.take(2).collect())
}

/// Warning of a best move in another notation than UCI's.
pub(crate) fn notation(word: &[u8], name: &str) -> Option<String> {
    let what = "Move does not match uci move format, lowercase and 4/5 chars. Move";
    (!word.is_empty() && !is_uci(word)).then(|| format!("Warning; {what} {} played by {name}", said(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_exact_score_is_a_number() {
        let found = |infos: &[&str]| {
            let infos: Vec<Vec<u8>> = infos.iter().map(|info| info.as_bytes().to_vec()).collect();
            warning(&infos, "E").unwrap_or_default().replace("Warning; ", "")
        };
        let none = "No info line available to extract score from engine E";
        for (infos, says) in [
            (&["info depth 1 score cp 12 pv e2e4"][..], ""),
            (&["info depth 1 score mate -3", "info string score x"], ""),
            (&["info depth 1 score x", "info depth 2 score cp 1 nodes 3"], ""),
            (&["info depth 1 score cp 3", "info depth 2 score cp x lowerbound"], ""),
            (&["info string hello"], none),
            (&["info depth 1 pv e2e4"], none),
            (&["info depth 1 multipv 2 score cp 1"], none),
            (&["info score cp x pv e2e4"], "Could not extract score from engine E: Invalid score value: x"),
            (
                &["info score pawns 1 pv e2e4"],
                "Could not extract score from engine E: Unexpected score type: info score pawns 1 pv e2e4",
            ),
            (
                &["info depth 1 score cp"],
                "Could not extract score from engine E: Element 'score' has no type or value",
            ),
        ] {
            assert_eq!(found(infos), says, "{infos:?}");
        }
    }

    #[test]
    fn a_move_in_capitals_or_in_san_is_not_in_the_notation_of_uci() {
        for word in ["e7e8Q", "E2E4", "e4", "0000", "e2e4e5"] {
            assert!(notation(word.as_bytes(), "E").unwrap().contains(&format!("Move {word} played by E")));
        }
        for word in ["e2e4", "e7e8q", ""] {
            assert_eq!(notation(word.as_bytes(), "E"), None);
        }
    }
}
