//! PGN tag pairs. Tolerant: an unterminated value ends with its line, and a quote within a value need not be escaped.

use std::borrow::Cow;

use memchr::{memchr, memchr3};

/// The tag section of one game.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tags<'a>(&'a [u8]);

impl<'a> Tags<'a> {
    pub fn new(text: &'a [u8]) -> Tags<'a> {
        Tags(text)
    }

    pub fn get(&self, name: &str) -> Option<Cow<'a, [u8]>> {
        self.iter().filter(|(n, _)| *n == name.as_bytes()).last().map(|(_, value)| unescaped(value))
    }

    /// The value of a tag as text: UTF-8, or else Latin-1; empty if it is missing.
    pub fn text(&self, name: &str) -> String {
        decoded(&self.get(name).unwrap_or_default()).into_owned()
    }

    pub fn iter(&self) -> Iter<'a> {
        Iter(self.0)
    }
}

/// Iterator over names and raw values; see [`Tags::iter`].
#[derive(Debug, Clone)]
pub struct Iter<'a>(&'a [u8]);

impl<'a> Iterator for Iter<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match memchr3(b'[', b'%', b';', self.0) {
                Some(at) if self.0[at] == b'[' => self.0 = &self.0[at + 1..],
                Some(at) => {
                    self.0 = after_line(&self.0[at..]);
                    continue;
                }
                None => return None,
            }
            let text = self.0.trim_ascii_start();
            let name = text.iter().take_while(|b| !b.is_ascii_whitespace() && !matches!(b, b'"' | b']'));
            let (name, rest) = text.split_at(name.count());
            let rest = &rest[rest.iter().take_while(|b| **b == b' ' || **b == b'\t').count()..];
            let Some(quoted) = rest.strip_prefix(b"\"") else {
                // Skip `[White Smith]`: meant as a tag, but not reliable.
                self.0 = rest;
                continue;
            };
            let length = value_length(quoted);
            let (value, rest) = quoted.split_at(length);
            // The rest of the line, up to another tag, is ignored.
            self.0 = rest.strip_prefix(b"\"").unwrap_or(rest);
            if !name.is_empty() {
                return Some((name, value));
            }
        }
    }
}

/// Length of a value up to the quote that ends it: the first that nothing but the end of a tag follows, or else the first.
fn value_length(text: &[u8]) -> usize {
    let (mut at, mut first) = (0, None);
    while let Some(next) = memchr3(b'"', b'\n', b'\\', &text[at..]) {
        let here = at + next;
        match text[here] {
            b'\\' if matches!(text.get(here + 1), Some(b'"' | b'\\')) => at = here + 2,
            b'\\' => at = here + 1,
            b'"' if !ends_tag(&text[here + 1..]) => {
                first = first.or(Some(here));
                at = here + 1;
            }
            b'"' => return here,
            _ => return first.unwrap_or(here),
        }
    }
    first.unwrap_or(text.len())
}

fn ends_tag(text: &[u8]) -> bool {
    let blanks = text.iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\r')).count();
    matches!(text.get(blanks), None | Some(b']' | b'[' | b'\n'))
}

/// Unescapes a raw tag value and reads it as UTF-8, or else as Latin-1.
pub fn plain(value: &[u8]) -> Cow<'_, str> {
    match unescaped(value) {
        Cow::Borrowed(value) => decoded(value),
        Cow::Owned(value) => Cow::Owned(decoded(&value).into_owned()),
    }
}

/// Text as UTF-8, or else as Latin-1.
pub(crate) fn decoded(text: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(text) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(text.iter().map(|&byte| char::from(byte)).collect()),
    }
}

pub(crate) fn unescaped(value: &[u8]) -> Cow<'_, [u8]> {
    if memchr(b'\\', value).is_none() {
        return Cow::Borrowed(value);
    }
    let mut plain = Vec::with_capacity(value.len());
    let mut bytes = value.iter();
    while let Some(byte) = bytes.next() {
        match (byte, bytes.as_slice().first()) {
            (b'\\', Some(next @ (b'"' | b'\\'))) => {
                plain.push(*next);
                bytes.next();
            }
            _ => plain.push(*byte),
        }
    }
    Cow::Owned(plain)
}

fn after_line(text: &[u8]) -> &[u8] {
    memchr(b'\n', text).map_or(&[], |at| &text[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_read_in_order() {
        let text = "\u{feff}[White \"M\\\"x\\\\y\"]\r\n%[Black \"no\"]\n[ Site  \"a [b] \"][Round \"1\"]\n\n[Result \"1-0\"]";
        let tags = Tags::new(text.as_bytes());
        assert_eq!(tags.iter().count(), 4);
        assert_eq!(tags.get("White").as_deref(), Some(&b"M\"x\\y"[..]));
        assert_eq!(tags.get("Site").as_deref(), Some(&b"a [b] "[..]));
        assert_eq!(tags.get("Round").as_deref(), Some(&b"1"[..]));
        assert_eq!(tags.get("Result").as_deref(), Some(&b"1-0"[..]));
        assert_eq!(tags.get("Black"), None);
    }

    #[test]
    fn values_that_are_not_utf_8_are_latin_1() {
        for name in [&b"J\xfcrgen"[..], "J\u{fc}rgen".as_bytes()] {
            let text = [b"[White \"", name, b"\"]"].concat();
            assert_eq!(Tags::new(&text).text("White"), "Jürgen");
            assert_eq!(plain(name), "Jürgen");
        }
    }

    #[test]
    fn a_quote_within_a_value_is_part_of_it() {
        for (text, values) in [
            ("[White \"Smith \"The King\"\"]", &["Smith \"The King\""][..]),
            ("[Black \"\"Mephisto\"\"]\r\n", &["\"Mephisto\""]),
            ("[White \"A\"] [Black \"B \"b\" C\"]", &["A", "B \"b\" C"]),
            ("[White \"A\" [Black \"B\"  \n", &["A", "B"]),
            ("[White \"A\" and more\n[Black \"B\"]", &["A", "B"]),
            ("[White \"a \\\"b\\\" c\"]", &["a \\\"b\\\" c"]),
        ] {
            let found: Vec<_> = Tags::new(text.as_bytes()).iter().map(|(_, value)| value).collect();
            assert_eq!(found, values.iter().map(|value| value.as_bytes()).collect::<Vec<_>>(), "{text}");
        }
    }

    #[test]
    fn an_unterminated_value_ends_with_its_line_and_one_without_a_name_is_no_tag() {
        let tags = Tags::new(b"[White Smith]\n[ \"1-0\"]\n[Site \"nowh\n[Result \"0-1\"]\n[Event \"\n");
        let all: Vec<_> = tags.iter().collect();
        assert_eq!(all, [(&b"Site"[..], &b"nowh"[..]), (b"Result", b"0-1"), (b"Event", b"")]);
    }
}
