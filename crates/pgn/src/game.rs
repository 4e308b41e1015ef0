//! Parses one game into records.
//!
//! A null move (`--`, `Z0`, `0000`, `null`) passes the turn where that is legal. It counts as a ply for the distances
//! and for `ply`, but the position before it gives no record.
//!
//! Conflicting results: checkmate or stalemate on the board decides, then the Result tag, then the movetext.

use std::ops::Range;
use std::sync::Arc;

use super::movetext::{self, MoveError};
use super::recorder::{Ending, Recorder, Start};
use super::scoring::Scoring;
use super::split::GameSpan;
use super::tags::Tags;
use super::tally::{ScoreTally, UnreadComment};
use crate::Record;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GameError {
    /// First line of the game.
    pub line: u64,
    /// Line of the fault; the game's first line if the fault has no place.
    pub fault_line: u64,
    pub reason: String,
}

/// A conflict between a game's results; the variant names the one that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultConflict {
    Checkmate,
    Stalemate,
    Tag,
}

impl ResultConflict {
    /// Key of the conflict in dataset metadata.
    pub fn name(self) -> &'static str {
        match self {
            ResultConflict::Checkmate => "checkmate",
            ResultConflict::Stalemate => "stalemate",
            ResultConflict::Tag => "tag",
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
    /// Neither standard chess nor Chess960; such games have no records.
    pub other_variant: bool,
    pub plausible: bool,
    /// Null moves played: plies without a record.
    pub null_moves: u32,
    pub tags: Tags<'a>,
}

pub struct Parser {
    standard: Start,
    scoring: Arc<Scoring>,
    /// Scores of the games parsed so far.
    pub tally: ScoreTally,
    /// If asked for: seconds left after each ply of the last game by its `[%clk]` comments, NaN where there is none.
    pub clocks: Option<Vec<f32>>,
}

impl Default for Parser {
    /// Reads scores by the conventions of their dialects, without a look at the whole file.
    fn default() -> Parser {
        Parser::new(Arc::default())
    }
}

#[derive(Default)]
struct RuleTags<'a> {
    tagged: bool,
    result: Option<i8>,
    fen: Option<&'a [u8]>,
    chess960: bool,
    other_variant: bool,
}

