//! Changes of a board, and the rows that a feature block adds and removes for them.

use shakmaty::Color;

use crate::nnue::pieces::Men;

/// Room for every list: at most 64 pieces, eight threats of each, 372 pawn pairs, a halfmove clock.
const ROOM: usize = 1024;

/// Feature rows for both perspectives.
#[derive(Debug, Clone, Copy)]
pub struct Rows {
    rows: [[u16; ROOM]; 2],
    count: usize,
}

impl Rows {
    pub const NONE: Rows = Rows { rows: [[0; ROOM]; 2], count: 0 };

    #[inline]
    pub fn push(&mut self, [white, black]: [u16; 2]) {
        self.rows[0][self.count % ROOM] = white;
        self.rows[1][self.count % ROOM] = black;
        self.count += 1;
    }

    #[inline]
    pub fn clear(&mut self) {
        self.count = 0;
    }

    #[inline]
    pub fn of(&self, side: Color) -> &[u16] {
        &self.rows[usize::from(side.is_black())][..self.count]
    }
}

/// Two boards and the squares on which they differ.
#[derive(Debug)]
pub struct BoardChange {
    pub before: Men,
    pub after: Men,
    pub changed: u64,
}

/// The rows of one feature block.
pub struct BlockRows<'a> {
    /// Added, then removed.
    pub lists: &'a mut [Rows; 2],
    pub base: u16,
    /// Xor masks for the squares of White's and of Black's perspective.
    pub flips: [usize; 2],
}

impl BlockRows<'_> {
    #[inline]
    pub fn flips(&self) -> [usize; 2] {
        self.flips
    }

    /// Adds or removes a feature, given as each perspective sees it.
    #[inline]
    pub fn push(&mut self, is_added: bool, both: [usize; 2]) {
        self.lists[usize::from(!is_added)].push(both.map(|feature| self.base + feature as u16));
    }
}
