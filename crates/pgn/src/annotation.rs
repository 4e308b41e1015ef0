//! Scores, depths and book moves in move comments.
//!
//! A comment's text decides its row of [`DIALECTS`]; the file's [`Conventions`] give side and unit. PGN writers wrap
//! comments at 80 columns, some inside a number: blanks after a point or a slash are skipped, and a line feed after a
//! sign.

use memchr::{memchr, memmem};
use shakmaty::Color;

use patzer_chess::score::{MATE, MATE_IN_MAX};

use crate::dialect::*;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    /// Hundredths of the unit, and a flag for a decimal point.
    Number(i32, bool),
    /// Plies until mate, and a flag for the score's side as the mating one.
    MatePlies(u32, bool),
    /// Full moves until mate, and a flag for the score's side as the mating one.
    MateMoves(u32, bool),
}

/// A score for one position, from its side to move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Score {
    /// Centipawns; mates as ±(32000 − plies), other scores clamped to ±30,999.
    pub value: i16,
    pub mate: bool,
    pub depth: Option<u8>,
}

impl Score {
    /// Tests for a score that is no mate and too large to store.
    #[inline]
    pub(crate) fn is_clamped(self) -> bool {
        !self.mate && i32::from(self.value).abs() == MATE_IN_MAX - 1
    }

    /// Multiplies a score unless it is a mate.
    #[inline]
    pub(crate) fn scaled(self, factor: f64) -> Score {
        if factor == 1.0 || self.mate {
            return self;
        }
        let limit = f64::from(MATE_IN_MAX - 1);
        Score { value: (f64::from(self.value) * factor).round().clamp(-limit, limit) as i16, ..self }
    }
}

/// A score as written in a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WrittenScore {
    pub(crate) dialect: DialectId,
    value: Value,
    depth: Option<u8>,
    /// Set if the number has a sign.
    pub(crate) signed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Annotation {
    pub(crate) score: Option<WrittenScore>,
    pub book: bool,
}

impl Annotation {
    pub fn parse(comment: &[u8]) -> Annotation {
        let text = comment.trim_ascii();
        // Most comments have no bracket, and one byte is cheap to search for.
        if let Some(first) = memchr(b'[', text)
            && let Some(at) = memmem::find(&text[first..], b"[%eval")
        {
            return eval(&text[first + at + 6..]).into();
        }
        let text = without_commands(text);
        match text.first() {
            Some(b'+' | b'-' | b'0'..=b'9' | b'M' | b'#') => leading(text).into(),
            Some(b'(') => arena(text).into(),
            Some(b'b' | b'B') if is_book(text) => Annotation { book: true, score: None },
            Some(_) => fields(text).or_else(|| scid(text)).into(),
            None => Annotation::default(),
        }
    }

    /// Returns the score of the position from which the move was played, for its side to move.
    pub fn before(&self, mover: Color, conventions: &Conventions) -> Option<Score> {
        let written = self.score?;
        let reading = &conventions.0[written.dialect];
        if reading.after || !reading.read {
            return None;
        }
        Some(written.of(reading, reading.side == Side::Mover || mover.is_white()))
    }

    /// Returns the score of the position after the move, for its side to move (`turn`).
    pub fn after(&self, turn: Color, conventions: &Conventions) -> Option<Score> {
        let written = self.score?;
        let reading = &conventions.0[written.dialect];
        if !reading.after || !reading.read {
            return None;
        }
        Some(written.of(reading, reading.side == Side::White && turn.is_white()))
    }
}

impl From<Option<WrittenScore>> for Annotation {
    fn from(score: Option<WrittenScore>) -> Annotation {
        Annotation { score, book: false }
    }
}

impl WrittenScore {
    /// The number in hundredths with a flag for a decimal point; `None` for a mate.
    pub(crate) fn number(&self) -> Option<(i32, bool)> {
        match self.value {
            Value::Number(hundredths, decimal) => Some((hundredths, decimal)),
            _ => None,
        }
    }

