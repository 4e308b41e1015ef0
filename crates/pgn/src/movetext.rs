//! Movetext scanner: reports the moves, comments and result of the mainline to a [`Visitor`].
//!
//! Every mainline token is either a known non-move or must be a move; nothing unknown is skipped.
//!
//! An own scanner, because it is faster and more tolerant: splitting and parsing to full records takes 0.80 of the
//! time in which pgn-reader 0.29 and shakmaty only replay the moves (17.0 against 21.3 ms for
//! `fixtures/games.pgn.zst`, `benches/extract.rs`).

use memchr::memchr;

use super::notation::{self, Notation};
use super::resolve::ParsedMove;

pub(super) trait Visitor {
    fn play(&mut self, parsed: ParsedMove, span: TokenSpan) -> Result<(), MoveError>;
    fn pass(&mut self, span: TokenSpan) -> Result<(), MoveError>;
    fn comment(&mut self, text: &[u8]);
    /// A result from White's side, or `None` for `*`.
    fn result(&mut self, result: Option<i8>);
    /// A variation, without its parentheses.
    fn variation(&mut self, _text: &[u8]) {}
    /// A numeric annotation glyph such as `$1`, or an assessment such as `+-`.
    fn note(&mut self, _text: &[u8]) {}
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TokenSpan {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Set if a blank line separates this token from an earlier move.
    pub(super) after_blank: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MoveError {
    OpenComment,
    Unbalanced,
    Unreadable(TokenSpan),
    Illegal(TokenSpan),
    AfterResult(TokenSpan),
    AfterBlank(TokenSpan),
    PassInCheck(TokenSpan),
    TooLong,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Space,
    Line,
    Move,
    Digit,
    Brace,
    Semicolon,
    Open,
    Close,
    Dollar,
    Star,
    /// An assessment such as `=`, `+-` or `-/+`, or a dash.
    Sign,
    Other,
}

const CLASSES: [Class; 256] = {
    let mut table = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            0 | b' ' | b'\t' | b'\r' | b'.' | b'!' | b'?' | 0x0b | 0x0c => Class::Space,
            b'\n' => Class::Line,
            b'a'..=b'h' | b'P' | b'N' | b'B' | b'R' | b'Q' | b'K' | b'O' => Class::Move,
            b'0'..=b'9' => Class::Digit,
            b'{' => Class::Brace,
            b';' => Class::Semicolon,
            b'(' => Class::Open,
            b')' => Class::Close,
            b'$' => Class::Dollar,
            b'*' => Class::Star,
            b'=' | b'+' | b'-' => Class::Sign,
            _ => Class::Other,
        };
        byte += 1;
    }
    table
};

/// Scans a movetext to its end or its first error.
///
/// Inlined, with everything that a common move needs, so that a caller compiled for newer processors gets the whole
/// loop in their instructions.
#[inline(always)]
pub(super) fn read(text: &[u8], visitor: &mut impl Visitor) -> Result<(), MoveError> {
    let mut reader = Reader { text, at: 0, blank: false, moved: false, ended: false };
    match reader.run(visitor) {
        // After a result and a blank line, unbalanced brackets do not belong to the game.
        Err(MoveError::OpenComment | MoveError::Unbalanced) if reader.ended && reader.blank => Ok(()),
        outcome => outcome,
    }
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    blank: bool,
    moved: bool,
    ended: bool,
}

