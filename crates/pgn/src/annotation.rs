//! Scores, depths and book moves in move comments.
//!
//! The content of a comment decides its dialect:
//!
//! - cutechess and fastchess, `{+0.35/12 0.50s}`, `{-M5/20 1.2s}`, `{book}`: after the move, from the mover's side,
//!   for the position before the move. Mates count plies: `+M1` mates with the next move, `-M2` is mated by the
//!   next but one (fastchess' tests: mate 100 is `+M199`, mate −1 is `-M2`). Text after a comma (`tl=`, `latency=`,
//!   `n=`, `sd=`, `nps=`, `hashfull=`, `tbhits=`, `pv="…"`, `line="…"`, the termination) is ignored.
//! - OpenBench shortens these: compact `{+0.35/12}`, verbose `{+0.35/12 0.50s, n=1234, sd=20}`, both with the
//!   engine's text as `, line=…`; `{unknown}` without a score. Its ScaleFactor tag does not matter here.
//! - Lichess and python-chess, `[%eval -1.2]`, `[%eval #-3]`, `[%eval 0.4,22]`: from White's side, for the position
//!   after the move. Mates count full moves.
//! - TCEC, `{d=24, …, wv=0.35, …}`, `wv=-M12`, `{book, mb=…}`: from White's side, for the position before the move.
//!   Mates count plies (in TCEC's files the winner's count runs M5, M3, M1).
//!
//! [`EvalSide`] overrides the side for files that break their dialect's convention.

use shakmaty::Color;

use patzer_chess::score::{MATE, MATE_IN_MAX};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    Centipawns(i32),
    /// Plies until mate, and whether the score's side mates.
    MatePlies(u32, bool),
    /// Full moves until mate, and whether the score's side mates.
    MateMoves(u32, bool),
}

/// The side and the position of a dialect's scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum View {
    MoverBefore,
    WhiteBefore,
    WhiteAfter,
}

/// Point of view of the scores in comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum EvalSide {
    /// The convention of each dialect.
    #[default]
    Auto,
    /// White, in every dialect.
    White,
    /// The player of the commented move, in every dialect.
    Mover,
}

/// A score for one position, from its side to move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Score {
    /// Centipawns; mates as ±(32000 − plies), other scores clamped to ±30,999.
    pub value: i16,
    pub mate: bool,
    pub depth: Option<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Annotation {
    value: Option<(Value, View)>,
    depth: Option<u8>,
    pub book: bool,
}

impl Annotation {
    pub fn parse(comment: &[u8]) -> Annotation {
        let text = comment.trim_ascii();
        // Most comments have no bracket, and one byte is cheap to search for.
        if let Some(first) = memchr::memchr(b'[', text)
            && let Some(at) = memchr::memmem::find(&text[first..], b"[%eval ")
        {
            return lichess(&text[first + at + 7..]);
        }
        match text.first() {
            Some(b'+' | b'-' | b'0'..=b'9' | b'M') => cutechess(text),
            Some(b'b') if text.starts_with(b"book") => {
                let ends = text.get(4).is_none_or(|b| !b.is_ascii_alphanumeric());
                Annotation { book: ends, ..Annotation::default() }
            }
            Some(_) => tcec(text),
            None => Annotation::default(),
        }
    }

    /// The score of the position from which the move was played, for its side to move.
    pub fn before(&self, mover: Color, side: EvalSide) -> Option<Score> {
        let (value, view) = self.value?;
        let ours = match (view, side) {
            (View::WhiteAfter, _) => return None,
            (_, EvalSide::Mover) | (View::MoverBefore, EvalSide::Auto) => true,
            _ => mover.is_white(),
        };
        Some(self.score(value.on_move(ours), ours))
    }

    /// The score of the position after the move, for its side to move (`turn`).
    pub fn after(&self, turn: Color, side: EvalSide) -> Option<Score> {
        let (value, View::WhiteAfter) = self.value? else { return None };
        let ours = side != EvalSide::Mover && turn.is_white();
        Some(self.score(value.on_move(ours), ours))
    }

    /// `ours`: the score is from the side to move.
    fn score(&self, value: Value, ours: bool) -> Score {
        let limit = MATE_IN_MAX - 1;
        let (value, mate) = match value {
            Value::Centipawns(cp) => (cp.clamp(-limit, limit), false),
            Value::MatePlies(plies, gives) | Value::MateMoves(plies, gives) => {
                let value = MATE - plies.min((MATE - MATE_IN_MAX) as u32) as i32;
                (if gives { value } else { -value }, true)
            }
        };
        Score { value: if ours { value } else { -value } as i16, mate, depth: self.depth }
    }
}

