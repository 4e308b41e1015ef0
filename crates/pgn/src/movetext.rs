//! Reads the movetext of one game: the mainline's moves, its comments, its result.
//!
//! In: the bytes of one movetext. Out: calls to a [`Listener`] in the order of the text, or the place and kind of the
//! first thing that cannot be. Nothing is passed over in silence: whatever stands in the mainline is a move, or
//! is known to be none.

use memchr::memchr;

use super::notation::{self, Notation};
use super::resolve::Wanted;

/// Takes in a game as it is read. An error ends the reading.
pub(super) trait Listener {
    /// A move of a common form, or of any form.
    fn play(&mut self, wanted: Wanted, place: Place) -> Result<(), Damage>;
    /// A null move.
    fn pass(&mut self, place: Place) -> Result<(), Damage>;
    /// The text between the braces of a comment, or after a semicolon, that is no part of a variation.
    fn comment(&mut self, text: &[u8]);
    /// A result: from White's side, or `None` for `*`.
    fn result(&mut self, result: Option<i8>);
}

/// Where a token stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) start: usize,
    pub(super) end: usize,
    /// A blank line stands between this token and an earlier move.
    pub(super) after_blank: bool,
}

/// What is wrong with a movetext.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Damage {
    OpenComment,
    /// A variation is never closed, or one is closed that was never opened.
    Unbalanced,
    /// A token that cannot be a move for its form alone.
    Unreadable(Place),
    /// A move that cannot be played.
    Illegal(Place),
    /// A move after the result.
    AfterResult(Place),
    /// A move after a blank line.
    AfterBlank(Place),
    /// A null move in check.
    PassInCheck(Place),
    TooLong,
}

/// What a byte means where a token may begin.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Space,
    Line,
    /// The first byte of a move.
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
    /// Anything else.
    Other,
}

