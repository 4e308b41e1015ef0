//! One game: from its text to its records.
//!
//! In: the bytes of one piece of PGN. Out: its records, one for every move that was played, and a [`Game`]: its tags
//! and result, and what is wrong with it if something is. [`super::movetext`] reads the tokens, a
//! [`Recorder`] plays them.
//!
//! A null move (`--`, `Z0`, `0000`, `null`) passes the turn where that is legal. It is a ply like any other for the
//! distances and for `ply`, but no move was played, so the position before it gives no record.
//!
//! Where the results disagree that a game is given, the board decides if it shows checkmate or stalemate, then the
//! Result tag, then the movetext. Such games are counted ([`Game::conflict`]).

use std::ops::Range;

use super::annotation::EvalSide;
use super::movetext::{self, Damage};
use super::recorder::{Ending, Recorder, Start};
use super::split::GameSpan;
use super::tags::Tags;
use super::versions;
use crate::Record;

/// Why a game is broken, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The line of the file on which the game starts, from 1.
    pub line: u64,
    /// What is wrong.
    pub reason: String,
}

/// Which two accounts of a game's result disagree; the first of them is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conflict {
    /// The game ends in checkmate, and another result is given.
    Checkmate,
    /// The game ends in stalemate, and a winner is given.
    Stalemate,
    /// The Result tag and the end of the movetext differ.
    Tag,
}

impl Conflict {
    /// The name under which it is counted.
    pub fn name(self) -> &'static str {
        match self {
            Conflict::Checkmate => "checkmate",
            Conflict::Stalemate => "stalemate",
            Conflict::Tag => "tag",
        }
    }
}

/// One game as it was read.
#[derive(Debug)]
pub struct Game<'a> {
    /// Where its records lie in the vector that was given: one before each move that was played, up to the fault if
    /// there is one. Without a result their `result` is 0.
    pub records: Range<usize>,
    /// The result from White's side; how it is found stands at the top of this module.
    pub result: Option<i8>,
    /// Whether two accounts of the result disagree.
    pub conflict: Option<Conflict>,
    /// What is wrong with the game, if anything.
    pub fault: Option<Fault>,
    /// Whether it is neither standard chess nor Chess960; then it has no records.
    pub other_variant: bool,
    /// Whether the text looks like a game at all: it has a tag, or a move that can be played.
    pub plausible: bool,
    /// Its tags.
    pub tags: Tags<'a>,
}

/// Parses games one after another.
pub struct Parser {
    usual: Start,
    eval_side: EvalSide,
}

impl Default for Parser {
    fn default() -> Parser {
        Parser::new(EvalSide::Auto)
    }
}

/// What the tags say that matters for the rules.
#[derive(Default)]
struct Facts<'a> {
    tagged: bool,
    result: Option<i8>,
    fen: Option<&'a [u8]>,
    chess960: bool,
    other_variant: bool,
}

impl Parser {
    /// A parser that takes scores for the given side.
    pub fn new(eval_side: EvalSide) -> Parser {
        Parser { usual: Start::usual(false), eval_side }
    }

    /// Parses one game and adds its records to `records`, with `number` as their game.
    pub fn parse<'a>(
        &mut self,
        text: &'a [u8],
        piece: &GameSpan,
        number: u32,
        records: &mut Vec<Record>,
    ) -> Game<'a> {
        let tags = Tags::new(&text[piece.start..piece.movetext]);
        let facts = facts(tags);
        let first = records.len();
        let mut game = Game {
            records: first..first,
            result: facts.result,
            conflict: None,
            fault: None,
            other_variant: facts.other_variant,
            plausible: facts.tagged,
            tags,
        };
        let failed = |reason| Some(Fault { line: piece.line, reason });
        if facts.other_variant {
            return game;
        }
        let movetext = &text[piece.movetext..piece.end];
        if movetext.trim_ascii().is_empty() {
            game.fault = failed("has no movetext".into());
            return game;
        }
        if !facts.tagged && !begins_a_game(movetext) {
            game.fault = failed("movetext that has no tags and does not begin with the first move".into());
            return game;
        }
        let start = match facts.fen {
            Some(fen) => match Start::of_fen(fen, facts.chess960) {
                Ok(start) => start,
                Err(reason) => {
                    game.fault = failed(reason);
                    return game;
                }
            },
            None if facts.chess960 => Start::usual(true),
            None => self.usual.clone(),
        };
        let mut recorder = Recorder::new(start, records, number, self.eval_side);
        if let Err(damage) = versions::read(movetext, &mut recorder) {
            game.fault = failed(explain(damage, movetext, &mut recorder));
        }
        let mut mate = false;
        game.result = facts.result.or(recorder.result);
        if game.fault.is_none() {
            let ending = recorder.end_on_board(game.result);
            mate = matches!(ending, Some(Ending::Checkmate(_)));
            game.conflict = conflict(facts.result, recorder.result, ending);
            game.result = match ending {
                Some(Ending::Checkmate(result)) => Some(result),
                Some(Ending::Stalemate) => Some(0),
                None => game.result,
            };
        }
        game.plausible |= recorder.count() > 0;
        game.records.end += recorder.count();
        recorder.finish(game.result, mate);
        game
    }
}