impl Value {
    /// Converts full moves to plies. `to_move`: the score's side is to move.
    fn on_move(self, to_move: bool) -> Value {
        match self {
            // The mating side plays the last ply, and also the first if it is to move.
            Value::MateMoves(moves, gives) => {
                let plies = moves.saturating_mul(2);
                Value::MatePlies(if gives == to_move { plies.saturating_sub(1) } else { plies }, gives)
            }
            other => other,
        }
    }
}

/// `+0.35/12 0.50s`, `-M5/20`, `0.00/1`: a score, a slash, a depth.
fn cutechess(text: &[u8]) -> Annotation {
    let end = text.iter().position(|b| b.is_ascii_whitespace() || *b == b',').unwrap_or(text.len());
    let token = &text[..end];
    let Some(slash) = memchr::memchr(b'/', token) else { return Annotation::default() };
    let depth = digits(&token[slash + 1..]);
    let (Some(value), Some((depth, []))) = (score(&token[..slash]), depth) else {
        return Annotation::default();
    };
    Annotation { value: Some((value, View::MoverBefore)), depth: Some(depth.min(255) as u8), book: false }
}

/// The text after `[%eval `: a score or `#` with moves, then optionally a comma and a depth.
fn lichess(text: &[u8]) -> Annotation {
    let end = memchr::memchr(b']', text).unwrap_or(text.len());
    let mut parts = text[..end].splitn(2, |b| *b == b',').map(<[u8]>::trim_ascii);
    let value = parts.next().unwrap_or_default();
    let depth = parts.next().and_then(digits).map(|(depth, _)| depth.min(255) as u8);
    let value = match value.strip_prefix(b"#") {
        Some(moves) => {
            let (gives, moves) = sign(moves);
            digits(moves).filter(|(_, rest)| rest.is_empty()).map(|(n, _)| Value::MateMoves(n, gives))
        }
        None => score(value),
    };
    Annotation { value: value.map(|v| (v, View::WhiteAfter)), depth, book: false }
}

fn tcec(text: &[u8]) -> Annotation {
    let mut found = Annotation::default();
    for field in text.split(|b| *b == b',').map(<[u8]>::trim_ascii) {
        if let Some(value) = field.strip_prefix(b"wv=") {
            found.value = score(value).map(|value| (value, View::WhiteBefore));
        } else if let Some(depth) = field.strip_prefix(b"d=") {
            found.depth = digits(depth).map(|(depth, _)| depth.min(255) as u8);
        }
    }
    if found.value.is_none() { Annotation::default() } else { found }
}

/// A score in pawns, or `M` and plies, with an optional sign.
fn score(text: &[u8]) -> Option<Value> {
    let (positive, text) = sign(text);
    if let Some(plies) = text.strip_prefix(b"M") {
        return match digits(plies)? {
            (plies, []) => Some(Value::MatePlies(plies, positive)),
            _ => None,
        };
    }
    let (pawns, rest) = digits(text)?;
    let mut centipawns = pawns.min(1_000_000) as i32 * 100;
    if let Some(fraction) = rest.strip_prefix(b".") {
        if fraction.is_empty() || !fraction.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let digit = |i: usize| fraction.get(i).map_or(0, |b| i32::from(b - b'0'));
        centipawns += 10 * digit(0) + digit(1) + i32::from(digit(2) >= 5);
    } else if !rest.is_empty() {
        return None;
    }
    Some(Value::Centipawns(if positive { centipawns } else { -centipawns }))
}

fn sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'+', rest @ ..] => (true, rest),
        [b'-', rest @ ..] => (false, rest),
        _ => (true, text),
    }
}