    /// Tests whether a mate in plies can be a score of the side to move, which plays the last ply if it mates; `None`
    /// for other scores.
    pub(crate) fn mate_fits_mover(&self) -> Option<bool> {
        match self.value {
            Value::MatePlies(plies, gives) => Some(gives == (plies % 2 == 1)),
            _ => None,
        }
    }

    /// Converts a written score; `ours` if it is from the side to move.
    fn of(&self, reading: &Reading, ours: bool) -> Score {
        let limit = MATE_IN_MAX - 1;
        let (value, mate) = match self.value.on_move(ours, reading) {
            Value::Number(hundredths, _) => {
                let cp = match reading.factor {
                    1.0 => hundredths,
                    factor => (hundredths as f32 * factor).round() as i32,
                };
                (cp.clamp(-limit, limit), false)
            }
            Value::MatePlies(plies, gives) | Value::MateMoves(plies, gives) => {
                let value = MATE - plies.min((MATE - MATE_IN_MAX) as u32) as i32;
                (if gives { value } else { -value }, true)
            }
        };
        Score { value: if ours { value } else { -value } as i16, mate, depth: self.depth }
    }
}

impl Value {
    /// Converts full moves to plies; `to_move` if the score's side is to move.
    fn on_move(self, to_move: bool, reading: &Reading) -> Value {
        match self {
            Value::MateMoves(moves, gives) => mate_in(moves, gives, to_move),
            Value::MatePlies(moves, gives) if reading.mates_in_moves => mate_in(moves, gives, to_move),
            Value::Number(hundredths, decimal) if decimal || reading.factor != 1.0 => {
                numeric_mate((hundredths as f32 * reading.factor).round() as i32, to_move).unwrap_or(self)
            }
            other => other,
        }
    }
}

/// A mate in full moves: the mating side plays the last ply, and also the first if it is to move.
fn mate_in(moves: u32, gives: bool, to_move: bool) -> Value {
    let plies = moves.saturating_mul(2);
    Value::MatePlies(if gives == to_move { plies.saturating_sub(1) } else { plies }, gives)
}

/// Reads mates written as numbers, here in centipawns: 32,767 − plies (ChessBase, old UCI GUIs), 32,000 − plies
/// (engines that send mates as centipawns), and 100,005 for a mate in 5 moves (the convention of XBoard's protocol).
fn numeric_mate(cp: i32, to_move: bool) -> Option<Value> {
    let gives = cp > 0;
    match cp.unsigned_abs() {
        cp @ 31_000..=32_000 => Some(Value::MatePlies((32_000 - cp).max(1), gives)),
        cp @ 32_700..=32_767 => Some(Value::MatePlies((32_767 - cp).max(1), gives)),
        cp @ 100_001..=100_500 => Some(mate_in(cp - 100_000, gives, to_move)),
        _ => None,
    }
}

/// A comment without the `[%…]` commands before and after its text.
fn without_commands(mut text: &[u8]) -> &[u8] {
    while text.starts_with(b"[%")
        && let Some(close) = memchr(b']', text)
    {
        text = text[close + 1..].trim_ascii_start();
    }
    while text.ends_with(b"]")
        && let Some(open) = memmem::rfind(text, b"[%")
    {
        text = text[..open].trim_ascii_end();
    }
    text
}

/// Tests for `book`, and Fritz's `B 0` or `B/0 0`.
fn is_book(text: &[u8]) -> bool {
    match text {
        [b'B', b' ' | b'\n' | b'/', rest @ ..] => {
            rest.iter().all(|b| b.is_ascii_digit() || b.is_ascii_whitespace()) && !rest.is_empty()
        }
        _ => text.split_at_checked(4).is_some_and(|(word, rest)| {
            word.eq_ignore_ascii_case(b"book") && rest.first().is_none_or(|b| !b.is_ascii_alphanumeric())
        }),
    }
}

