//! Counts the moves that a movetext claims to hold.
//!
//! In: one game's movetext. Out: how many tokens of the mainline stand where a move has to stand. The PGN reader
//! passes over tokens that it cannot read without saying so, and ends a game at a blank line; comparing this
//! count with the moves that were played shows both.

/// What a movetext holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// Tokens of the mainline that can only be meant as moves.
    pub moves: usize,
    /// A comment is never closed.
    pub open_comment: bool,
    /// A variation is never closed, or one is closed that was never opened.
    pub unbalanced: bool,
}

/// Counts the tokens of a movetext's mainline.
pub fn count(movetext: &[u8]) -> Count {
    walk(movetext, |_| {})
}

/// The first mainline token that cannot be a move for its form alone, for a message.
pub fn first_unreadable(movetext: &[u8]) -> Option<String> {
    let mut first = None;
    walk(movetext, |token| {
        if first.is_none() && shakmaty::san::SanPlus::from_ascii(token).is_err() {
            let text: String = String::from_utf8_lossy(token).chars().take(20).collect();
            first = Some(text.escape_debug().to_string());
        }
    });
    first
}

/// Calls `each` for every mainline token that claims to be a move, and counts them.
fn walk(text: &[u8], mut each: impl FnMut(&[u8])) -> Count {
    let mut found = Count::default();
    let (mut at, mut depth) = (0, 0usize);
    while let Some(&byte) = text.get(at) {
        match byte {
            b' ' | b'\t' | b'\r' | b'.' | b'!' | b'?' | b'*' => at += 1,
            b'\n' if text.get(at + 1) == Some(&b'%') => at = end_of_line(text, at + 1),
            b'\n' => at += 1,
            b'{' => match memchr::memchr(b'}', &text[at..]) {
                Some(length) => at += length + 1,
                None => {
                    found.open_comment = true;
                    break;
                }
            },
            b';' => at = end_of_line(text, at),
            b'(' => {
                depth += 1;
                at += 1;
            }
            b')' => {
                found.unbalanced |= depth == 0;
                depth = depth.saturating_sub(1);
                at += 1;
            }
            b'$' => at = token_end(text, at + 1),
            _ => {
                let end = if byte.is_ascii_digit() || byte == 0xc2 {
                    number_end(text, at)
                } else {
                    token_end(text, at + 1)
                };
                if depth == 0 && claims_a_move(&text[at..end], text.get(end)) {
                    found.moves += 1;
                    each(&text[at..end]);
                }
                at = end;
            }
        }
    }
    found.unbalanced |= depth > 0;
    found
}

/// Whether a token stands for a move: not a number, a result, or the note "e.p." on an en passant capture.
fn claims_a_move(token: &[u8], next: Option<&u8>) -> bool {
    match token {
        [b'0', b'-', b'0', ..] => true,
        [b'0'..=b'9' | 0xc2, ..] => false,
        [b'e' | b'p'] => next != Some(&b'.'),
        _ => token != b"ep",
    }
}

/// The end of a move number, or of a result or castling that begins with a digit.
fn number_end(text: &[u8], start: usize) -> usize {
    let end = start + text[start..].iter().take_while(|b| b.is_ascii_digit()).count();
    match text.get(end) {
        Some(b'-' | b'/' | 0xc2 | 0xe2) => token_end(text, end),
        _ => end,
    }
}

fn end_of_line(text: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |length| at + length)
}

fn token_end(text: &[u8], at: usize) -> usize {
    let ends = |b: &u8| {
        matches!(
            b,
            b' ' | b'\t'
                | b'\n'
                | b'\r'
                | b'{'
                | b'}'
                | b'('
                | b')'
                | b'!'
                | b'?'
                | b'$'
                | b';'
                | b'.'
                | b'*'
        )
    };
    text[at..].iter().position(ends).map_or(text.len(), |length| at + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_mainline_moves_count() {
        for (text, moves) in [
            ("1. e4 e5 2. Nf3 Nc6 1-0", 4),
            ("1.e4 e5 2.Nf3! $5 Nc6?! {d4 d5} (2... d6 (2... f5) {)} 3. d4) 3. Bb5 1/2-1/2", 5),
            ("1. e4 ; e5 c5\n% d5\n1... e5 0-1", 2),
            ("1. d4 d5 2. e4 dxe4 3. 0-0-0 0-0+ *", 6),
            ("½-½", 0),
            ("1–0", 0),
            ("5. exd6 e.p. Nc6", 2),
            ("", 0),
        ] {
            assert_eq!(count(text.as_bytes()), Count { moves, ..Count::default() }, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_read_still_counts() {
        assert_eq!(count(b"1. e4 Zz9 2. Nf3 Nc6").moves, 4);
        assert_eq!(first_unreadable(b"1. e4 Zz9 2. Nf3 Nc6"), Some("Zz9".into()));
        assert_eq!(first_unreadable(b"1. e4 e5"), None);
    }

    #[test]
    fn what_is_never_closed_is_seen() {
        assert!(count(b"1. e4 {oh").open_comment);
        assert!(count(b"1. e4 (1. d4").unbalanced);
        assert!(count(b"1. e4 1. d4) e5").unbalanced);
    }
}