/// A leading integer, at most a million, and the rest of the text.
fn digits(text: &[u8]) -> Option<(u32, &[u8])> {
    let end = text.iter().take_while(|b| b.is_ascii_digit()).count();
    let value = text[..end].iter().fold(0u32, |n, b| (n * 10 + u32::from(b - b'0')).min(1_000_000));
    (end > 0).then_some((value, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn before(comment: &str, mover: Color) -> Option<(i16, Option<u8>)> {
        Annotation::parse(comment.as_bytes()).before(mover, EvalSide::Auto).map(|s| (s.value, s.depth))
    }

    fn after(comment: &str, turn: Color) -> Option<(i16, Option<u8>)> {
        Annotation::parse(comment.as_bytes()).after(turn, EvalSide::Auto).map(|s| (s.value, s.depth))
    }

    #[test]
    fn cutechess_and_fastchess_score_from_the_mover() {
        for mover in Color::ALL {
            assert_eq!(before("+0.35/12 0.50s", mover), Some((35, Some(12))));
            assert_eq!(before(" -0.07/4\n0.56s ", mover), Some((-7, Some(4))));
            assert_eq!(before("0.00/36 75s, n=12, Draw by adjudication", mover), Some((0, Some(36))));
            assert_eq!(before("+M1/245 1s", mover), Some((31_999, Some(245))));
            assert_eq!(before("-M5/20 1.2s", mover), Some((-31_995, Some(20))));
            assert_eq!(before("+152.51/300 1s", mover), Some((15_251, Some(255))));
        }
    }

    #[test]
    fn fastchess_and_openbench_extras_are_ignored() {
        for (comment, score, depth) in [
            ("+1.00/15 1.321s", 100, 15),
            ("+10.15/18 1.821s, engine2 got checkmated", 1015, 18),
            ("+1.45/16 0.310s, n=0, sd=24, aborted", 145, 16),
            ("+1.45/16 0.310s, Black makes an illegal move: a1a1", 145, 16),
            (
                "-0.31/21 0.420s, tl=5.123s, latency=0.001s, n=812345, sd=30, nps=1934154, hashfull=12, tbhits=3, pv=\"e2e4 e7e5, +9.99/9\", line=\"info string eval -M3/4\"",
                -31,
                21,
            ),
            ("+0.35/12", 35, 12),
            ("+0.35/12, line=+2.00/3", 35, 12),
            ("+0.35/12 0.05s, n=1234, sd=20, line=wdl 300 500 200", 35, 12),
            ("-M12/30 0.05s, n=1234, sd=20", -31_988, 30),
        ] {
            for mover in Color::ALL {
                assert_eq!(before(comment, mover), Some((score, Some(depth))), "{comment}");
            }
        }
        for none in ["unknown", "/12 0.05s", "White makes an illegal move: a1a1"] {
            assert_eq!(Annotation::parse(none.as_bytes()), Annotation::default(), "{none}");
        }
    }

    #[test]
    fn the_side_can_be_overridden() {
        let of = |comment: &str, color, side| {
            let read = Annotation::parse(comment.as_bytes());
            let score =
                if comment.starts_with('[') { read.after(color, side) } else { read.before(color, side) };
            score.map(|s| s.value)
        };
        use EvalSide::{Auto, Mover, White};
        // After the move the mover is not to move, so his score is negated.
        for (comment, expected) in [
            ("+0.40/9 1s", [[40, 40], [40, 40], [40, -40]]),
            ("d=9, wv=0.40,", [[40, -40], [40, 40], [40, -40]]),
            ("[%eval 0.4]", [[40, -40], [-40, -40], [40, -40]]),
        ] {
            for (side, expected) in [Auto, Mover, White].into_iter().zip(expected) {
                assert_eq!([Color::White, Color::Black].map(|c| of(comment, c, side)), expected.map(Some));
            }
        }
    }

    #[test]
    fn lichess_scores_from_white_after_the_move() {
        assert_eq!(after(" [%eval -1.2] [%clk 0:01:00] ", Color::White), Some((-120, None)));
        assert_eq!(after("[%eval -1.2]", Color::Black), Some((120, None)));
        assert_eq!(after("[%eval 0.35,22]", Color::Black), Some((-35, Some(22))));
        // Black mates with his third move: 5 plies with Black to move, 6 with White to move.
        assert_eq!(after("[%eval #-3]", Color::Black), Some((31_995, None)));
        assert_eq!(after("[%eval #-3]", Color::White), Some((-31_994, None)));
        assert_eq!(after("[%eval #1]", Color::White), Some((31_999, None)));
        assert_eq!(before("[%eval #1]", Color::White), None);
    }

    #[test]
    fn tcec_scores_from_white_before_the_move() {
        let comment = "d=24, sd=31, mt=2, pd=e3, pv=Nf6 e3, wv=0.35, R50=49,";
        assert_eq!(before(comment, Color::White), Some((35, Some(24))));
        assert_eq!(before(comment, Color::Black), Some((-35, Some(24))));
        assert_eq!(before("d=1, wv=M12,", Color::Black), Some((-31_988, Some(1))));
        assert_eq!(before("d=1, wv=-M5, tb=0", Color::Black), Some((31_995, Some(1))));
        assert_eq!(before("d=1, wv=653.20,", Color::White), Some((30_999, Some(1))));
    }

    #[test]
    fn book_moves_are_recognised_and_other_text_is_ignored() {
        for book in ["book", " book\n", "book, mb=+0+0+0+0+0,"] {
            assert!(Annotation::parse(book.as_bytes()).book, "{book}");
        }
        for other in
            ["", "1.2s", "bookish", "a fine move", "+", "12/", "/3", "[%clk 0:01:00]", "1-0/2", "M/3", "wv="]
        {
            assert_eq!(Annotation::parse(other.as_bytes()), Annotation::default(), "{other}");
        }
    }
}