/// Whether a movetext without tags can be a whole game: it is not numbered from somewhere in the middle.
fn begins_a_game(movetext: &[u8]) -> bool {
    let text = movetext.trim_ascii_start();
    let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
    digits == 0 || text[digits..].first() != Some(&b'.') || &text[..digits] == b"1"
}

/// Which accounts of a result disagree.
fn conflict(tag: Option<i8>, text: Option<i8>, ending: Option<Ending>) -> Option<Conflict> {
    let differs = |from: i8| tag.is_some_and(|r| r != from) || text.is_some_and(|r| r != from);
    match ending {
        Some(Ending::Checkmate(result)) if differs(result) => Some(Conflict::Checkmate),
        Some(Ending::Stalemate) if differs(0) => Some(Conflict::Stalemate),
        _ => (tag.is_some() && text.is_some() && tag != text).then_some(Conflict::Tag),
    }
}

/// Says what is wrong, and takes back what cannot be believed.
fn explain(damage: Damage, movetext: &[u8], recorder: &mut Recorder<'_>) -> String {
    let token = |place: movetext::Place| {
        let text: String =
            String::from_utf8_lossy(&movetext[place.start..place.end]).chars().take(20).collect();
        text.escape_debug().to_string()
    };
    let number = recorder.number();
    match damage {
        Damage::OpenComment => "a comment is never closed".into(),
        Damage::Unbalanced => {
            // Where the mainline was lost is not known, so nothing of the game can be trusted.
            recorder.clear();
            "the parentheses of its variations do not match".into()
        }
        Damage::Unreadable(place) => format!("cannot read `{}` as a move", token(place)),
        Damage::Illegal(place) => format!("illegal or ambiguous move {number} {}", token(place)),
        Damage::AfterResult(place) => format!("move {number} {} comes after the result", token(place)),
        Damage::AfterBlank(place) => {
            format!("a blank line in the movetext, before {number} {}", token(place))
        }
        Damage::PassInCheck(place) => format!("null move {number} {} in check", token(place)),
        Damage::TooLong => "is longer than 65,536 plies".into(),
    }
}

