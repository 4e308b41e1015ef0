//! Foreign text, made safe to print: tags, player names, file names, network descriptions, engine output.

use std::borrow::Cow;
use std::fmt::{self, Display, Write};

use crate::number::grouped;

/// Returns whether a character could steer a terminal or reorder the text around it.
///
/// Control characters of C0 and C1, bidirectional formatting, line and paragraph separators.
fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || character == '\u{feff}'
}

/// Replaces what could steer a terminal, such as ESC, line ends and bidirectional marks, by escapes like `\u{1b}`.
///
/// Every foreign text that reaches a terminal, a CSV file or a Markdown table goes through here.
pub fn printable(text: &str) -> Cow<'_, str> {
    replaced(text, is_unsafe, |out, character| write!(out, "{}", character.escape_default()))
}

/// Replaces the same characters as [`printable`] in our own text of several lines: line ends and tabs stay.
///
/// The last barrier before a terminal: foreign text in it that may hold line ends goes through [`printable`] first.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    let steers = |character| is_unsafe(character) && !matches!(character, '\n' | '\t');
    replaced(text, steers, |out, character| write!(out, "{}", character.escape_default()))
}

/// Replaces the same characters in JSON, where they stand inside of strings alone, by its own escapes: the value stays.
pub fn printable_json(json: &str) -> Cow<'_, str> {
    let steers = |character| is_unsafe(character) && character != '\n';
    replaced(json, steers, |out, character| write!(out, "\\u{:04x}", u32::from(character)))
}

fn replaced(
    text: &str,
    steers: impl Fn(char) -> bool,
    escape: impl Fn(&mut String, char) -> fmt::Result,
) -> Cow<'_, str> {
    if !text.contains(&steers) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if steers(character) {
            let _ = escape(&mut out, character);
        } else {
            out.push(character);
        }
    }
    Cow::Owned(out)
}

/// Displays a value as [`printable`] text.
#[derive(Debug, Clone, Copy)]
pub struct Printable<T>(pub T);

impl<T: Display> Display for Printable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        struct Escape<'a, 'b>(&'a mut fmt::Formatter<'b>);
        impl Write for Escape<'_, '_> {
            fn write_str(&mut self, text: &str) -> fmt::Result {
                self.0.write_str(&printable(text))
            }
        }
        write!(Escape(f), "{}", self.0)
    }
}

/// Shortens text for a message to `most` characters, the last of which then is an ellipsis.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        None => Cow::Borrowed(text),
        Some(_) => Cow::Owned(text.chars().take(most.saturating_sub(1)).chain(['…']).collect()),
    }
}

/// Lists names for a message: the first of them, and the number of the others.
pub fn few_names<S: AsRef<str>>(names: &[S]) -> String {
    const NAMED: usize = 8;
    const LONGEST: usize = 60;
    let first: Vec<_> = names.iter().take(NAMED).map(|name| shortened(name.as_ref(), LONGEST)).collect();
    match names.len().saturating_sub(NAMED) {
        0 => first.join(", "),
        more => format!("{} and {} more", first.join(", "), grouped(more as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_is_left() {
        let foreign = "a\u{1b}[31m\r\nb\u{202e}c\u{9b}2J\u{7f}\t\u{0}";
        let text = printable(foreign);
        assert_eq!(text, "a\\u{1b}[31m\\r\\nb\\u{202e}c\\u{9b}2J\\u{7f}\\t\\u{0}");
        assert_eq!(Printable(foreign).to_string(), text);
        assert!(matches!(printable("Šachy – 棋 é"), Cow::Borrowed("Šachy – 棋 é")));
        let lines = "a\tb\nc\r\u{1b}[2J\n";
        assert_eq!(printable_lines(lines), "a\tb\nc\\r\\u{1b}[2J\n");
    }

    #[test]
    fn names_and_texts_of_any_length_are_short_in_messages() {
        let names: Vec<String> = (0..1010).map(|index| format!("c{index}")).collect();
        assert_eq!(few_names(&names[..3]), "c0, c1, c2");
        assert_eq!(few_names(&names), "c0, c1, c2, c3, c4, c5, c6, c7 and 1,002 more");
        assert_eq!(few_names(&["é".repeat(70)]), "é".repeat(59) + "…");
        assert_eq!((shortened("éé", 2), shortened("ééé", 2)), ("éé".into(), "é…".into()));
    }

    #[test]
    fn json_keeps_its_value() {
        let value = serde_json::json!({ "name": "a\u{1b}\u{202e}\u{9b}\u{7f}\u{feff}é\n", "n": [1] });
        let text = serde_json::to_string_pretty(&value).unwrap();
        let json = printable_json(&text);
        assert!(!json.contains(|c| is_unsafe(c) && c != '\n'), "{json}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap(), value);
    }
}
