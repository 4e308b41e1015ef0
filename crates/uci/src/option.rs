//! UCI options. Values are checked here: an engine ignores a bad value silently.

use std::io::Write;

use super::parse::{joined, shown};
use patzer_io::message_error;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UciOption {
    pub name: String,
    /// Value if it is not set; empty if the engine does not declare one.
    pub default: String,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Button,
    Check,
    Spin(i64, i64),
    Combo(Vec<String>),
    Text,
}

message_error!(OptionError);

/// An option that is a whole number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spin {
    pub name: String,
    pub default: i64,
    /// `i64::MIN` if the engine declares no least value.
    pub min: i64,
    /// `i64::MAX` if the engine declares no most value.
    pub max: i64,
}

impl UciOption {
    /// Parses `NAME… type TYPE …`, the words after `option name`.
    pub fn parse<'a>(words: impl Iterator<Item = &'a [u8]>) -> Option<UciOption> {
        let words: Vec<&[u8]> = words.collect();
        let at = words.iter().position(|word| *word == b"type")?;
        let (name, rest) = (joined(words[..at].iter().copied()), &words[at + 1..]);
        let number = |key: &[u8]| {
            let at = rest.iter().position(|word| *word == key)?;
            std::str::from_utf8(rest.get(at + 1)?).ok()?.parse().ok()
        };
        let kind = match rest.first() {
            Some(&b"button") => Kind::Button,
            Some(&b"check") => Kind::Check,
            Some(&b"spin") => {
                Kind::Spin(number(b"min").unwrap_or(i64::MIN), number(b"max").unwrap_or(i64::MAX))
            }
            Some(&b"combo") => {
                let choices = rest.split(|word| *word == b"var").skip(1);
                Kind::Combo(choices.map(|words| joined(words.iter().copied())).collect())
            }
            _ => Kind::Text,
        };
        let default = rest.split(|word| *word == b"default").nth(1).unwrap_or_default();
        let default = default.iter().take_while(|word| !matches!(**word, b"min" | b"max" | b"var"));
        Some(UciOption { name, default: joined(default.copied()), kind })
    }

    /// The option as a number; `None` if it is none, or has no default that is one.
    pub fn spin(&self) -> Option<Spin> {
        let Kind::Spin(min, max) = self.kind else { return None };
        Some(Spin { name: self.name.clone(), default: self.default.parse().ok()?, min, max })
    }

    /// Sets a number, a switch or a choice to its default; leaves texts and buttons alone, and what has no default.
    pub fn set_to_default(&self, out: &mut Vec<u8>) -> Result<(), OptionError> {
        match self.kind {
            Kind::Button | Kind::Text => Ok(()),
            _ if self.default.is_empty() => Ok(()),
            _ => self.set(&self.default, out),
        }
    }

    pub fn set(&self, value: &str, out: &mut Vec<u8>) -> Result<(), OptionError> {
        let name = &self.name;
        let takes = |accepts: String| {
            let value = shown(value.as_bytes());
            Err(OptionError(format!("option `{name}` takes {accepts}, not `{value}`")))
        };
        if value.contains(['\n', '\r']) {
            return takes("one line".to_string());
        }
        match &self.kind {
            Kind::Button => {
                if matches!(value, "" | "true") {
                    let _ = writeln!(out, "setoption name {name}");
                }
                let valid = matches!(value, "" | "true" | "false");
                return if valid { Ok(()) } else { takes("true or false".into()) };
            }
            Kind::Check if !matches!(value, "true" | "false") => return takes("true or false".into()),
            Kind::Spin(min, max) if !value.parse().is_ok_and(|n| (min..=max).contains(&&n)) => {
                return takes(format!("a number from {min} to {max}"));
            }
            Kind::Combo(choices) if !choices.iter().any(|choice| choice.eq_ignore_ascii_case(value)) => {
                return takes(format!("one of: {}", choices.join(", ")));
            }
            _ => {}
        }
        let _ = writeln!(out, "setoption name {name} value {value}");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::words;

    fn set(declared: &str, value: &str) -> Result<String, OptionError> {
        let mut out = Vec::new();
        let declared = UciOption::parse(words(declared.as_bytes())).unwrap();
        declared.set(value, &mut out).map(|()| String::from_utf8(out).unwrap())
    }

    #[test]
    fn defaults_are_read_as_declared() {
        for (declared, default) in [
            ("Hash type spin default 16 min 1 max 33554432", "16"),
            ("Style type combo default Very Risky var Solid var Very Risky", "Very Risky"),
            ("Clear Hash type button", ""),
        ] {
            assert_eq!(UciOption::parse(words(declared.as_bytes())).unwrap().default, default);
        }
    }

    #[test]
    fn values_that_an_option_can_have_are_set() {
        for (declared, value, command) in [
            ("Hash type spin default 16 min 1 max 33554432", "64", "setoption name Hash value 64\n"),
            ("Ponder type check default false", "true", "setoption name Ponder value true\n"),
            ("Clear Hash type button", "true", "setoption name Clear Hash\n"),
            ("Clear Hash type button", "false", ""),
            (
                "Style type combo default Normal var Solid var Very Risky var Normal",
                "very risky",
                "setoption name Style value very risky\n",
            ),
            (
                "EvalFile type string default <empty>",
                "a net.nnue",
                "setoption name EvalFile value a net.nnue\n",
            ),
            ("Odd type", "7", "setoption name Odd value 7\n"),
        ] {
            assert_eq!(set(declared, value).unwrap(), command);
        }
    }

    #[test]
    fn values_that_an_option_cannot_have_are_refused() {
        for (declared, value, says) in [
            ("Hash type spin default 16 min 1 max 1024", "2048", "takes a number from 1 to 1024, not `2048`"),
            ("Hash type spin default 16 min 1 max 1024", "big", "not `big`"),
            ("Ponder type check default false", "1", "true or false"),
            ("Clear Hash type button", "now", "true or false"),
            ("Style type combo default Normal var Solid var Normal", "Risky", "one of: Solid, Normal"),
            ("EvalFile type string default <empty>", "a\nquit", "one line"),
        ] {
            let error = set(declared, value).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