impl Parser {
    pub fn new(scoring: Arc<Scoring>) -> Parser {
        Parser { standard: Start::standard(false), scoring, tally: ScoreTally::default(), clocks: None }
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
        let rules = rule_tags(tags);
        let first = records.len();
        let mut game = Game {
            records: first..first,
            result: rules.result,
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
        if let Err(error) = read_movetext(movetext, &mut recorder) {
            let line = match error.place(movetext) {
                Some(at) => span.line_at(text, span.movetext + at),
                None => span.line,
            };
            let reason = explain(error, movetext, &mut recorder);
            game.error = Some(GameError { line: span.line, fault_line: line, reason });
        }
        let mut mate = false;
        game.result = rules.result.or(recorder.result);
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

/// Whether movetext without tags starts a game instead of continuing one.
fn begins_a_game(movetext: &[u8]) -> bool {
    let text = movetext.trim_ascii_start();
    let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
    digits == 0 || text[digits..].first() != Some(&b'.') || &text[..digits] == b"1"
}

fn conflict(tag: Option<i8>, text: Option<i8>, ending: Option<Ending>) -> Option<ResultConflict> {
    let differs = |from: i8| tag.is_some_and(|r| r != from) || text.is_some_and(|r| r != from);
    match ending {
        Some(Ending::Checkmate(result)) if differs(result) => Some(ResultConflict::Checkmate),
        Some(Ending::Stalemate) if differs(0) => Some(ResultConflict::Stalemate),
        _ => (tag.is_some() && text.is_some() && tag != text).then_some(ResultConflict::Tag),
    }
}

impl GameSpan {
    /// The line in the file of a byte of the splitter's text.
    fn line_at(&self, text: &[u8], at: usize) -> u64 {
        self.line + memchr::memchr_iter(b'\n', &text[self.start..at]).count() as u64
    }
}

impl MoveError {
    /// Where in the movetext the fault is, if it is at one place.
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
            b"Result" => rules.result = movetext::result(value.trim_ascii()).flatten(),
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

/// Tells whether a tag Variant names Chess960 (true) or standard chess (false); `None` for other variants.
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
mod tests {
    use super::*;
    use crate::GameSplitter;
    use crate::{FAR, flags};

    fn split(text: &str) -> (Vec<u8>, Vec<GameSpan>) {
        let mut splitter = GameSplitter::new();
        splitter.text().extend_from_slice(text.as_bytes());
        splitter.scan(true);
        splitter.take()
    }

    fn games(text: &str) -> Vec<(Vec<Record>, Option<i8>, Option<String>)> {
        let (text, spans) = split(text);
        let mut parser = Parser::default();
        let read = |span| {
            let mut records = Vec::new();
            let game = parser.parse(&text, span, 0, &mut records);
            (records, game.result, game.error.map(|f| f.reason))
        };
        spans.iter().map(read).collect()
    }

    fn game(text: &str) -> (Vec<Record>, Option<i8>, Option<String>) {
        games(text).remove(0)
    }

    #[test]
    fn distances_count_the_plies_before_the_event() {
        let (records, result, error) =
            game("1. e4 d5 2. exd5 Nf6 3. Bb5+ Bd7 4. Bc4 Bg4 5. f3 Bf5 6. g4 Bg6 7. h4 h5 1-0");
        assert_eq!((result, error), (Some(1), None));
        let far = FAR;
        let column = |field: fn(&Record) -> u8| records.iter().map(field).collect::<Vec<_>>();
        assert_eq!(column(|s| s.to_capture)[..4], [2, 1, 0, far]);
        assert_eq!(column(|s| s.to_check)[..6], [4, 3, 2, 1, 0, far]);
        assert_eq!(column(|s| s.to_end), [13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
        let with = |bit| records.iter().filter(|s| s.has(bit)).map(|s| s.ply).collect::<Vec<_>>();
        assert_eq!(with(flags::CAPTURE), [2]);
        assert_eq!(with(flags::GIVES_CHECK), [4]);
        assert_eq!(with(flags::IN_CHECK), [5]);
        assert_eq!(with(flags::MATE_END), [0u16; 0]);
    }

    #[test]
    fn every_record_of_a_mated_game_has_the_mate_flag() {
        let (records, ..) = game("1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0");
        assert_eq!(records.len(), 7);
        assert!(records.iter().all(|s| s.has(flags::MATE_END)));
    }

    #[test]
    fn the_result_tag_counts_before_the_movetext() {
        for (text, result) in [
            ("[Result \"0-1\"]\n\n1. e4 1-0", Some(-1)),
            ("[Result \"*\"]\n\n1. e4 1-0", Some(1)),
            ("[Event \"x\"]\n\n1. e4 1/2-1/2", Some(0)),
            ("[Result \"1-0\"]\n\n1. e4", Some(1)),
            ("[Result \"?\"]\n\n1. e4 *", None),
        ] {
            assert_eq!(game(text).1, result, "{text}");
        }
    }

    #[test]
    fn a_long_comment_is_read_whole() {
        let text = format!("1. e4 {{d=9, pv={} wv=0.50,}} e5 1-0", "Nf3 ".repeat(20_000) + ",");
        let (records, _, error) = game(&text);
        assert_eq!(error, None);
        assert_eq!((records[0].score, records[0].depth), (Some(50), Some(9)));
        assert_eq!(records.len(), 2);
    }

    #[test]
    fn a_blank_line_before_the_first_move_is_valid() {
        let (records, _, error) = game("[Event \"x\"]\n\n{a comment on its own}\n\n1. e4 e5 1-0");
        assert_eq!((records.len(), error), (2, None));
    }

    #[test]
    fn a_fault_has_its_line() {
        for (text, line) in [
            ("[Event \"x\"]\n\n1. e4 e5\n2. Zf6 1-0", 4),
            ("[Event \"x\"]\n\n1. e4\ne5\n2. e4 1-0", 5),
            ("[Event \"x\"]\n\n1. e4 {a}\n{b\n e5 1-0", 4),
            ("[Event \"x\"]\n\n\n1. e4 (\n e5 1-0", 1),
        ] {
            let (bytes, spans) = split(text);
            let game = Parser::default().parse(&bytes, &spans[0], 0, &mut Vec::new());
            let error = game.error.unwrap();
            assert_eq!((error.line, error.fault_line), (1, line), "{text}");
        }
    }

    #[test]
    fn an_unreadable_token_ends_the_game() {
        // Without `Zf6` the moves that follow are legal, for the wrong sides.
        let (records, _, error) = game("1. e4 e5 2. Zf6 d3 3. d6 1-0");
        assert_eq!(records.len(), 2);
        assert!(error.is_some_and(|f| f.contains("Zf6")));
    }

    #[test]
    fn moves_are_read_in_every_notation() {
        let plain = game(
            "1. e4 d5 2. exd5 c5 3. dxc6 Nf6 4. cxb7 Nbd7 5. bxa8=N e5 6. Nf3 Bd6 7. Bc4 O-O 8. O-O 1-0",
        )
        .0;
        assert_eq!(plain.len(), 15);
        for text in [
            "1. e2-e4 d7-d5 2. e4xd5 c7-c5 3. d5xc6 e.p. Ng8-f6 4. c6xb7 Nb8-d7 5. b7xa8=N e7-e5 6. Ng1-f3 Bf8-d6 7. Bf1-c4 0-0 8. O-O 1-0",
            "e2e4 d7d5 e4d5 c7c5 d5c6 g8f6 c6b7 b8d7 b7a8n e7e5 g1f3 f8d6 f1c4 e8g8 e1g1 1-0",
            "e2e4 d7d5 e4d5 c7c5 d5c6 g8f6 c6b7 b8d7 b7a8n e7e5 g1f3 f8d6 f1c4 e8h8 e1h1 1-0",
            "1.e4! = d5 +- 2.ed5 $1c5 3.dc6ep Nf6 4.cb7?! Nbd7 5.ba8N e5 ± 6.Ng1f3 Bd6 7.Bc4 o-o 8.0-0 1:0",
            "1. Pe4 d5 2. e:d5 c5 3. d:c6 e. p. Nf6 4. c:b7 Nbd7 5. b:a8/N e5 6. Nf3 Bd6 7. Bc4 O-O 8. O-O+ 1–0",
        ] {
            let (records, result, error) = game(text);
            assert_eq!((result, error), (Some(1), None), "{text}");
            assert!(records == plain, "{text}");
        }
    }

    #[test]
    fn a_null_move_is_a_ply_without_a_record() {
        for null in ["--", "Z0", "0000", "null"] {
            let (records, _, error) = game(&format!("1. e4 {null} {{+9.00/9 1s}} 2. d4 d5 3. exd5 1-0"));
            assert_eq!(error, None, "{null}");
            assert_eq!(records.iter().map(|s| s.ply).collect::<Vec<_>>(), [0, 2, 3, 4]);
            assert_eq!(records.iter().map(|s| s.to_capture).collect::<Vec<_>>(), [4, 2, 1, 0]);
            assert_eq!(records.iter().map(|s| s.to_end).collect::<Vec<_>>(), [4, 2, 1, 0]);
            assert_eq!(records[0].score, None);
            let position = records[1].position().unwrap();
            assert_eq!(
                shakmaty::fen::Fen::from_position(&position, shakmaty::EnPassantMode::Legal).to_string(),
                "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 1 2"
            );
        }
        let (records, _, error) = game("1. e4 f5 2. Qh5+ -- 3. Qxe8 1-0");
        assert_eq!(records.len(), 3);
        assert!(error.is_some_and(|f| f.contains("2... -- in check")));
    }

    #[test]
    fn conflicting_results_are_decided_by_the_board_then_the_tag() {
        for (text, result, conflict) in [
            ("[Result \"1-0\"]\n\n1. f3 e5 2. g4 Qh4# 1-0", Some(-1), Some(ResultConflict::Checkmate)),
            ("[Result \"0-1\"]\n\n1. f3 e5 2. g4 Qh4# 1/2-1/2", Some(-1), Some(ResultConflict::Checkmate)),
            ("[Result \"0-1\"]\n\n1. f3 e5 2. g4 Qh4# 0-1", Some(-1), None),
            ("1. f3 e5 2. g4 Qh4#", Some(-1), None),
            ("[Result \"1-0\"]\n\n1. e4 0-1", Some(1), Some(ResultConflict::Tag)),
            ("[Result \"1-0\"]\n\n1. e4 *", Some(1), None),
            (
                "[Result \"1-0\"]\n[FEN \"7k/8/5KQ1/8/8/8/8/8 w - - 0 1\"]\n\n1. Kf7 1-0",
                Some(0),
                Some(ResultConflict::Stalemate),
            ),
        ] {
            let (bytes, spans) = split(text);
            let game = Parser::default().parse(&bytes, &spans[0], 0, &mut Vec::new());
            assert_eq!((game.result, game.conflict), (result, conflict), "{text}");
        }
    }

    #[test]
    fn movetext_without_tags_must_start_at_move_one() {
        let read = games("[Event \"a\"]\n\n1. e4 e5 1-0\n\n2. Nf3 Nc6 1-0\n\n1. d4 0-1\n");
        assert_eq!(read.iter().map(|g| g.0.len()).collect::<Vec<_>>(), [2, 0, 1]);
        assert!(read[1].2.as_ref().is_some_and(|f| f.contains("no tags")));
    }

    #[test]
    fn a_broken_game_does_not_affect_the_next_one() {
        let text = "[Event \"a\"]\n\n1. e4 {[%eval 3.0]} e5 2. Ke3 {x\n\n[Event \"b\"]\n\n1. d4 d5 1-0\n";
        let read = games(text);
        assert!(read[0].2.is_some());
        assert_eq!(read[1].2, None);
        assert_eq!(read[1].0.len(), 2);
        assert_eq!(read[1].0[0].score, None);
    }
}