/// Reads a comment that begins with a number or a mate.
fn leading(text: &[u8]) -> Option<WrittenScore> {
    let number = score(text, false)?;
    let rest = number.rest;
    let inline = rest.trim_ascii_start();
    match inline.first() {
        // A time is a number too, so the file decides.
        None => Some(number.written(BARE, None)),
        Some(b'/') => slash(&number, &inline[1..], None),
        Some(b'|') => {
            let (depth, []) = digits(inline[1..].trim_ascii_start())? else { return None };
            Some(number.written(CCC, Some(depth)))
        }
        Some(b':') if number.is_whole() => scid(text),
        Some(b',') if !number.is_mate() => {
            let comma = score(text, true)?;
            let rest = comma.rest.trim_ascii_start().strip_prefix(b"/")?;
            slash(&comma, rest, Some(COMMA))
        }
        Some(b'0'..=b'9') if rest.len() > inline.len() => openbench(&number, inline),
        _ => None,
    }
}

/// Reads the text after a score's slash: a depth, and the fields that tell dialects apart.
fn slash(number: &Number<'_>, text: &[u8], dialect: Option<DialectId>) -> Option<WrittenScore> {
    let (depth, mut rest) = digits(text.trim_ascii_start())?;
    // A selective depth.
    if let Some((_, after)) = rest.strip_prefix(b"/").and_then(digits) {
        rest = after;
    }
    if !rest.first().is_none_or(|b| b.is_ascii_whitespace() || matches!(b, b',' | b';')) {
        return None;
    }
    let dialect = dialect.unwrap_or_else(|| timed(number, rest.trim_ascii_start()));
    // A result, unless it has a sign.
    if text == b"2" && number.is_one() && !number.signed {
        return None;
    }
    Some(number.written(dialect, Some(depth)))
}

/// The dialect of `score/depth`, by the time after it.
fn timed(number: &Number<'_>, text: &[u8]) -> DialectId {
    let digits = |text: &[u8]| text.iter().take_while(|b| b.is_ascii_digit()).count();
    let mut whole = digits(text);
    // XBoard writes minutes and seconds from a minute on.
    while whole > 0 && text[whole..].first() == Some(&b':') && digits(&text[whole + 1..]) == 2 {
        whole += 3;
    }
    let fraction = text[whole..].strip_prefix(b".");
    let tenths = fraction.map_or(0, |f| 1 + digits(f));
    let rest = &text[whole + tenths..];
    match rest {
        _ if whole == 0 => COMPACT,
        [b's', ..] | [b'm', b's', ..] => CUTECHESS,
        [next, ..] if !next.is_ascii_whitespace() && !matches!(next, b';' | b',') => COMPACT,
        _ if number.plus || tenths > 0 => XBOARD,
        _ => CHESSBASE,
    }
}

/// Reads `17/28 583 363004` after the score: depth, selective depth, milliseconds, nodes.
fn openbench(number: &Number<'_>, text: &[u8]) -> Option<WrittenScore> {
    let (depth, rest) = digits(text)?;
    let (_, rest) = digits(rest.strip_prefix(b"/")?)?;
    let mut numbers = rest.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let is_number = |word: &[u8]| word.iter().all(u8::is_ascii_digit);
    let both = numbers.next().is_some_and(is_number) && numbers.next().is_some_and(is_number);
    both.then(|| number.written(OPENBENCH, Some(depth)))
}

/// Reads `(e5) +0.35/12 5`: the expected moves, score, depth, seconds.
fn arena(text: &[u8]) -> Option<WrittenScore> {
    let close = memchr(b')', text)?;
    let rest = text[close + 1..].trim_ascii_start();
    let (number, dialect) = match score(rest, false)? {
        number if number.rest.first() == Some(&b',') => (score(rest, true)?, COMMA),
        number => (number, ARENA),
    };
    slash(&number, number.rest.trim_ascii_start().strip_prefix(b"/")?, Some(dialect))
}

