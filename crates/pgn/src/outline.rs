//! Plies and comments of a movetext, without replaying it.

use super::movetext::{self, MoveError, TokenSpan, Visitor};
use super::resolve::ParsedMove;

/// A mainline token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token<'a> {
    /// A move as written.
    Ply(&'a [u8]),
    Comment(&'a [u8]),
}

/// Calls `each` with the mainline's plies and comments up to the first syntax error. Moves are not checked for
/// legality.
pub fn outline(movetext: &[u8], each: impl FnMut(Token<'_>)) {
    // The caller parses the game for its errors.
    let _ = movetext::read(movetext, &mut Outline { movetext, each });
}

struct Outline<'a, F> {
    movetext: &'a [u8],
    each: F,
}

impl<F: FnMut(Token<'_>)> Visitor for Outline<'_, F> {
    fn play(&mut self, _: ParsedMove, span: TokenSpan) -> Result<(), MoveError> {
        self.pass(span)
    }

    fn pass(&mut self, span: TokenSpan) -> Result<(), MoveError> {
        (self.each)(Token::Ply(&self.movetext[span.start..span.end]));
        Ok(())
    }

    fn comment(&mut self, text: &[u8]) {
        (self.each)(Token::Comment(text));
    }

    fn result(&mut self, _: Option<i8>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variations_numbers_and_notes_are_not_plies() {
        let (mut plies, mut comments) = (Vec::new(), Vec::new());
        outline(b"1. e4 {a} e5 (1... c5 {no} 2. Nf3) 2.Nf3 $1 Nc6 3. 0-0 ; b\n -- exd6 e.p. 1-0", |token| {
            match token {
                Token::Ply(text) => plies.push(String::from_utf8_lossy(text).to_string()),
                Token::Comment(text) => comments.push(text.to_vec()),
            }
        });
        assert_eq!(plies.join(" "), "e4 e5 Nf3 Nc6 0-0 -- exd6");
        assert_eq!(comments, [b"a".to_vec(), b" b".to_vec()]);
    }
}