fn facts(tags: Tags<'_>) -> Facts<'_> {
    let mut facts = Facts::default();
    for (name, value) in tags.iter() {
        facts.tagged = true;
        match name {
            b"Result" => facts.result = movetext::result(value.trim_ascii()).flatten(),
            b"FEN" => facts.fen = Some(value),
            b"Variant" => match variant(value) {
                Some(chess960) => facts.chess960 = chess960,
                None => facts.other_variant = true,
            },
            _ => {}
        }
    }
    facts
}

/// Whether a Variant tag means Chess960 (`Some(true)`), standard chess (`Some(false)`) or something else.
fn variant(name: &[u8]) -> Option<bool> {
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

    /// What each game of a text comes to: its records, result and fault.
    fn games(text: &str) -> Vec<(Vec<Record>, Option<i8>, Option<String>)> {
        let mut cutter = GameSplitter::new();
        cutter.text().extend_from_slice(text.as_bytes());
        cutter.scan(true);
        let (text, pieces) = cutter.take();
        let mut parser = Parser::default();
        let read = |piece| {
            let mut records = Vec::new();
            let game = parser.parse(&text, piece, 0, &mut records);
            (records, game.result, game.fault.map(|f| f.reason))
        };
        pieces.iter().map(read).collect()
    }

    fn game(text: &str) -> (Vec<Record>, Option<i8>, Option<String>) {
        games(text).remove(0)
    }

    #[test]
    fn distances_count_the_plies_before_the_event() {
        let (records, result, fault) =
            game("1. e4 d5 2. exd5 Nf6 3. Bb5+ Bd7 4. Bc4 Bg4 5. f3 Bf5 6. g4 Bg6 7. h4 h5 1-0");
        assert_eq!((result, fault), (Some(1), None));
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
    fn a_game_that_ends_in_mate_says_so_everywhere() {
        let (records, ..) = game("1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0");
        assert_eq!(records.len(), 7);
        assert!(records.iter().all(|s| s.has(flags::MATE_END)));
    }

    #[test]
    fn the_tag_names_the_result_and_the_movetext_stands_in() {
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
    fn a_comment_longer_than_any_buffer_is_read_whole() {
        let text = format!("1. e4 {{d=9, pv={} wv=0.50,}} e5 1-0", "Nf3 ".repeat(20_000) + ",");
        let (records, _, fault) = game(&text);
        assert_eq!(fault, None);
        assert_eq!((records[0].score, records[0].depth), (Some(50), Some(9)));
        assert_eq!(records.len(), 2);
    }

    #[test]
    fn a_blank_line_before_the_first_move_is_no_fault() {
        let (records, _, fault) = game("[Event \"x\"]\n\n{a comment on its own}\n\n1. e4 e5 1-0");
        assert_eq!((records.len(), fault), (2, None));
    }

    #[test]
    fn positions_after_a_lost_token_are_never_believed() {
        // Without `Zf6` the moves that follow are legal, for the wrong sides.
        let (records, _, fault) = game("1. e4 e5 2. Zf6 d3 3. d6 1-0");
        assert_eq!(records.len(), 2);
        assert!(fault.is_some_and(|f| f.contains("Zf6")));
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
            let (records, result, fault) = game(text);
            assert_eq!((result, fault), (Some(1), None), "{text}");
            assert!(records == plain, "{text}");
        }
    }

    #[test]
    fn a_null_move_is_a_ply_without_a_sample() {
        for null in ["--", "Z0", "0000", "null"] {
            let (records, _, fault) = game(&format!("1. e4 {null} {{+9.00/9 1s}} 2. d4 d5 3. exd5 1-0"));
            assert_eq!(fault, None, "{null}");
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
        let (records, _, fault) = game("1. e4 f5 2. Qh5+ -- 3. Qxe8 1-0");
        assert_eq!(records.len(), 3);
        assert!(fault.is_some_and(|f| f.contains("2... -- in check")));
    }

    #[test]
    fn of_conflicting_results_the_board_counts_then_the_tag() {
        for (text, result, conflict) in [
            ("[Result \"1-0\"]\n\n1. f3 e5 2. g4 Qh4# 1-0", Some(-1), Some(Conflict::Checkmate)),
            ("[Result \"0-1\"]\n\n1. f3 e5 2. g4 Qh4# 1/2-1/2", Some(-1), Some(Conflict::Checkmate)),
            ("[Result \"0-1\"]\n\n1. f3 e5 2. g4 Qh4# 0-1", Some(-1), None),
            ("1. f3 e5 2. g4 Qh4#", Some(-1), None),
            ("[Result \"1-0\"]\n\n1. e4 0-1", Some(1), Some(Conflict::Tag)),
            ("[Result \"1-0\"]\n\n1. e4 *", Some(1), None),
            (
                "[Result \"1-0\"]\n[FEN \"7k/8/5KQ1/8/8/8/8/8 w - - 0 1\"]\n\n1. Kf7 1-0",
                Some(0),
                Some(Conflict::Stalemate),
            ),
        ] {
            let mut cutter = GameSplitter::new();
            cutter.text().extend_from_slice(text.as_bytes());
            cutter.scan(true);
            let (text, pieces) = cutter.take();
            let game = Parser::default().parse(&text, &pieces[0], 0, &mut Vec::new());
            assert_eq!(
                (game.result, game.conflict),
                (result, conflict),
                "{}",
                String::from_utf8_lossy(&text)
            );
        }
    }

    #[test]
    fn movetext_without_tags_has_to_begin_at_the_beginning() {
        let read = games("[Event \"a\"]\n\n1. e4 e5 1-0\n\n2. Nf3 Nc6 1-0\n\n1. d4 0-1\n");
        assert_eq!(read.iter().map(|g| g.0.len()).collect::<Vec<_>>(), [2, 0, 1]);
        assert!(read[1].2.as_ref().is_some_and(|f| f.contains("no tags")));
    }

    #[test]
    fn a_broken_game_leaves_nothing_to_the_next_one() {
        let text = "[Event \"a\"]\n\n1. e4 {[%eval 3.0]} e5 2. Ke3 {x\n\n[Event \"b\"]\n\n1. d4 d5 1-0\n";
        let read = games(text);
        assert!(read[0].2.is_some());
        assert_eq!(read[1].2, None);
        assert_eq!(read[1].0.len(), 2);
        assert_eq!(read[1].0[0].score, None);
    }
}