/// Reads the text after `[%eval`: a score or `#` with moves, then optionally a comma or slash and a depth.
fn eval(text: &[u8]) -> Option<WrittenScore> {
    let end = memchr(b']', text).unwrap_or(text.len());
    let text = text[..end].trim_ascii();
    let number = score(text, false)?;
    let rest = number.rest.trim_ascii_start();
    let depth = match rest.first() {
        None => None,
        Some(b',' | b'/') => digits(rest[1..].trim_ascii_start()).map(|(depth, _)| depth),
        Some(_) => return None,
    };
    Some(number.written(if number.is_whole() { EVAL_CP } else { EVAL }, depth))
}

/// Reads fields separated by commas: `d=24, …, wv=0.35` or `ev=0.35, d=24, …`.
fn fields(text: &[u8]) -> Option<WrittenScore> {
    memchr(b'=', text)?;
    let (mut white, mut mover, mut depth) = (None, None, None);
    for field in text.split(|b| *b == b',').map(<[u8]>::trim_ascii) {
        let value = |name: &[u8]| field.strip_prefix(name).map(<[u8]>::trim_ascii_start);
        if let Some(value) = value(b"wv=") {
            white = score(value, false).filter(|number| number.rest.is_empty());
        } else if let Some(value) = value(b"ev=") {
            mover = score(value, false).filter(|number| number.rest.is_empty());
        } else if let Some(value) = value(b"d=") {
            depth = digits(value).map(|(depth, _)| depth);
        }
    }
    white.map(|number| number.written(TCEC, depth)).or_else(|| mover.map(|number| number.written(EV, depth)))
}

/// Reads `12:+0.35` as the last word.
fn scid(text: &[u8]) -> Option<WrittenScore> {
    let word = text.rsplit(u8::is_ascii_whitespace).next()?;
    let (depth, rest) = digits(word)?;
    let number = score(rest.strip_prefix(b":")?, false)?;
    let fits = number.rest.is_empty() && (number.is_mate() || (number.signed && number.places == 2));
    fits.then(|| number.written(SCID, Some(depth)))
}

/// A number or mate at the beginning of a text.
struct Number<'a> {
    value: Mate,
    plus: bool,
    signed: bool,
    /// Digits after the decimal point.
    places: usize,
    rest: &'a [u8],
}

enum Mate {
    No(i32),
    /// Number after `M`: moves or plies, by the dialect.
    Letter(u32, bool),
    /// Number after `#`: moves.
    Hash(u32, bool),
}

impl Number<'_> {
    fn is_mate(&self) -> bool {
        !matches!(self.value, Mate::No(_))
    }

    fn is_one(&self) -> bool {
        self.is_whole() && matches!(self.value, Mate::No(100))
    }

    fn is_whole(&self) -> bool {
        !self.is_mate() && self.places == 0
    }

    fn written(&self, dialect: DialectId, depth: Option<u32>) -> WrittenScore {
        let value = match self.value {
            Mate::No(hundredths) => Value::Number(hundredths, self.places > 0),
            Mate::Letter(n, gives) if !DIALECTS[dialect].mates_in_moves => Value::MatePlies(n, gives),
            Mate::Letter(n, gives) | Mate::Hash(n, gives) => Value::MateMoves(n, gives),
        };
        WrittenScore { dialect, value, depth: depth.map(|depth| depth.min(255) as u8), signed: self.signed }
    }
}

