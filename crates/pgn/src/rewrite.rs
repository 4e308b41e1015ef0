//! Writes a game in another layout: chosen tags, another notation, with or without comments, glyphs and
//! variations.
//!
//! Output is UTF-8: text that is not UTF-8 counts as Latin-1, as the PGN standard has it. A variation that cannot be
//! read (prose in parentheses) becomes a comment. Lines that begin with `%` are no part of a game and go.

use std::fmt::Write;

use shakmaty::{Chess, Position};

use super::board::Board;
use super::movetext::{self, MoveError, TokenSpan, Visitor};
use super::resolve::ParsedMove;
use super::split::GameSpan;
use super::tags::{Tags, decoded, unescaped};
use super::write::{Movetext, Notation, write_move, write_tag};
use patzer_chess::null_move::null_move;
use patzer_chess::{PackedMove, fen};

/// Maximum depth of variations within variations; deeper ones become comments.
const DEEPEST: usize = 32;

/// Longest comment in bytes that stays on one line.
const SHORT: usize = 78;

patzer_io::named! {
    /// A part of a game that is not needed to replay it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Part {
        Comments: "comments", "Comments, and with them scores and times";
        Glyphs: "glyphs", "Annotation glyphs (`$1`, `!?`) and assessments (`+-`)";
        Variations: "variations", "Variations: the moves in parentheses";
    }
}

/// Layout of rewritten games.
#[derive(Debug, Clone, Default)]
pub struct Rewrite {
    /// Notation of moves; `None` for moves as written.
    pub notation: Option<Notation>,
    pub without: Vec<Part>,
    /// Tags to keep beside the result and those that moves depend on (FEN, SetUp, Variant); `None` for all.
    pub tags: Option<Vec<String>>,
}

/// Tags that always stay: a game cannot be replayed without them.
const NEEDED: [&str; 4] = ["Result", "FEN", "SetUp", "Variant"];

impl Rewrite {
    /// Appends a game that [`Parser::parse`](crate::Parser::parse) finds sound, with an empty line after it. `result`
    /// is the one that counts, from White's side. Returns the number of variations that could not be read.
    pub fn write(&self, out: &mut String, text: &[u8], span: &GameSpan, result: Option<i8>) -> u64 {
        let said = result_text(result);
        let tags = Tags::new(&text[span.start..span.movetext]);
        self.write_tags(out, tags, said);
        out.push('\n');
        let start = start_of(tags);
        let mut movetext = Movetext::new(out);
        let text = &text[span.movetext..span.end];
        let mut unread = 0;
        let line = Line { board: Board::new(&start), position: start };
        let mut writer = Writer::new(self, &mut movetext, text, line, 0, &mut unread);
        // The parser found no error in the mainline.
        let _ = movetext::read(text, &mut writer);
        movetext.token.push_str(said);
        movetext.push();
        out.push_str("\n\n");
        unread
    }

    fn write_tags(&self, out: &mut String, tags: Tags<'_>, result: &str) {
        let kept = |name: &str| match &self.tags {
            Some(tags) => NEEDED.contains(&name) || tags.iter().any(|tag| tag == name),
            None => true,
        };
        let (mut has_result, mut has_event) = (false, false);
        for (name, value) in tags.iter() {
            let (name, value) = (decoded(name), unescaped(value));
            if name == "Result" {
                has_result = true;
                write_tag(out, &name, result);
            } else if name == "Event" && kept("Event") && std::mem::replace(&mut has_event, true) {
                // A second `[Event` tag on the line of the first would begin a game.
                write_tag(out, "Event_", &decoded(&value));
            } else if kept(&name) {
                write_tag(out, &tag_name(&name), &decoded(&value));
            }
        }
        if !has_result {
            write_tag(out, "Result", result);
        }
    }

    fn has(&self, part: Part) -> bool {
        !self.without.contains(&part)
    }
}

/// A result from White's side in PGN.
pub fn result_text(result: Option<i8>) -> &'static str {
    match result {
        Some(1..) => "1-0",
        Some(0) => "1/2-1/2",
        Some(_) => "0-1",
        None => "*",
    }
}

/// The position that a sound game starts from.
fn start_of(tags: Tags<'_>) -> Chess {
    let chess960 = tags.get("Variant").is_some_and(|name| crate::variant(&name) == Some(true));
    let position = |text: &str| fen::position(text, chess960).unwrap_or_default();
    match tags.get("FEN") {
        Some(text) => position(&decoded(&text)),
        None if chess960 => position(&fen::text(&Chess::default())),
        None => Chess::default(),
    }
}

/// A tag name in the characters of PGN; each other character becomes `_`.
fn tag_name(name: &str) -> String {
    let letters = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' });
    let lead = if name.starts_with(|c: char| c.is_ascii_alphabetic()) { "" } else { "X" };
    lead.chars().chain(letters).collect()
}

/// State of a mainline or variation: the position as parsed, and as written.
#[derive(Clone)]
struct Line {
    board: Board,
    position: Chess,
}

struct Writer<'a, 'o> {
    how: &'a Rewrite,
    out: &'a mut Movetext<'o>,
    text: &'a [u8],
    line: Line,
    /// The position before the last move, from which a variation starts; `None` before the first move.
    before: Option<Line>,
    /// Set if the next move needs its number, whoever makes it.
    numbered: bool,
    /// Number of variations around it; a variation opens with its first token.
    depth: usize,
    opens: bool,
    unread: &'a mut u64,
}

