//! FEN or EPD with the game's result from White's side, one position per line. All dialects are read, also mixed.

use std::io::Write;

use shakmaty::Chess;

use crate::capabilities::Capabilities;
use crate::codec::PositionReader;
use crate::fen::LineError;
use crate::foreign::operations::{self, Operations};
use crate::score_reading::ScoreReading;
use crate::stream::Input;
use crate::{MeanResult, Record};
use crate::{fen, replay};
use patzer_chess::packed::NO_EP;
use patzer_io::error::Result;

patzer_io::named! {
    /// Notation of the result.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Dialect {
        C9: "c9", "`FEN-4 c9 \"1-0\";`, as zurichess wrote it";
        Quoted: "quoted", "`FEN \"1-0\"`";
        Bracket: "bracket", "`FEN [1.0]`";
        Pipe: "pipe", "`FEN | score | 1.0`, bullet's text format: score in centipawns from White's side";
        Leaf: "leaf", "`FEN | score | 1.0 | game`: pipe with the leaf of `label`, for programs that write traces";
    }
}

pub struct Reader {
    input: Input,
    line: Vec<u8>,
    game: u32,
    /// True if it was said that numbers after results are not read.
    said: bool,
    /// Lines without a move number in which counters that are none are still looked for.
    to_check: u32,
    /// True if the first lines have results between win, draw and loss.
    means: bool,
    /// The counters that none of the first lines has.
    lacks: Capabilities,
}

impl Reader {
    pub fn new(input: Input) -> Reader {
        let between = |line: &[u8]| {
            std::str::from_utf8(line).is_ok_and(|line| decode(line).is_ok_and(|record| record.mean.is_some()))
        };
        let lines = || input.head().split(|byte| *byte == b'\n');
        let held = |all: Capabilities, line: &[u8]| {
            std::str::from_utf8(line).map_or(all, |line| all.and(counters(line)))
        };
        let lacks = Capabilities::CLOCKS.without(lines().fold(Capabilities::NONE, held));
        let means = lines().any(between);
        Reader { input, line: Vec::new(), game: 0, said: false, to_check: 1000, means, lacks }
    }

    /// The position of the line; `None` of an empty line or a comment.
    fn record(&mut self) -> std::result::Result<Option<Record>, LineError> {
        let text = std::str::from_utf8(&self.line).map_err(|_| LineError::Structure("is not text"))?;
        if text.trim().is_empty() || text.starts_with('#') {
            return Ok(None);
        }
        let record = decode_with(text, self.input.columns.scores)?;
        if !self.said
            && let Some(number) = number_after(text)
        {
            self.said = true;
            let way = "scores are read as `FEN | score | result`";
            let text = format!("the numbers after results, such as {number}, are not read; {way}");
            self.input.note(text);
        }
        if record.fullmove == 1 && self.to_check > 0 {
            self.to_check -= 1;
            if let Some(counter) = no_counter(text) {
                self.to_check = 0;
                self.input.note(lost_counters(counter));
            }
        }
        if record.mean.is_some() && !self.means {
            let text =
                "the first lines have no results between win, draw and loss, so a dataset keeps the nearest";
            self.input.note(text);
        }
        let game = self.game;
        self.game = game.wrapping_add(1);
        Ok(Some(Record { game, ..record }))
    }
}

impl PositionReader for Reader {
    fn read(&mut self, records: &mut Vec<Record>) -> Result<bool> {
        if !self.input.line(&mut self.line)? {
            return Ok(false);
        }
        let record = self.record();
        self.input.pass(record.map(|record| records.extend(record)))?;
        Ok(true)
    }

    fn reads_scores(&self) -> bool {
        true
    }

    fn means(&self) -> bool {
        self.means
    }

    fn lacks(&self) -> Capabilities {
        self.lacks
    }
}

/// Name of the format in the registry.
pub const NAME: &str = "epd";

/// Reads the position that a line begins with, whatever follows it.
pub fn position(text: &str) -> std::result::Result<Record, LineError> {
    let (position, _) = begin(text.trim_start_matches('\u{feff}'), "does not begin with a FEN")?;
    Ok(replay::still(&position))
}

/// The position that a line begins with, and the rest of the line.
fn begin<'a>(text: &'a str, otherwise: &'static str) -> std::result::Result<(Chess, &'a str), LineError> {
    let (fields, rest) = split(text);
    match fields.split_ascii_whitespace().count() {
        4.. => Ok((fen::parse(fields)?, rest)),
        _ => Err(LineError::text(text, otherwise)),
    }
}