impl Reader<'_> {
    #[inline(always)]
    fn run(&mut self, visitor: &mut impl Visitor) -> Result<(), MoveError> {
        if self.text.first() == Some(&b'%') {
            self.at = end_of_line(self.text, 0);
        }
        while let Some(&byte) = self.text.get(self.at) {
            let class = CLASSES[usize::from(byte)];
            // The commonest tokens are tested first: a jump table is harder to predict.
            if class == Class::Move {
                self.play(visitor)?;
                if self.text.get(self.at) == Some(&b' ') {
                    self.at += 1;
                }
                continue;
            }
            if class == Class::Digit {
                self.number(visitor)?;
                continue;
            }
            match class {
                Class::Space => self.at += 1,
                Class::Line => self.line(),
                Class::Brace => {
                    let from = self.at + 1;
                    let length = memchr(b'}', &self.text[from..]).ok_or(MoveError::OpenComment)?;
                    visitor.comment(&self.text[from..from + length]);
                    self.at = from + length + 1;
                }
                Class::Semicolon => {
                    let end = end_of_line(self.text, self.at);
                    visitor.comment(&self.text[self.at + 1..end]);
                    self.at = end;
                }
                Class::Open => {
                    let from = self.at + 1;
                    self.variation()?;
                    visitor.variation(&self.text[from..self.at - 1]);
                }
                Class::Close => return Err(MoveError::Unbalanced),
                Class::Dollar => {
                    let from = self.at;
                    self.at += 1;
                    self.at += self.text[self.at..].iter().take_while(|b| b.is_ascii_digit()).count();
                    visitor.note(&self.text[from..self.at]);
                }
                Class::Star => {
                    self.ended = true;
                    visitor.result(None);
                    self.at += 1;
                }
                Class::Move | Class::Digit | Class::Sign | Class::Other => self.token(visitor)?,
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn play(&mut self, visitor: &mut impl Visitor) -> Result<(), MoveError> {
        if let Some(Some((length, target))) = self.text[self.at..].first_chunk().map(|b| notation::quick(*b))
        {
            return self.parsed(ParsedMove::Piece(target), self.at + length, visitor);
        }
        self.token(visitor)
    }

    #[inline(always)]
    fn parsed(
        &mut self,
        parsed: ParsedMove,
        end: usize,
        visitor: &mut impl Visitor,
    ) -> Result<(), MoveError> {
        let span = TokenSpan { start: self.at, end, after_blank: self.blank };
        self.moved = true;
        self.at = end;
        visitor.play(parsed, span)
    }

    #[cold]
    fn token(&mut self, visitor: &mut impl Visitor) -> Result<(), MoveError> {
        let mut end = token_end(self.text, self.at + 1);
        // `--` may be followed directly by other text.
        if self.text[self.at..].starts_with(b"--") {
            end = self.at + 2;
        }
        let token = &self.text[self.at..end];
        // No note or result starts with a capital letter: skip the tests for castling.
        if !token[0].is_ascii_uppercase() {
            if is_note(token, self.text.get(end)) {
                visitor.note(token);
                self.at = end;
                return Ok(());
            }
            if let Some(result) = result(token) {
                self.ended = true;
                visitor.result(result);
                self.at = end;
                return Ok(());
            }
        }
        let span = TokenSpan { start: self.at, end, after_blank: self.blank };
        match notation::read(token) {
            Some(Notation::Move(parsed)) => self.parsed(parsed, end, visitor),
            Some(Notation::Null) => {
                self.moved = true;
                self.at = end;
                visitor.pass(span)
            }
            None => Err(MoveError::Unreadable(span)),
        }
    }

    /// A move number, a result, castling with zeros or `0000`.
    #[inline(always)]
    fn number(&mut self, visitor: &mut impl Visitor) -> Result<(), MoveError> {
        let digits = self.text[self.at..].iter().take_while(|b| b.is_ascii_digit()).count();
        let end = self.at + digits;
        match self.text.get(end) {
            Some(b'.') => {
                let space = self.text.get(end + 1) == Some(&b' ');
                self.at = end + 1 + usize::from(space);
                Ok(())
            }
            Some(b'-' | b'/' | b':' | 0xc2 | 0xe2) => self.token(visitor),
            _ if digits == 4 && &self.text[self.at..end] == b"0000" => self.token(visitor),
            _ => {
                self.at = end;
                Ok(())
            }
        }
    }

    #[inline(always)]
    fn line(&mut self) {
        self.at += 1;
        match self.text.get(self.at) {
            Some(b'%') => self.at = end_of_line(self.text, self.at),
            Some(b'\n' | b'\r' | b' ' | b'\t') if (self.moved || self.ended) && !self.blank => {
                let rest = &self.text[self.at..];
                let space = rest.iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\r')).count();
                self.blank = rest.get(space) == Some(&b'\n');
            }
            _ => {}
        }
    }

    #[cold]
    fn variation(&mut self) -> Result<(), MoveError> {
        let mut depth = 0usize;
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'(' => depth += 1,
                b')' => depth -= 1,
                b'{' => {
                    let length = memchr(b'}', &self.text[self.at..]).ok_or(MoveError::OpenComment)?;
                    self.at += length;
                }
                b';' => self.at = end_of_line(self.text, self.at) - 1,
                b'\n' => {
                    self.line();
                    continue;
                }
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
        Err(MoveError::Unbalanced)
    }
}

const ASSESSMENTS: [&str; 8] = ["±", "∓", "⩲", "⩱", "∞", "□", "→", "↑"];

fn is_note(token: &[u8], next: Option<&u8>) -> bool {
    match token {
        b"e" | b"p" => next == Some(&b'.'),
        b"ep" => true,
        // `--` is a null move; a single dash is a note.
        b"--" => false,
        // Latin-1 for `±`.
        b"\xb1" => true,
        _ if token.iter().all(|b| matches!(b, b'=' | b'+' | b'-' | b'/')) => true,
        _ => ASSESSMENTS.iter().any(|text| text.as_bytes() == token),
    }
}

/// Parses a result: from White's side, `Some(None)` for `*`; `None` if the token is no result.
pub(super) fn result(token: &[u8]) -> Option<Option<i8>> {
    match token {
        b"1-0" | b"1:0" => Some(Some(1)),
        b"0-1" | b"0:1" => Some(Some(-1)),
        b"1/2-1/2" | b"1/2:1/2" | b"1/2" => Some(Some(0)),
        b"*" => Some(None),
        _ => match std::str::from_utf8(token) {
            Ok("1–0") => Some(Some(1)),
            Ok("0–1") => Some(Some(-1)),
            Ok("½-½" | "½–½" | "1/2–1/2" | "½") => Some(Some(0)),
            _ => None,
        },
    }
}

fn end_of_line(text: &[u8], at: usize) -> usize {
    memchr(b'\n', &text[at..]).map_or(text.len(), |length| at + length)
}

fn token_end(text: &[u8], at: usize) -> usize {
    let ends = |b: &u8| {
        b.is_ascii_whitespace()
            || matches!(b, b'{' | b'}' | b'(' | b')' | b'!' | b'?' | b'$' | b';' | b'.' | b'*' | 0x0b)
    };
    text[at..].iter().position(ends).map_or(text.len(), |length| at + length)
}