impl<'a, 'o> Writer<'a, 'o> {
    fn new(
        how: &'a Rewrite,
        out: &'a mut Movetext<'o>,
        text: &'a [u8],
        line: Line,
        depth: usize,
        unread: &'a mut u64,
    ) -> Writer<'a, 'o> {
        Writer { how, out, text, line, before: None, numbered: true, depth, opens: depth > 0, unread }
    }

    fn open(&mut self) {
        if std::mem::take(&mut self.opens) {
            self.out.token.insert(0, '(');
        }
    }

    fn push(&mut self) {
        self.open();
        self.out.push();
    }

    fn number(&mut self) {
        let first = std::mem::take(&mut self.numbered);
        self.open();
        self.out.number(self.line.board.fullmoves, self.line.board.turn(), first);
    }

    /// Keeps the position for a variation on the next move.
    fn keep_before(&mut self) {
        if self.how.has(Part::Variations) {
            self.before = Some(self.line.clone());
        }
    }

    /// Writes the token of a ply with its glyphs (`!?`).
    fn ply(&mut self, span: TokenSpan) {
        if self.how.has(Part::Glyphs) {
            let rest = self.text[span.end..].trim_ascii_start();
            let marks = rest.iter().take_while(|b| matches!(b, b'!' | b'?'));
            self.out.token.extend(marks.map(|&b| char::from(b)));
        }
        self.push();
    }

    fn as_read(&mut self, span: TokenSpan) {
        self.out.token.push_str(&decoded(&self.text[span.start..span.end]));
    }

    /// Writes a comment, over as many lines as it needs.
    fn write_comment(&mut self, text: &str) {
        // A comment to the end of its line may hold a closing brace.
        let mut text = text.replace('}', ")");
        // An unclosed comment's `[Event` would begin a game.
        if text.contains("[Event \"") {
            text = text.replace('{', "(");
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        if text.len() <= SHORT {
            let _ = write!(self.out.token, "{{{}}}", words.join(" "));
            return self.push();
        }
        self.out.token.push('{');
        for (at, word) in words.iter().enumerate() {
            self.out.token.push_str(word);
            match words.get(at + 1) {
                // A reader skips a line that begins with `%`.
                Some(next) if next.starts_with('%') => self.out.token.push(' '),
                Some(_) => self.push(),
                None => {}
            }
        }
        self.out.token.push('}');
        self.push();
    }

    /// Writes a variation; false if it cannot be read.
    fn nested(&mut self, text: &[u8]) -> bool {
        let Some(line) = self.before.clone().filter(|_| self.depth < DEEPEST) else { return false };
        let (mark, unread) = (self.out.mark(), *self.unread);
        let mut inner = Writer::new(self.how, self.out, text, line, self.depth + 1, self.unread);
        let sound = movetext::read(text, &mut inner).is_ok() && !inner.opens;
        match sound {
            true => self.out.attach(')'),
            false => {
                self.out.back_to(mark);
                *self.unread = unread;
            }
        }
        sound
    }
}

impl Visitor for Writer<'_, '_> {
    fn play(&mut self, parsed: ParsedMove, span: TokenSpan) -> Result<(), MoveError> {
        let step = self.line.board.find(parsed).ok_or(MoveError::Illegal(span))?;
        let m = PackedMove(step.packed()).unpack(&self.line.position).ok_or(MoveError::Illegal(span))?;
        self.number();
        self.keep_before();
        match self.how.notation {
            None => self.as_read(span),
            Some(notation) => write_move(&mut self.out.token, &self.line.position, m, notation),
        }
        self.line.board.play(step);
        self.line.position.play_unchecked(m);
        if self.line.board.in_check && matches!(self.how.notation, Some(Notation::San | Notation::Lan)) {
            self.out.token.push(if self.line.position.legal_moves().is_empty() { '#' } else { '+' });
        }
        self.ply(span);
        Ok(())
    }

    fn pass(&mut self, span: TokenSpan) -> Result<(), MoveError> {
        let after = null_move(&self.line.position).filter(|_| !self.line.board.in_check);
        let after = after.ok_or(MoveError::PassInCheck(span))?;
        self.number();
        self.keep_before();
        match self.how.notation {
            None => self.as_read(span),
            Some(Notation::Uci) => self.out.token.push_str("0000"),
            Some(_) => self.out.token.push_str("--"),
        }
        self.line.board.pass();
        self.line.position = after;
        self.ply(span);
        Ok(())
    }

    fn comment(&mut self, text: &[u8]) {
        if self.how.has(Part::Comments) {
            self.write_comment(&decoded(text));
        }
    }

    fn result(&mut self, _: Option<i8>) {}

    fn variation(&mut self, text: &[u8]) {
        if !self.how.has(Part::Variations) {
            return;
        }
        if self.nested(text) {
            self.numbered = true;
            return;
        }
        *self.unread += 1;
        if self.how.has(Part::Comments) {
            self.write_comment(&format!("variation: {}", decoded(text)));
        }
    }

    fn note(&mut self, text: &[u8]) {
        // The letters of `e.p.` are part of the move.
        if self.how.has(Part::Glyphs) && !text.first().is_some_and(u8::is_ascii_alphabetic) {
            self.out.token.push_str(&decoded(text));
            self.push();
        }
    }
}

#[cfg(test)]
mod tests;
