//! Operations of EPD that say something of a dataset's position: `hmvc`, `fmvn`, `ce`, `dm` and `acd`.
//!
//! Source: Edwards, "Portable Game Notation Specification and Implementation Guide" (1994), section 16.2.5.

use crate::Record;
use crate::fen::LineError;
use patzer_chess::score::{MATE, mate_in};

/// The standard's centipawns of a mate at once; scores beyond 32,000 are mates, a ply less each.
const STANDARD_MATE: i32 = 32_767;
const STANDARD_LONGEST_MATE: i32 = 32_000;

/// Values of the operations; scores are from the side to move.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Operations {
    pub halfmove: Option<u32>,
    pub fullmove: Option<u32>,
    pub score: Option<i16>,
    pub depth: Option<u8>,
}

impl Operations {
    /// Reads the operations after the fields of a position. Other codes are skipped.
    pub fn parse(rest: &[u8]) -> std::result::Result<Operations, LineError> {
        let (mut read, mut mate) = (Operations::default(), None);
        let mut quoted = false;
        let ends = |byte: &u8| {
            quoted ^= *byte == b'"';
            *byte == b';' && !quoted
        };
        for operation in rest.split(ends) {
            let operation = operation.trim_ascii();
            let end = operation.iter().position(u8::is_ascii_whitespace).unwrap_or(operation.len());
            let (code, operand) = operation.split_at(end);
            match code {
                b"hmvc" => read.halfmove = Some(number("hmvc", operand, 0..=u32::MAX)?),
                b"fmvn" => read.fullmove = Some(number("fmvn", operand, 0..=u32::MAX)?),
                b"ce" => read.score = Some(score(number("ce", operand, -STANDARD_MATE..=STANDARD_MATE)?)),
                b"dm" => mate = Some(mate_in(2 * number("dm", operand, 1..=500)? - 1) as i16),
                b"acd" => read.depth = Some(number("acd", operand, 0..=u8::MAX)?),
                _ => {}
            }
        }
        read.score = mate.or(read.score);
        Ok(read)
    }

    /// Sets the counters that a FEN of `fields` fields lacks, and the ply that follows from them.
    pub fn set_counters(&self, record: &mut Record, fields: usize) {
        if let (Some(halfmove), ..5) = (self.halfmove, fields) {
            record.halfmove = halfmove.min(255) as u8;
        }
        if let (Some(fullmove), ..6) = (self.fullmove, fields) {
            record.fullmove = fullmove.clamp(1, u32::from(u16::MAX)) as u16;
            record.ply = record.game_ply().min(u32::from(u16::MAX)) as u16;
        }
    }
}

/// Reads the result among quotes and brackets: the operand of `c9`, else the text in brackets outside quotes, else the
/// first quoted text that is a result. `id` has none, since names of positions may look like results.
pub fn result<T>(rest: &[u8], read: impl Fn(&[u8]) -> Option<T>) -> Option<T> {
    if let Some((_, text)) = quoted(rest).find(|(before, _)| ends_with_code(before, b"c9")) {
        return read(text);
    }
    if let Some(text) = bracketed(rest) {
        return read(text);
    }
    let mut others = quoted(rest).filter(|(before, _)| !ends_with_code(before, b"id"));
    others.find_map(|(_, text)| read(text))
}

/// Texts in quotes, each with the text between it and the one before.
fn quoted(rest: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut parts = rest.split(|byte| *byte == b'"');
    std::iter::from_fn(move || Some((parts.next()?, parts.next()?)))
}

/// The first text in brackets outside quotes; empty if it is not closed.
fn bracketed(rest: &[u8]) -> Option<&[u8]> {
    let mut outside = rest.split(|byte| *byte == b'"').step_by(2);
    let inside = outside.find_map(|part| memchr::memchr(b'[', part).map(|at| &part[at + 1..]))?;
    Some(&inside[..memchr::memchr(b']', inside).unwrap_or(0)])
}

fn ends_with_code(before: &[u8], code: &[u8]) -> bool {
    let rest = before.trim_ascii_end().strip_suffix(code);
    rest.is_some_and(|rest| rest.last().is_none_or(|byte| byte.is_ascii_whitespace() || *byte == b';'))
}

/// The score of centipawns by the standard, with mates as the datasets have them.
fn score(centipawns: i32) -> i16 {
    let plies = STANDARD_MATE - centipawns.abs();
    let mates = centipawns.abs() > STANDARD_LONGEST_MATE;
    (if mates { centipawns.signum() * (MATE - plies) } else { centipawns }) as i16
}

fn number<T: std::str::FromStr + PartialOrd>(
    code: &'static str,
    operand: &[u8],
    range: std::ops::RangeInclusive<T>,
) -> std::result::Result<T, LineError> {
    let number = std::str::from_utf8(operand).ok().and_then(|text| text.trim().parse().ok());
    number.filter(|value| range.contains(value)).ok_or(LineError::Column(code, "is not a number in range"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Operations {
        Operations::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn counters_score_and_depth_are_read_and_other_codes_skipped() {
        let all = of(" hmvc 2; fmvn 3; c0 \"ce 7; acd 1\"; ce -34; acd 12; bm d4; c9 \"1-0\";");
        let expected = Operations { halfmove: Some(2), fullmove: Some(3), score: Some(-34), depth: Some(12) };
        assert_eq!(all, expected);
        assert_eq!(of(" bm Ne2; id \"x\"; cement; c9 \"1-0\";"), Operations::default());
    }

    #[test]
    fn results_are_those_of_c9_then_in_brackets_then_in_quotes() {
        let read = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<u8>().ok();
        for (rest, expected) in [
            (" id \"1\"; c9 \"2\";", Some(2)),
            (" c0 \"1\"; c9 \"2\";", Some(2)),
            (" c0 \"see [1] p. 3\"; c9 \"2\";", Some(2)),
            (" c9 \"2\"; [1]", Some(2)),
            (" c9 \"*\"; c0 \"1\";", None),
            (" c0 \"1\"; [2]", Some(2)),
            (" c0 \"see [1]\"; \"2\"", Some(2)),
            (" [2", None),
            (" c0 \"a\";id \"0\";valid \"2\"", Some(2)),
            (" c99 \"2\"", Some(2)),
            (" \"2\"", Some(2)),
            (" c9 2", None),
        ] {
            assert_eq!(result(rest.as_bytes(), read), expected, "{rest}");
        }
    }

    #[test]
    fn mates_are_those_of_datasets() {
        for (text, score) in [
            ("dm 1;", MATE - 1),
            ("ce 150; dm 5;", MATE - 9),
            ("ce 32766;", MATE - 1),
            ("ce 32758;", MATE - 9),
            ("ce -32765;", 2 - MATE),
            ("ce 32000;", 32_000),
            ("ce +12;", 12),
        ] {
            assert_eq!(of(text).score.map(i32::from), Some(score), "{text}");
        }
    }

    #[test]
    fn a_value_that_is_no_number_in_range_is_named() {
        for (text, code) in [
            ("ce 0.34;", "ce"),
            ("ce 40000;", "ce"),
            ("dm 0;", "dm"),
            ("dm -3;", "dm"),
            ("acd 300;", "acd"),
            ("hmvc -1;", "hmvc"),
            ("fmvn;", "fmvn"),
        ] {
            let error = Operations::parse(text.as_bytes()).unwrap_err().to_string();
            assert_eq!(error, format!("{code} is not a number in range"), "{text}");
        }
    }
}
