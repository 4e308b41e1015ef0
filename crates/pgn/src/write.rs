//! Parts of PGN as it is written: tags, moves in three notations, and movetext in lines of 80 characters.

use std::fmt::Write;

use serde::{Deserialize, Serialize};
use shakmaty::san::San;
use shakmaty::{Chess, Color, Move, Position, Role};

use patzer_chess::fen;
use patzer_chess::score::{MATE, Score, is_mate};

const WIDTH: usize = 80;

patzer_io::named! {
    /// Notation of moves.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Notation {
        San: "san", "Standard: `Nf3`";
        Lan: "lan", "Long: `Ng1f3`";
        Uci: "uci", "As engines write it: `g1f3`";
    }
}

/// Tokens of movetext with a space or a line's end between them.
pub struct Movetext<'a> {
    out: &'a mut String,
    column: usize,
    /// The next token.
    pub token: String,
}

impl Movetext<'_> {
    /// Begins movetext at the end of `out`, which ends with a whole line.
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

    /// Writes the number of a move of White, or of whoever makes the `first` move.
    pub fn number(&mut self, number: u32, turn: Color, first: bool) {
        if turn.is_white() || first {
            push_number(&mut self.token, number.into());
            self.token.push_str(turn.fold_wb(".", "..."));
            self.push();
        }
    }

    /// Appends to the last token, such as a closing parenthesis.
    pub(crate) fn attach(&mut self, mark: char) {
        self.out.push(mark);
        self.column += mark.len_utf8();
    }

    /// A place for [`Movetext::back_to`].
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

/// Appends the tags of a start other than the standard one; Chess960 by `chess960` or by its castling rights.
pub fn write_start(out: &mut String, start: &Chess, chess960: bool) {
    // Equality of positions leaves their counters out.
    if *start != Chess::default() || start.halfmoves() != 0 || start.fullmoves().get() != 1 {
        write_tag(out, "SetUp", "1");
        write_tag(out, "FEN", &fen::text(start));
    }
    if chess960 || start.castles().mode().is_chess960() {
        write_tag(out, "Variant", "Chess960");
    }
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

/// Appends a score from the mover's side in pawns, or `+M5` for a mate in five plies; a zero without sign if
/// `unsigned_zero`.
pub fn push_score(out: &mut String, score: Score, unsigned_zero: bool) {
    if score != 0 || !unsigned_zero {
        out.push(if score < 0 { '-' } else { '+' });
    }
    let size = score.unsigned_abs();
    if is_mate(score) {
        out.push('M');
        push_number(out, MATE.unsigned_abs().saturating_sub(size).into());
    } else {
        push_fraction(out, size.into(), 100);
    }
}

/// Appends an integer; `std::fmt` would cost more than the rest of a move.
pub fn push_number(out: &mut String, mut number: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend(digits[at..].iter().map(|&digit| char::from(digit)));
}

/// Appends `number / unit` with as many decimals as `unit` has zeros.
pub fn push_fraction(out: &mut String, number: u64, unit: u64) {
    push_number(out, number / unit);
    out.push('.');
    let mut place = unit / 10;
    while place > 0 {
        out.push(char::from(b'0' + (number / place % 10) as u8));
        place /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_with_other_counters_needs_its_fen() {
        for (fen, tagged) in [
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", false),
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 4 3", true),
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 3", true),
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQ - 0 1", true),
        ] {
            let mut out = String::new();
            write_start(&mut out, &fen::position(fen, false).unwrap(), false);
            let expected = if tagged { format!("[SetUp \"1\"]\n[FEN \"{fen}\"]\n") } else { String::new() };
            assert_eq!(out, expected);
        }
    }

    #[test]
    fn numbers_are_those_of_the_standard_library() {
        for number in [0, 1, 9, 10, 99, 100, 1005, 12_345, u64::from(u32::MAX), u64::MAX] {
            let mut out = String::new();
            push_number(&mut out, number);
            assert_eq!(out, number.to_string());
            out.clear();
            push_fraction(&mut out, number, 1000);
            assert_eq!(out, format!("{}.{:03}", number / 1000, number % 1000));
        }
    }
}
