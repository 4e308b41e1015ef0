//! Parses one game into records.
//!
//! A null move (`--`, `Z0`, `0000`, `null`) passes the turn where that is legal. It counts as a ply for the distances
//! and for `ply`, but the position before it gives no record.
//!
//! Conflicting results: checkmate or stalemate on the board decides, then the Result tag, then the movetext; a `*` in
//! one of the two decides nothing, but counts as a conflict.

use std::ops::Range;
use std::sync::Arc;

use super::movetext::{self, MoveError};
use super::recorder::{Ending, Recorder, Start};
use super::scoring::Scoring;
use super::split::GameSpan;
use super::tags::Tags;
use super::tally::{ScoreTally, UnreadComment};
use super::visits::Visits;
use crate::Record;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GameError {
    /// First line of the game.
    pub line: u64,
    /// Line of the fault; the game's first line if the fault has no line.
    pub fault_line: u64,
    pub reason: String,
}

/// A conflict between a game's results; the variant names the one that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultConflict {
    Checkmate,
    Stalemate,
    Tag,
    Movetext,
}

impl ResultConflict {
    /// Key of the conflict in dataset metadata.
    pub fn name(self) -> &'static str {
        match self {
            ResultConflict::Checkmate => "checkmate",
            ResultConflict::Stalemate => "stalemate",
            ResultConflict::Tag => "tag",
            ResultConflict::Movetext => "movetext",
        }
    }
}

#[derive(Debug)]
pub struct Game<'a> {
    /// The game's records in the vector passed to [`Parser::parse`]: one before each move, up to an error. Their
    /// `result` is 0 if the game has none.
    pub records: Range<usize>,
    /// Result from White's side.
    pub result: Option<i8>,
    pub conflict: Option<ResultConflict>,
    pub error: Option<GameError>,
    /// Set for variants other than standard chess and Chess960; such games have no records.
    pub other_variant: bool,
    pub plausible: bool,
    /// Null moves played: plies without a record.
    pub null_moves: u32,
    pub tags: Tags<'a>,
}

pub struct Parser {
    standard: Start,
    scoring: Arc<Scoring>,
    /// Scores of all games parsed so far.
    pub tally: ScoreTally,
    /// Seconds left after each ply of the last game by its `[%clk]` comments, NaN without one; `None` to skip them.
    pub clocks: Option<Vec<f32>>,
    /// Visits of each record of the last game, empty without a comment of visits; `None` to skip them.
    pub visits: Option<Vec<Visits>>,
}

impl Default for Parser {
    /// A parser that reads scores by the conventions of their dialects, without a look at the whole file.
    fn default() -> Parser {
        Parser::new(Arc::default())
    }
}

#[derive(Default)]
struct RuleTags<'a> {
    tagged: bool,
    /// Result from White's side; `Some(None)` for `*`.
    result: Option<Option<i8>>,
    fen: Option<&'a [u8]>,
    chess960: bool,
    other_variant: bool,
}

impl Parser {
    pub fn new(scoring: Arc<Scoring>) -> Parser {
        let standard = Start::standard(false);
        Parser { standard, scoring, tally: ScoreTally::default(), clocks: None, visits: None }
    }

    pub fn parse<'a>(
        &mut self,
        text: &'a [u8],
        span: &GameSpan,
        number: u32,
        records: &mut Vec<Record>,
    ) -> Game<'a> {
        let tags = Tags::new(&text[span.start..span.movetext]);
        if let Some(clocks) = &mut self.clocks {
            clocks.clear();
        }
        if let Some(visits) = &mut self.visits {
            visits.clear();
        }
        let rules = rule_tags(tags);
        let first = records.len();
        let mut game = Game {
            records: first..first,
            result: rules.result.flatten(),
            conflict: None,
            error: None,
            other_variant: rules.other_variant,
            plausible: rules.tagged,
            null_moves: 0,
            tags,
        };
        let failed = |reason| Some(GameError { line: span.line, fault_line: span.line, reason });
        if rules.other_variant {
            return game;
        }
        let movetext = &text[span.movetext..span.end];
        if movetext.trim_ascii().is_empty() {
            game.error = failed("has no movetext".into());
            return game;
        }
        if !rules.tagged && !begins_a_game(movetext) {
            game.error = failed("movetext that has no tags and does not begin with the first move".into());
            return game;
        }
        let start = match rules.fen {
            Some(fen) => match Start::from_fen_tag(fen, rules.chess960) {
                Ok(start) => start,
                Err(error) => {
                    game.error = failed(format!("FEN tag: {error}"));
                    return game;
                }
            },
            None if rules.chess960 => Start::standard(true),
            None => self.standard.clone(),
        };
        let keeps = self.scoring.keeps(tags);
        let mut recorder = Recorder::new(start, records, number, &self.scoring, keeps, &mut self.tally);
        recorder.clocks = self.clocks.as_mut();
        recorder.visits = self.visits.as_mut();
        if let Err(error) = read_movetext(movetext, &mut recorder) {
            let line = match error.place(movetext) {
                Some(at) => span.line_at(text, span.movetext + at),
                None => span.line,
            };
            let reason = explain(error, movetext, &mut recorder);
            game.error = Some(GameError { line: span.line, fault_line: line, reason });
        }
        if let (None, Some((at, reason))) = (&game.error, recorder.take_bad_visits(movetext)) {
            let fault_line = span.line_at(text, span.movetext + at);
            game.error = Some(GameError { line: span.line, fault_line, reason });
        }
        let mut mate = false;
        game.result = rules.result.flatten().or(recorder.result.flatten());
        if game.error.is_none() {
            let ending = recorder.end_on_board(game.result);
            mate = matches!(ending, Some(Ending::Checkmate(_)));
            game.conflict = conflict(rules.result, recorder.result, ending);
            game.result = match ending {
                Some(Ending::Checkmate(result)) => Some(result),
                Some(Ending::Stalemate) => Some(0),
                None => game.result,
            };
        }
        game.plausible |= recorder.count() > 0;
        game.records.end += recorder.count();
        game.null_moves = recorder.passes;
        let unread = recorder.take_unread(movetext);
        recorder.finish(game.result, mate, game.error.is_none());
        if let Some((at, comment)) = unread {
            let line = span.line_at(text, span.movetext + at);
            self.tally.sample = Some(UnreadComment { line, text: comment });
        }
        game
    }
}

