//! What a movetext holds, without playing it.
//!
//! In: the bytes of one movetext. Out: its plies and comments, in order. For whoever counts moves of games that another
//! program has played, and needs no positions.

use super::movetext::{self, Damage, Listener, Place};
use super::resolve::Wanted;

/// A part of the mainline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark<'a> {
    /// A move, or a null move.
    Ply,
    /// The text between the braces of a comment, or after a semicolon.
    Comment(&'a [u8]),
}

/// Shows each ply and comment of the mainline, up to the end or to what cannot be part of a game. Whether the moves can
/// be played is not asked.
pub fn outline(movetext: &[u8], each: impl FnMut(Mark<'_>)) {
    // Damage is the business of those who read the game.
    let _ = movetext::read(movetext, &mut Outline(each));
}

struct Outline<F>(F);

impl<F: FnMut(Mark<'_>)> Listener for Outline<F> {
    fn play(&mut self, _: Wanted, _: Place) -> Result<(), Damage> {
        (self.0)(Mark::Ply);
        Ok(())
    }

    fn pass(&mut self, _: Place) -> Result<(), Damage> {
        (self.0)(Mark::Ply);
        Ok(())
    }

    fn comment(&mut self, text: &[u8]) {
        (self.0)(Mark::Comment(text));
    }

    fn result(&mut self, _: Option<i8>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variations_numbers_and_notes_are_no_plies() {
        let (mut plies, mut comments) = (0, Vec::new());
        outline(b"1. e4 {a} e5 (1... c5 {no} 2. Nf3) 2.Nf3 $1 Nc6 3. 0-0 ; b\n -- exd6 e.p. 1-0", |mark| {
            match mark {
                Mark::Ply => plies += 1,
                Mark::Comment(text) => comments.push(text.to_vec()),
            }
        });
        assert_eq!((plies, comments), (7, vec![b"a".to_vec(), b" b".to_vec()]));
    }
}
