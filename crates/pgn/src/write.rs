//! Parts of PGN as it is written: tags, moves in three notations, and movetext in lines of 80 characters.

use std::fmt::Write;

use shakmaty::san::San;
use shakmaty::{Chess, Move, Position, Role};

const WIDTH: usize = 80;

/// Notation of moves
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Notation {
    /// Standard: `Nf3`.
    San,
    /// Long: `Ng1f3`.
    Lan,
    /// As engines write it: `g1f3`.
    Uci,
}

/// Tokens of movetext with a space or a line's end between them.
pub struct Movetext<'a> {
    out: &'a mut String,
    column: usize,
    /// The next token.
    pub token: String,
}

impl Movetext<'_> {
    /// Movetext at the end of `out`, which ends with a whole line.
    pub fn new(out: &mut String) -> Movetext<'_> {
        Movetext { out, column: 0, token: String::with_capacity(WIDTH) }
    }

    /// Writes the next token and empties it.
    pub fn push(&mut self) {
        if self.column > 0 && self.column + 1 + self.token.len() > WIDTH {
            self.out.push('\n');
            self.column = 0;
        } else if self.column > 0 {
            self.out.push(' ');
            self.column += 1;
        }
        self.out.push_str(&self.token);
        self.column += self.token.len();
        self.token.clear();
    }

    /// Writes to the end of the last token, such as a closing parenthesis.
    pub(crate) fn attach(&mut self, mark: char) {
        self.out.push(mark);
        self.column += mark.len_utf8();
    }

    /// The place that [`Movetext::back_to`] returns to.
    pub(crate) fn mark(&self) -> (usize, usize) {
        (self.out.len(), self.column)
    }

    pub(crate) fn back_to(&mut self, (length, column): (usize, usize)) {
        self.out.truncate(length);
        self.column = column;
        self.token.clear();
    }
}

/// Appends a tag and its line end. Control characters in the value become spaces.
pub fn write_tag(out: &mut String, name: &str, value: &str) {
    // Writing to a string cannot fail.
    let _ = write!(out, "[{name} \"");
    for c in value.chars().map(|c| if c.is_control() { ' ' } else { c }) {
        if matches!(c, '\\' | '"') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push_str("\"]\n");
}

/// Appends a legal move of a position, without a mark for check or mate.
pub fn write_move(out: &mut String, position: &Chess, m: Move, notation: Notation) {
    match notation {
        Notation::San => San::from_move(position, m).append_to_string(out),
        Notation::Lan => lan(out, m),
        Notation::Uci => {
            let _ = write!(out, "{}", m.to_uci(position.castles().mode()));
        }
    }
}

/// Long algebraic notation as fastchess writes it, without a hyphen.
fn lan(out: &mut String, m: Move) {
    let (Some(from), false) = (m.from(), m.is_castle()) else {
        let _ = write!(out, "{}", San::from_move(&Chess::default(), m));
        return;
    };
    if m.role() != Role::Pawn {
        out.push(m.role().upper_char());
    }
    let _ = write!(out, "{from}{}{}", if m.is_capture() { "x" } else { "" }, m.to());
    if let Some(role) = m.promotion() {
        let _ = write!(out, "={}", role.upper_char());
    }
}
