//! Tokens of a source, as far as array literals need them: comments and strings are skipped.

use std::ops::Range;

use super::language::Language;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    Word,
    Number,
    /// Any other character, or a string.
    Sign(u8),
    /// End of a `#define`.
    EndOfDefinition,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub kind: TokenKind,
    pub at: Range<usize>,
}

pub fn tokens(text: &str, language: Language) -> Vec<Token> {
    let bytes = text.as_bytes();
    let (mut tokens, mut at, mut definition) = (Vec::new(), 0, false);
    while at < bytes.len() {
        let rest = &bytes[at..];
        let (kind, length) = match rest {
            [b'\n', ..] if std::mem::take(&mut definition) => (Some(TokenKind::EndOfDefinition), 1),
            [b'\\', b'\n', ..] => (None, 2),
            [b'#', ..] if language == Language::Python => (None, line(rest)),
            [b'#', ..] if language == Language::C => {
                definition = is_definition(rest);
                (None, if definition { before_name(rest) } else { directive(rest) })
            }
            [b'#', ..] if language.has_directives() => (None, line(rest)),
            [b'\\', b'\\', ..] if language == Language::Zig => (Some(TokenKind::Sign(b'"')), line(rest)),
            [b'/', b'/', ..] if language != Language::Python => (None, line(rest)),
            [b'/', b'*', ..] if language != Language::Python => (None, until(rest, 2, b"*/")),
            [b'`', ..] if language.has_backquotes() => (Some(TokenKind::Sign(b'`')), until(rest, 1, b"`")),
            [quote @ (b'"' | b'\''), ..] => (Some(TokenKind::Sign(*quote)), string(rest, *quote, language)),
            [b'0'..=b'9', ..] => (Some(TokenKind::Number), number(rest, language)),
            [first, ..] if is_word(*first) => (Some(TokenKind::Word), word(rest)),
            [first, ..] if first.is_ascii_whitespace() => (None, 1),
            [first, ..] => (Some(TokenKind::Sign(*first)), 1),
            [] => (None, 1),
        };
        let end = (at + length.max(1)).min(bytes.len());
        tokens.extend(kind.map(|kind| Token { kind, at: at..end }));
        at = end;
    }
    if definition {
        tokens.push(Token { kind: TokenKind::EndOfDefinition, at: at..at });
    }
    tokens
}

/// Line of a place, from 1.
pub fn line_of(text: &str, at: usize) -> usize {
    1 + text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn word(rest: &[u8]) -> usize {
    rest.iter().take_while(|byte| is_word(**byte) || byte.is_ascii_digit()).count()
}

fn number(rest: &[u8], language: Language) -> usize {
    let inside = |(i, &byte): (usize, &u8)| match byte {
        b'.' => rest.get(i + 1) != Some(&b'.'),
        b'\'' => language == Language::C && rest.get(i + 1).is_some_and(u8::is_ascii_alphanumeric),
        b'+' | b'-' => matches!(rest[i.max(1) - 1], b'e' | b'E') && !rest.starts_with(b"0x"),
        byte => is_word(byte) || byte.is_ascii_digit(),
    };
    rest.iter().enumerate().take_while(|entry| inside(*entry)).count()
}

fn line(rest: &[u8]) -> usize {
    rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
}

/// Length up to and with `end`.
fn until(rest: &[u8], from: usize, end: &[u8]) -> usize {
    let found = rest[from.min(rest.len())..].windows(end.len()).position(|window| window == end);
    found.map_or(rest.len(), |at| from + at + end.len())
}

/// A directive with its continued lines.
fn directive(rest: &[u8]) -> usize {
    let mut length = line(rest);
    while length < rest.len() && rest[..length].trim_ascii_end().ends_with(b"\\") {
        length += 1 + line(&rest[length + 1..]);
    }
    length
}

/// `#define NAME value`, not a macro with arguments.
fn is_definition(rest: &[u8]) -> bool {
    let name = before_name(rest);
    let after = name + word(&rest[name..]);
    name > 0 && after > name && rest.get(after).is_some_and(|byte| matches!(byte, b' ' | b'\t'))
}

/// Length up to the name that a `#define` defines; 0 of another directive.
fn before_name(rest: &[u8]) -> usize {
    let blank =
        |from: usize| from + rest[from..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let word = blank(1);
    if rest[word..].starts_with(b"define") { blank(word + 6) } else { 0 }
}

fn string(rest: &[u8], quote: u8, language: Language) -> usize {
    if !matches!(language, Language::C | Language::Rust) && rest.starts_with(&[quote; 3]) {
        return until(rest, 3, &[quote; 3]);
    }
    // A lifetime of Rust, such as `'static`.
    if language == Language::Rust && quote == b'\'' && rest.get(1).is_some_and(|byte| is_word(*byte)) {
        let name = 1 + word(&rest[1..]);
        return if rest.get(name) == Some(&b'\'') { name + 1 } else { name };
    }
    let mut at = 1;
    while at < rest.len() && rest[at] != quote && (rest[at] != b'\n' || language == Language::Rust) {
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}