const CLASSES: [Class; 256] = {
    let mut table = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b' ' | b'\t' | b'\r' | b'.' | b'!' | b'?' | 0x0b | 0x0c => Class::Space,
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

/// Reads a movetext to its end or its first damage.
///
/// Always part of its caller, with all that a common move needs, so that a caller compiled for newer processors gets
/// the whole loop in their instructions.
#[inline(always)]
pub(super) fn read(text: &[u8], listener: &mut impl Listener) -> Result<(), Damage> {
    let mut reader = Reader { text, at: 0, blank: false, moved: false, ended: false };
    match reader.run(listener) {
        // Behind a result and a blank line, brackets without a partner are no part of the game.
        Err(Damage::OpenComment | Damage::Unbalanced) if reader.ended && reader.blank => Ok(()),
        outcome => outcome,
    }
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    /// A blank line has come since the last move, if one was made.
    blank: bool,
    moved: bool,
    /// The result has come.
    ended: bool,
}

impl Reader<'_> {
    #[inline(always)]
    fn run(&mut self, listener: &mut impl Listener) -> Result<(), Damage> {
        if self.text.first() == Some(&b'%') {
            self.at = end_of_line(self.text, 0);
        }
        while let Some(&byte) = self.text.get(self.at) {
            let class = CLASSES[usize::from(byte)];
            // What comes with nearly every move is asked for first: a jump through a table is harder to foresee.
            if class == Class::Move {
                self.play(listener)?;
                if self.text.get(self.at) == Some(&b' ') {
                    self.at += 1;
                }
                continue;
            }
            if class == Class::Digit {
                self.number(listener)?;
                continue;
            }
            match class {
                Class::Space => self.at += 1,
                Class::Line => self.line(),
                Class::Brace => {
                    let from = self.at + 1;
                    let length = memchr(b'}', &self.text[from..]).ok_or(Damage::OpenComment)?;
                    listener.comment(&self.text[from..from + length]);
                    self.at = from + length + 1;
                }
                Class::Semicolon => {
                    let end = end_of_line(self.text, self.at);
                    listener.comment(&self.text[self.at + 1..end]);
                    self.at = end;
                }
                Class::Open => self.variation()?,
                Class::Close => return Err(Damage::Unbalanced),
                Class::Dollar => {
                    self.at += 1;
                    self.at += self.text[self.at..].iter().take_while(|b| b.is_ascii_digit()).count();
                }
                Class::Star => {
                    self.ended = true;
                    listener.result(None);
                    self.at += 1;
                }
                Class::Move | Class::Digit | Class::Sign | Class::Other => self.token(listener)?,
            }
        }
        Ok(())
    }

    /// A token that begins like a move.
    #[inline(always)]
    fn play(&mut self, listener: &mut impl Listener) -> Result<(), Damage> {
        if let Some(Some((length, target))) = self.text[self.at..].first_chunk().map(|b| notation::quick(*b))
        {
            return self.wanted(Wanted::Piece(target), self.at + length, listener);
        }
        self.token(listener)
    }

    #[inline(always)]
    fn wanted(&mut self, wanted: Wanted, end: usize, listener: &mut impl Listener) -> Result<(), Damage> {
        let place = Place { start: self.at, end, after_blank: self.blank };
        self.moved = true;
        self.at = end;
        listener.play(wanted, place)
    }

    /// A token of any form that stands where a move may stand.
    #[cold]
    fn token(&mut self, listener: &mut impl Listener) -> Result<(), Damage> {
        let mut end = token_end(self.text, self.at + 1);
        // `--` ends a token for no reason of its own; what ends with a dot is a note, such as `e.p.`.
        if self.text[self.at..].starts_with(b"--") {
            end = self.at + 2;
        }
        let token = &self.text[self.at..end];
        // No note or result begins with a letter but those of `e.p.`, and castling is worth the haste.
        if !token[0].is_ascii_uppercase() {
            if is_note(token, self.text.get(end)) {
                self.at = end;
                return Ok(());
            }
            if let Some(result) = result(token) {
                self.ended = true;
                listener.result(result);
                self.at = end;
                return Ok(());
            }
        }
        let place = Place { start: self.at, end, after_blank: self.blank };
        match notation::read(token) {
            Some(Notation::Move(wanted)) => self.wanted(wanted, end, listener),
            Some(Notation::Null) => {
                self.moved = true;
                self.at = end;
                listener.pass(place)
            }
            None => Err(Damage::Unreadable(place)),
        }
    }

    /// A move number, a result, castling with zeros or `0000`.
    #[inline(always)]
    fn number(&mut self, listener: &mut impl Listener) -> Result<(), Damage> {
        let digits = self.text[self.at..].iter().take_while(|b| b.is_ascii_digit()).count();
        let end = self.at + digits;
        match self.text.get(end) {
            Some(b'.') => {
                let space = self.text.get(end + 1) == Some(&b' ');
                self.at = end + 1 + usize::from(space);
                Ok(())
            }
            Some(b'-' | b'/' | b':' | 0xc2 | 0xe2) => self.token(listener),
            _ if digits == 4 && &self.text[self.at..end] == b"0000" => self.token(listener),
            _ => {
                self.at = end;
                Ok(())
            }
        }
    }

    /// A line end: what follows may be a blank line, or one that means nothing.
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

    /// Passes over a variation and those in it.
    #[cold]
    fn variation(&mut self) -> Result<(), Damage> {
        let mut depth = 0usize;
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'(' => depth += 1,
                b')' => depth -= 1,
                b'{' => {
                    let length = memchr(b'}', &self.text[self.at..]).ok_or(Damage::OpenComment)?;
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
        Err(Damage::Unbalanced)
    }
}

/// Assessments as books print them, in UTF-8, and the commonest of them in Latin-1.
const ASSESSMENTS: [&[u8]; 9] = [
    "±".as_bytes(),
    "∓".as_bytes(),
    "⩲".as_bytes(),
    "⩱".as_bytes(),
    "∞".as_bytes(),
    "□".as_bytes(),
    "→".as_bytes(),
    "↑".as_bytes(),
    b"\xb1",
];

/// What may stand in a movetext without being a move: `e.p.`, and assessments in signs.
fn is_note(token: &[u8], next: Option<&u8>) -> bool {
    match token {
        b"e" | b"p" => next == Some(&b'.'),
        b"ep" => true,
        // `--` is a null move, and a dash on its own nothing.
        b"--" => false,
        _ => token.iter().all(|b| matches!(b, b'=' | b'+' | b'-' | b'/')) || ASSESSMENTS.contains(&token),
    }
}

/// A result, from White's side or `None` for `*`; `None` if the token is not one.
pub(super) fn result(token: &[u8]) -> Option<Option<i8>> {
    match token {
        b"1-0" | b"1:0" => Some(Some(1)),
        b"0-1" | b"0:1" => Some(Some(-1)),
        b"1/2-1/2" | b"1/2:1/2" | b"1/2" => Some(Some(0)),
        b"*" => Some(None),
        // With an en dash or the sign for a half.
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
