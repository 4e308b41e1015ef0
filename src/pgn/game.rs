//! One game: from its text to its samples.
//!
//! In: the bytes of one piece of PGN. Out: a [`Game`]: a sample for every move that was played, and what is wrong
//! with the game if something is. pgn-reader reads the tokens and hands them to a [`Recorder`].

use std::cell::Cell;
use std::io::Read;

use pgn_reader::Reader;

use super::cut::Piece;
use super::recorder::Recorder;
use crate::positions::Sample;

/// Why a game is broken, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The line of the file on which the game starts, from 1.
    pub line: u64,
    /// What is wrong.
    pub reason: String,
}

/// One game as it was read.
#[derive(Debug)]
pub struct Game<'a> {
    /// A sample before each move that was played, up to the fault if there is one. Its `game` is left 0, and
    /// without a result its `result` too.
    pub samples: &'a [Sample],
    /// The result from White's side: that of the Result tag, or where that says nothing that of the movetext.
    pub result: Option<i8>,
    /// What is wrong with the game, if anything.
    pub fault: Option<Fault>,
    /// Whether it is neither standard chess nor Chess960; then it has no samples.
    pub other_variant: bool,
    /// Whether the text looks like a game at all: it has a tag, or a move that can be played.
    pub plausible: bool,
}

/// Parses games one after another, reusing its buffers.
pub struct Parser<'a> {
    feed: &'a Feed<'a>,
    reader: Reader<&'a Feed<'a>>,
    recorder: Recorder,
}

/// The text of one game, as a stream that ends with it.
#[derive(Default)]
pub struct Feed<'a>(Cell<&'a [u8]>);

impl Read for &Feed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let text = self.0.get();
        let (now, later) = text.split_at(text.len().min(buffer.len()));
        buffer[..now.len()].copy_from_slice(now);
        self.0.set(later);
        Ok(now.len())
    }
}

/// The longest tag that can be read, in bytes.
const TAG_LENGTH: usize = 4096;

impl<'a> Parser<'a> {
    /// A parser that reads through `feed`, which is any new one.
    pub fn new(feed: &'a Feed<'a>) -> Parser<'a> {
        Parser { feed, reader: new_reader(feed), recorder: Recorder::default() }
    }

    /// Parses one game.
    pub fn parse(&mut self, text: &'a [u8], piece: &Piece) -> Game<'_> {
        self.recorder.reset();
        self.feed.0.set(&text[piece.start..piece.end]);
        // A blank line ends a game for the reader, so what it calls the next game may be the rest of this one.
        loop {
            match self.reader.read_game(&mut self.recorder) {
                Ok(Some(())) if self.recorder.stopped() => break,
                Ok(Some(())) => {}
                Ok(None) => break,
                Err(e) => {
                    self.recorder.fail(match e.to_string() {
                        text if text == "unterminated comment" => "a comment is never closed".into(),
                        text if text == "unterminated tag" => {
                            "a tag is never closed, or longer than 4,096 bytes".into()
                        }
                        text => text,
                    });
                    break;
                }
            }
        }
        if self.recorder.stopped() {
            self.reader = new_reader(self.feed);
        }
        self.recorder.check(&text[piece.movetext..piece.end]);
        self.recorder.finish(piece.line)
    }
}

fn new_reader<'a>(feed: &'a Feed<'a>) -> Reader<&'a Feed<'a>> {
    Reader::build(feed).set_supported_tag_line_length(TAG_LENGTH).finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pgn::Cutter;
    use crate::positions::{FAR, flags};

    /// What each game of a text comes to: its samples, result and fault.
    fn games(text: &str) -> Vec<(Vec<Sample>, Option<i8>, Option<String>)> {
        let mut cutter = Cutter::new();
        cutter.text().extend_from_slice(text.as_bytes());
        cutter.scan(true);
        let (text, pieces) = cutter.take();
        let feed = Feed::default();
        let mut parser = Parser::new(&feed);
        let read = |piece| {
            let game = parser.parse(&text, piece);
            (game.samples.to_vec(), game.result, game.fault.map(|f| f.reason))
        };
        pieces.iter().map(read).collect()
    }

    fn game(text: &str) -> (Vec<Sample>, Option<i8>, Option<String>) {
        games(text).remove(0)
    }

    #[test]
    fn distances_count_the_plies_before_the_event() {
        let (samples, result, fault) =
            game("1. e4 d5 2. exd5 Nf6 3. Bb5+ Bd7 4. Bc4 Bg4 5. f3 Bf5 6. g4 Bg6 7. h4 h5 1-0");
        assert_eq!((result, fault), (Some(1), None));
        let far = FAR;
        let column = |field: fn(&Sample) -> u8| samples.iter().map(field).collect::<Vec<_>>();
        assert_eq!(column(|s| s.to_capture)[..4], [2, 1, 0, far]);
        assert_eq!(column(|s| s.to_check)[..6], [4, 3, 2, 1, 0, far]);
        assert_eq!(column(|s| s.to_end), [13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
        let with = |bit| samples.iter().filter(|s| s.has(bit)).map(|s| s.ply).collect::<Vec<_>>();
        assert_eq!(with(flags::CAPTURE), [2]);
        assert_eq!(with(flags::GIVES_CHECK), [4]);
        assert_eq!(with(flags::IN_CHECK), [5]);
        assert_eq!(with(flags::MATE_END), [0u16; 0]);
    }

    #[test]
    fn a_game_that_ends_in_mate_says_so_everywhere() {
        let (samples, ..) = game("1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0");
        assert_eq!(samples.len(), 7);
        assert!(samples.iter().all(|s| s.has(flags::MATE_END)));
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
        let (samples, _, fault) = game(&text);
        assert_eq!(fault, None);
        assert_eq!((samples[0].score, samples[0].depth), (Some(50), Some(9)));
        assert_eq!(samples.len(), 2);
    }

    #[test]
    fn a_blank_line_before_the_first_move_is_no_fault() {
        let (samples, _, fault) = game("[Event \"x\"]\n\n{a comment on its own}\n\n1. e4 e5 1-0");
        assert_eq!((samples.len(), fault), (2, None));
    }

    #[test]
    fn positions_after_a_lost_token_are_never_believed() {
        // Without `Zf6` the moves that follow are legal, for the wrong sides.
        let (samples, _, fault) = game("1. e4 e5 2. Zf6 d3 3. d6 1-0");
        assert_eq!(samples.len(), 2);
        assert!(fault.is_some_and(|f| f.contains("Zf6")));
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