/// The counters that a line has in its FEN or as operations.
fn counters(line: &str) -> Capabilities {
    let (fields, rest) = split(line);
    let fields = fields.split_ascii_whitespace().count();
    let operations = Operations::parse(rest.as_bytes()).unwrap_or_default();
    let counters = [
        (Capabilities::HALFMOVE, fields > 4 || operations.halfmove.is_some()),
        (Capabilities::FULLMOVE, fields > 5 || operations.fullmove.is_some()),
    ];
    let held = counters.into_iter().filter(|(_, holds)| *holds);
    held.fold(Capabilities::NONE, |all, (counter, _)| all.and(counter))
}

pub fn decode(text: &str) -> std::result::Result<Record, LineError> {
    decode_with(text, ScoreReading::default())
}

/// Decodes a line whose scores may be of another side or scale than they are as a rule.
fn decode_with(text: &str, scores: ScoreReading) -> std::result::Result<Record, LineError> {
    let (position, rest) = begin(text, "not a FEN or EPD with a result")?;
    let mut record = replay::still(&position);
    let (score, result) = outcome(rest, scores).map_err(|reason| LineError::text(text, reason))?;
    let mut operations = Operations::parse(rest.as_bytes())?;
    operations.score = operations.score.map(|score| scores.centipawns(score.into()).unwrap_or(score));
    let turned = |white: bool, score: i16| {
        if white { record.turn.fold_wb(score, score.saturating_neg()) } else { score }
    };
    let score = score.map(|score| turned(scores.white != Some(false), score));
    let score = score.or(operations.score.map(|score| turned(scores.white == Some(true), score)));
    let fields = text[..text.len() - rest.len()].split_ascii_whitespace().count();
    operations.set_counters(&mut record, fields);
    replay::annotate(&mut record, &position, None, score);
    let (result, mean) = of_outcome(result * 2.0 - 1.0);
    Ok(Record { result, mean, depth: operations.depth, ..record })
}

/// The nearest result of a game, and one between win, draw and loss as the mean of a million.
pub fn of_outcome(outcome: f32) -> (i8, Option<MeanResult>) {
    const COUNT: u32 = 1_000_000;
    let sum = (outcome * COUNT as f32).round() as i32;
    let mean = (outcome.fract() != 0.0).then_some(MeanResult { count: COUNT, sum });
    (outcome.round() as i8, mean)
}

const NO_RESULT: &str = "no result; c9 \"1-0\"; or \"1-0\" or [1.0] or | score | 1.0 follows the FEN (without results, \
                         read the FENs as CSV, with `fen` as the first line)";

pub(crate) const NO_SCORE: &str =
    "the score between the bars is not a whole number of centipawns from -32768 to 32767";

fn split(text: &str) -> (&str, &str) {
    let mut end = 0;
    let mut rest = text;
    for field in 0..6 {
        let begin = rest.len() - rest.trim_start().len();
        let length = rest[begin..].find([' ', '\t', ';', ',', '|', '[']).unwrap_or(rest.len() - begin);
        let word = &rest[begin..begin + length];
        // The clocks are optional: a number in their place is one.
        if word.is_empty() || field >= 4 && !word.bytes().all(|b| b.is_ascii_digit()) {
            break;
        }
        end += begin + length;
        rest = &text[end..];
    }
    (&text[..end], &text[end..])
}

/// White's score and result, from 0 to 1, from the text after a FEN.
fn outcome(rest: &str, scores: ScoreReading) -> std::result::Result<(Option<i16>, f32), &'static str> {
    let rest = rest.trim().trim_start_matches([';', ',']).trim();
    if let Some(rest) = rest.strip_prefix('|') {
        let (score, result) =
            rest.split_once('|').map_or((None, rest), |(score, result)| (Some(score), result));
        let result = result.split_once('|').map_or(result, |(result, _)| result);
        let read = |score: &str| scores.centipawns(number(score.as_bytes())?.into());
        let score = score.filter(|score| !score.trim().is_empty());
        let score = score.map(|score| read(score).ok_or(NO_SCORE)).transpose()?;
        return Ok((score, result_of(result).ok_or(NO_RESULT)?));
    }
    let result = match rest.contains(['"', '[']) {
        true => operations::result(rest.as_bytes(), |text| result_of(std::str::from_utf8(text).ok()?)),
        false => result_of(rest.trim_end_matches(';')),
    };
    Ok((None, result.ok_or(NO_RESULT)?))
}