/// Reads `+0.35`, `-12`, `M5`, `-M5`, `#3`, `#-3` or `-#3`; `comma` allows a decimal comma.
fn score(text: &[u8], comma: bool) -> Option<Number<'_>> {
    let (plus, mut positive, text) = match text {
        [b'+', rest @ ..] => (true, true, wrapped(rest)),
        [b'-', rest @ ..] => (false, false, wrapped(rest)),
        _ => (false, true, text),
    };
    let signed = plus || !positive;
    if let [mark @ (b'M' | b'#'), rest @ ..] = text {
        let rest = match rest {
            [b'-', rest @ ..] => {
                positive = !positive;
                rest
            }
            [b'+', rest @ ..] => rest,
            _ => rest,
        };
        let (count, rest) = digits(rest)?;
        let value = if *mark == b'M' { Mate::Letter(count, positive) } else { Mate::Hash(count, positive) };
        return Some(Number { value, plus, signed, places: 0, rest });
    }
    let (units, rest) = digits(text)?;
    let mut hundredths = units.min(1_000_000) as i32 * 100;
    let (mut places, mut rest) = (0, rest);
    if let Some(fraction) = rest.strip_prefix(if comma { b"," } else { b"." }) {
        let fraction = fraction.trim_ascii_start();
        places = fraction.iter().take_while(|b| b.is_ascii_digit()).count();
        if places == 0 {
            return None;
        }
        let digit = |i: usize| if i < places { i32::from(fraction[i] - b'0') } else { 0 };
        hundredths += 10 * digit(0) + digit(1) + i32::from(digit(2) >= 5);
        rest = &fraction[places..];
    }
    let value = Mate::No(if positive { hundredths } else { -hundredths });
    Some(Number { value, plus, signed, places, rest })
}

/// Skips a line break after a sign.
#[inline]
fn wrapped(text: &[u8]) -> &[u8] {
    match text.first() {
        Some(b'\n' | b'\r' | b' ') => {
            let rest = text.trim_ascii_start();
            if memchr(b'\n', &text[..text.len() - rest.len()]).is_some() { rest } else { text }
        }
        _ => text,
    }
}

/// A leading integer, at most a million, and the rest of the text.
fn digits(text: &[u8]) -> Option<(u32, &[u8])> {
    let end = text.iter().take_while(|b| b.is_ascii_digit()).count();
    let value = text[..end].iter().fold(0u32, |n, b| (n * 10 + u32::from(b - b'0')).min(1_000_000));
    (end > 0).then_some((value, &text[end..]))
}

/// Seconds of `[%clk 1:02:03.4]`.
pub(crate) fn clock(text: &[u8]) -> Option<f32> {
    let from = memmem::find(text, b"[%clk ")? + 6;
    let end = from + memchr(b']', &text[from..])?;
    let text = std::str::from_utf8(&text[from..end]).ok()?;
    text.trim().split(':').try_fold(0.0, |sum, part| {
        part.parse::<f32>().ok().filter(|n| n.is_finite() && *n >= 0.0).map(|n| 60.0 * sum + n)
    })
}

/// Tests whether a comment without a readable score looks like one: a signed decimal number, a decimal number before a
/// slash or after an equals sign, a mate, or the word `eval`.
#[cold]
pub(crate) fn looks_like_score(text: &[u8]) -> bool {
    let decimal = |text: &[u8]| {
        digits(text).is_some_and(|(_, rest)| {
            matches!(rest, [b'.' | b',', next, ..] if next.is_ascii_digit())
                && rest.iter().skip(1).take_while(|b| b.is_ascii_digit()).count() <= 3
        })
    };
    let starts = |at: usize| at == 0 || !text[at - 1].is_ascii_alphanumeric();
    let sign = memchr::memchr2_iter(b'+', b'-', text).any(|at| {
        let rest = &text[at + 1..];
        starts(at) && (decimal(rest) || matches!(rest, [b'M' | b'#', next, ..] if next.is_ascii_digit()))
    });
    let before_slash = || {
        memchr::memchr_iter(b'/', text).any(|at| {
            let number =
                text[..at].iter().rev().take_while(|b| b.is_ascii_digit() || matches!(b, b'.' | b','));
            decimal(&text[at - number.count()..at]) && text.get(at + 1).is_some_and(u8::is_ascii_digit)
        })
    };
    let mate = || memchr::memchr_iter(b'#', text).any(|at| starts(at) && score(&text[at..], false).is_some());
    let word = || memmem::find(text, b"eval").is_some() && text.iter().any(u8::is_ascii_digit);
    sign || before_slash() || mate() || word()
}

#[cfg(test)]
mod tests;