/// [`movetext::read`], compiled again for processors with `popcnt` and BMI instructions.
#[multiversion::multiversion(targets("x86_64+popcnt+bmi1+bmi2"))]
fn read_movetext<'a>(text: &[u8], recorder: &mut Recorder<'a>) -> Result<(), MoveError> {
    movetext::read(text, recorder)
}

/// Tests whether movetext without tags starts a game instead of continuing one.
fn begins_a_game(movetext: &[u8]) -> bool {
    let text = movetext.trim_ascii_start();
    let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
    digits == 0 || text[digits..].first() != Some(&b'.') || &text[..digits] == b"1"
}

/// The conflict of the results of tag and movetext, `Some(None)` for `*`.
fn conflict(
    tag: Option<Option<i8>>,
    text: Option<Option<i8>>,
    ending: Option<Ending>,
) -> Option<ResultConflict> {
    let differs = |from: i8| [tag, text].into_iter().flatten().flatten().any(|r| r != from);
    match (ending, tag, text) {
        (Some(Ending::Checkmate(result)), ..) if differs(result) => Some(ResultConflict::Checkmate),
        (Some(Ending::Stalemate), ..) if differs(0) => Some(ResultConflict::Stalemate),
        (None, Some(Some(tag)), Some(text)) if text != Some(tag) => Some(ResultConflict::Tag),
        (None, Some(None), Some(Some(_))) => Some(ResultConflict::Movetext),
        _ => None,
    }
}

impl GameSpan {
    /// Line in the file of a byte of the splitter's text.
    fn line_at(&self, text: &[u8], at: usize) -> u64 {
        self.line + memchr::memchr_iter(b'\n', &text[self.start..at]).count() as u64
    }
}

impl MoveError {
    /// Byte of the movetext at which the fault is, if it has one place.
    fn place(self, movetext: &[u8]) -> Option<usize> {
        match self {
            // The first brace after the last comment that was closed.
            MoveError::OpenComment => {
                let closed = memchr::memrchr(b'}', movetext).map_or(0, |at| at + 1);
                memchr::memchr(b'{', &movetext[closed..]).map(|at| closed + at)
            }
            MoveError::Unreadable(span)
            | MoveError::Illegal(span)
            | MoveError::AfterResult(span)
            | MoveError::AfterBlank(span)
            | MoveError::PassInCheck(span) => Some(span.start),
            MoveError::Unbalanced | MoveError::TooLong => None,
        }
    }
}

/// The message of an error; removes records that it makes unreliable.
fn explain(error: MoveError, movetext: &[u8], recorder: &mut Recorder<'_>) -> String {
    let token = |span: movetext::TokenSpan| {
        let text: String =
            String::from_utf8_lossy(&movetext[span.start..span.end]).chars().take(20).collect();
        patzer_io::printable(&text).into_owned()
    };
    let number = recorder.number();
    match error {
        MoveError::OpenComment => "a comment is never closed".into(),
        MoveError::Unbalanced => {
            // The mainline may be wrong anywhere before this point.
            recorder.clear();
            "the parentheses of its variations do not match".into()
        }
        MoveError::Unreadable(span) => format!("cannot read `{}` as a move", token(span)),
        MoveError::Illegal(span) => format!("illegal or ambiguous move {number} {}", token(span)),
        MoveError::AfterResult(span) => format!("move {number} {} comes after the result", token(span)),
        MoveError::AfterBlank(span) => {
            format!("a blank line in the movetext, before {number} {}", token(span))
        }
        MoveError::PassInCheck(span) => format!("null move {number} {} in check", token(span)),
        MoveError::TooLong => "is longer than 65,536 plies".into(),
    }
}

fn rule_tags(tags: Tags<'_>) -> RuleTags<'_> {
    let mut rules = RuleTags::default();
    for (name, value) in tags.iter() {
        rules.tagged = true;
        match name {
            b"Result" => rules.result = movetext::result(value.trim_ascii()),
            b"FEN" => rules.fen = Some(value),
            b"Variant" => match variant(value) {
                Some(chess960) => rules.chess960 = chess960,
                None => rules.other_variant = true,
            },
            _ => {}
        }
    }
    rules
}

/// Tests whether a tag Variant names Chess960 (true) or standard chess (false); `None` for other variants.
pub fn variant(name: &[u8]) -> Option<bool> {
    let letters: Vec<u8> =
        name.iter().filter(|b| b.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase).collect();
    match &letters[..] {
        b"" | b"standard" | b"chess" | b"normal" | b"fromposition" => Some(false),
        b"chess960"
        | b"fischerandom"
        | b"fischerrandom"
        | b"fischerrandomchess"
        | b"freestyle"
        | b"frc"
        | b"dfrc"
        | b"doublefischerrandom"
        | b"960" => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