/// A word in the place of a counter that is none: `-`, or a negative number.
fn no_counter(text: &str) -> Option<&str> {
    let word = split(text).1.split_ascii_whitespace().next()?;
    let digits = word.strip_prefix('-')?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(word)
}

fn lost_counters(counter: &str) -> String {
    format!("counters such as {counter} are not read: halfmove clocks and move numbers are missing")
}

/// Notice on counters that are none among the lines that a file begins with.
pub fn counters_notice(head: &[u8]) -> Option<String> {
    let lines = head.split(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
    lines.filter(|line| !line.starts_with('#')).find_map(no_counter).map(lost_counters)
}

/// The number after a result in brackets.
fn number_after(text: &str) -> Option<&str> {
    let (_, after) = text.split_once(']')?;
    let word = after.split([' ', ';', ',', '|']).find(|word| !word.is_empty())?;
    word.parse::<f64>().is_ok().then_some(word)
}

/// A result that may have brackets or quotes around it.
pub fn result_of(text: &str) -> Option<f32> {
    result(text.trim().trim_matches(['[', ']', '"']).as_bytes())
}

/// A result in chess notation or as a number from 0 to 1.
pub fn result(text: &[u8]) -> Option<f32> {
    match text.trim_ascii() {
        b"1-0" | b"1" | b"1.0" => Some(1.0),
        b"0-1" | b"0" | b"0.0" => Some(0.0),
        b"1/2-1/2" | b"1/2" | b"0.5" => Some(0.5),
        other => number(other).filter(|value| (0.0..=1.0).contains(value)),
    }
}

/// A score in whole centipawns, also with a decimal point.
pub fn whole(text: &[u8]) -> Option<i16> {
    ScoreReading::default().centipawns(number(text)?.into())
}

fn number(text: &[u8]) -> Option<f32> {
    std::str::from_utf8(text.trim_ascii()).ok()?.parse().ok().filter(|value: &f32| value.is_finite())
}

pub fn recognise(head: &[u8]) -> bool {
    let mut lines = head.split(|b| *b == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
    let first = lines.find(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let fields = first.map(|line| split(line.trim_start_matches('\u{feff}')).0);
    fields.is_some_and(|fields| {
        let mut words = fields.split_ascii_whitespace();
        let board = |c: char| c.is_ascii_alphanumeric() || "/~".contains(c);
        words.next().is_some_and(|word| word.matches('/').count() == 7 && word.chars().all(board))
            && matches!(words.next(), Some("w" | "b"))
    })
}

/// Appends the line of a record; in [`Dialect::Pipe`] a missing score becomes 0.
pub fn encode(line: &mut Vec<u8>, record: &Record, dialect: Dialect) {
    let index = usize::from((record.result.signum() + 1) as u8);
    let (words, number) = (["0-1", "1/2-1/2", "1-0"][index], ["0.0", "0.5", "1.0"][index]);
    match (dialect, &record.leaf) {
        (Dialect::C9, _) => fen::four(line, &record.board, record.turn, record.ep),
        (Dialect::Leaf, Some(leaf)) => fen::four(line, &leaf.board, leaf.turn, NO_EP),
        _ => fen::six(line, record),
    }
    let of_white = |score: i16| record.turn.fold_wb(score, score.saturating_neg());
    // Writing to a vector cannot fail.
    let _ = match dialect {
        Dialect::C9 => writeln!(line, " c9 \"{words}\";"),
        Dialect::Quoted => writeln!(line, " \"{words}\""),
        Dialect::Bracket => writeln!(line, " [{number}]"),
        Dialect::Pipe => {
            let score = record.score.map_or(0, of_white);
            writeln!(line, " | {score} | {number}")
        }
        Dialect::Leaf => {
            let score = record.score.map_or_else(String::new, |score| format!("{} ", of_white(score)));
            writeln!(line, " | {score}| {number} | {}", record.game)
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::Color;

    #[test]
    fn every_dialect_is_read() {
        let fen = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 2 3";
        let four = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq -";
        for line in [
            format!("{four} c9 \"1/2-1/2\";"),
            format!("{four} c0 \"a note\"; c9 \"1/2-1/2\";"),
            format!("{fen} \"1/2-1/2\""),
            format!("{fen} [0.5]"),
            format!("{fen} [0.5] 31"),
            format!("{fen}[0.5]"),
            format!("{fen};0.5"),
            format!("{fen}, 1/2-1/2"),
            format!("{fen} 1/2-1/2;"),
            format!("{fen} | 0 | 0.5"),
            format!("{fen} | 0 | [0.5]"),
            format!("{fen} | 0 | 0.5 | 17"),
        ] {
            let record = decode(&line).unwrap_or_else(|reason| panic!("{line}: {reason}"));
            assert_eq!((record.result, record.turn), (0, Color::Black), "{line}");
        }
        for score in ["31", "31.0", "+31"] {
            assert_eq!(decode(&format!("{fen} | {score} | 0.0")).unwrap().score, Some(-31));
        }
        let between = decode(&format!("{fen} [0.900]")).unwrap();
        assert_eq!((between.result, (between.outcome() + 1.0) / 2.0), (1, 0.9));
        assert!(decode(&format!("{fen} [1.1]")).is_err() && decode(&format!("{fen} [-0.1]")).is_err());
        assert_eq!(number_after(&format!("{fen} [0.5] -31")), Some("-31"));
        assert_eq!(number_after(&format!("{fen} | 0 | [0.5]")), None);
        assert_eq!(decode(&format!("{fen} [0.0]")).unwrap().result, -1);
        assert_eq!(decode(&format!("{fen} [1.0]")).unwrap().halfmove, 2);
        assert_eq!(decode(&format!("{fen} | | 0.5 | 3")).unwrap().score, None);
        for score in ["40000", "35.7", "x"] {
            let error = decode(&format!("{fen} | {score} | 1.0")).unwrap_err().to_string();
            assert!(error.contains("the score between the bars is not a whole number"), "{error}");
        }
    }

    #[test]
    fn scores_of_another_side_and_unit_are_read_as_given() {
        let four = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -";
        let read = |rest: &str, white, scale| {
            decode_with(&format!("{four} {rest}"), ScoreReading { white, scale }).map(|record| record.score)
        };
        for (white, bars, operation) in [(None, -25, 25), (Some(true), -25, -25), (Some(false), 25, 25)] {
            assert_eq!(read("| 25 | 1.0", white, None), Ok(Some(bars)));
            assert_eq!(read("c9 \"1-0\"; ce 25;", white, None), Ok(Some(operation)));
        }
        assert_eq!(read("| -0.31 | 1.0", None, Some(100.0)), Ok(Some(31)));
        assert_eq!(read("| 208 | 1.0", Some(false), Some(100.0 / 208.0)), Ok(Some(100)));
        assert_eq!(read("dm 3; c9 \"1-0\";", None, Some(0.5)), Ok(Some(31_995)));
        assert!(read("| -0.31 | 1.0", None, None).is_err());
    }

    #[test]
    fn what_is_no_counter_is_named() {
        let four = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -";
        for (rest, counter) in
            [("- 2 [0.5]", Some("-")), ("-1 5 [0.5]", Some("-1")), ("0 2 [0.5]", None), ("[0.5] -3", None)]
        {
            assert_eq!(no_counter(&format!("{four} {rest}")), counter, "{rest}");
        }
    }

    #[test]
    fn operations_give_counters_score_and_depth() {
        let four = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -";
        let facts =
            |record: Record| (record.halfmove, record.fullmove, record.ply, record.score, record.depth);
        let read = |rest: &str| facts(decode(&format!("{four} {rest}")).unwrap());
        let all = "hmvc 2; fmvn 3; ce 34; acd 12; bm d4; c9 \"1-0\";";
        assert_eq!(read(all), (2, 3, 5, Some(34), Some(12)));
        assert_eq!(read("c9 \"1-0\"; ce -34;"), (0, 1, 1, Some(-34), None));
        assert_eq!(read("7 9 hmvc 2; fmvn 3; c9 \"1-0\";"), (7, 9, 17, None, None));
        let mate = decode(&format!("{four} dm 3; c9 \"0-1\";")).unwrap();
        assert!(mate.score == Some(31_995) && mate.has(crate::flags::MATE_SCORE));
        let error = decode(&format!("{four} ce 1.5; c9 \"0-1\";")).unwrap_err();
        assert_eq!(error.to_string(), "ce is not a number in range");
    }

    #[test]
    fn a_line_without_a_result_is_refused() {
        for line in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - bm e4;",
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - c9 \"*\";",
            "8/8/8/8/8/8/8/8 w - - c9 \"1-0\";",
            "1-0",
            "",
        ] {
            assert!(decode(line).is_err(), "{line}");
        }
    }
}
