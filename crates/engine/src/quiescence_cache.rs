//! What is known of the positions of a small tree: evaluations, and between which bounds their scores lie.
//!
//! In: a position. Out: what was found out about it before, in this tree or another. Captures in another order lead to
//! the same positions, and a position about which one question was asked is likely to be asked the next. Entries are
//! compared by all that decides a score in quiescence, so nothing is ever taken for something else.

use shakmaty::{Chess, Position};

use patzer_chess::score::{INFINITE, Score};

/// Positions remembered: more than nearly any tree has, and few enough for a processor's own memory.
const SLOTS: usize = 1024;

/// Pieces, side to move and en passant square of a position. Castling plays no part in a tree of captures and replies
/// to checks, nor in any evaluation.
///
/// Three planes hold the roles in binary, with 7 for the en passant square, where nothing stands; the fourth holds
/// Black's pieces, or all other squares if Black is to move.
type Planes = [u64; 4];

/// A position as the memory knows it, and where it is kept.
pub struct Place {
    planes: Planes,
    slot: usize,
}

impl Place {
    /// The place of a position.
    #[inline]
    pub fn of(position: &Chess) -> Place {
        let planes = planes(position);
        Place { planes, slot: slot(&planes) }
    }
}

/// What is known of a position.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    planes: Planes,
    /// The static evaluation in centipawns from the side to move.
    pub standing: Option<Score>,
    /// The score of the position is at least this.
    pub low: Score,
    /// The score of the position is at most this.
    pub high: Score,
}

impl Known {
    const fn nothing(planes: Planes) -> Known {
        Known { planes, standing: None, low: -INFINITE, high: INFINITE }
    }
}

/// The memory of one thread.
pub struct Memory {
    slots: Box<[Known]>,
}

impl Memory {
    /// An empty memory.
    pub fn new() -> Memory {
        // No position has black pieces everywhere.
        Memory { slots: vec![Known::nothing([0, 0, 0, u64::MAX]); SLOTS].into_boxed_slice() }
    }

    /// The entry at a place, emptied if it was that of another position.
    #[inline]
    pub fn at(&mut self, place: &Place) -> &mut Known {
        let known = &mut self.slots[place.slot];
        if known.planes != place.planes {
            *known = Known::nothing(place.planes);
        }
        known
    }
}

#[inline]
fn planes(position: &Chess) -> Planes {
    let board = position.board();
    let en_passant = position.maybe_ep_square().map_or(0, |square| 1 << square as u32);
    let odd = board.pawns() | board.bishops() | board.queens();
    let twos = board.knights() | board.bishops() | board.kings();
    let fours = board.rooks() | board.queens() | board.kings();
    let black = position.turn().fold_wb(board.black(), !board.black());
    [odd.0 | en_passant, twos.0 | en_passant, fours.0 | en_passant, black.0]
}

#[inline]
fn slot(planes: &Planes) -> usize {
    // Multiplication carries bits up, rotation brings them down again.
    let mix = |state: u64, plane: &u64| (state.rotate_left(29) ^ plane).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (planes.iter().fold(0, mix) >> 40) as usize % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::fen;

    #[test]
    fn positions_that_differ_in_one_respect_have_entries_of_their_own() {
        let texts = [
            "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1",
            "4k3/8/8/3pP3/8/8/8/4K3 w - - 0 1",
            "4k3/8/8/3pP3/8/8/8/4K3 b - - 0 1",
            "4k3/8/8/3PP3/8/8/8/4K3 w - - 0 1",
            "4k3/8/8/3nP3/8/8/8/4K3 w - - 0 1",
            "4k3/8/8/3bP3/8/8/8/4K3 w - - 0 1",
            "4k3/8/8/3rP3/8/8/8/4K3 w - - 0 1",
            "4k3/8/8/3qP3/8/8/8/4K3 w - - 0 1",
        ];
        let seen = texts.map(|text| planes(&fen::position(text, false).unwrap()));
        for (i, a) in seen.iter().enumerate() {
            assert!(seen[..i].iter().all(|b| a != b), "{}", texts[i]);
        }
    }

    #[test]
    fn an_entry_lasts_until_another_position_needs_its_place() {
        let position = fen::position("4k3/8/8/3pP3/8/8/8/4K3 w - - 0 1", false).unwrap();
        let mut memory = Memory::new();
        let place = Place::of(&position);
        assert_eq!(memory.at(&place).standing, None);
        memory.at(&place).standing = Some(7);
        assert_eq!(memory.at(&place).standing, Some(7));
        let other = Known::nothing([1, 2, 3, 4]);
        memory.slots.fill(other);
        assert_eq!(memory.at(&place).standing, None);
    }
}
