//! The byte order mark with which some editors and tools on Windows begin a text.

const MARK: &[u8] = "\u{feff}".as_bytes();

/// The text after a byte order mark, or all of it where it begins with none.
pub fn without_byte_order_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(MARK).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_mark_at_the_beginning_is_left_out() {
        for (text, rest) in
            [("\u{feff}fen", "fen"), ("fen\u{feff}", "fen\u{feff}"), ("", ""), ("\u{feff}", "")]
        {
            assert_eq!(without_byte_order_mark(text.as_bytes()), rest.as_bytes());
        }
    }
}
