//! What an evaluator remembers: sums that change with pawns and kings alone, or with material alone.
//!
//! In: a board. Out: the sums and facts that the plain evaluation would work out again. An entry holds everything
//! that it depends on and is compared with it, so the values are the same with and without the cache, whatever
//! was evaluated before.

use shakmaty::{Bitboard, Board, ByColor, Color};

use super::context::Context;
use super::phase;
use super::scale::{Scales, counts};
use super::sink::{Packed, Table, Total};
use super::pawn_structure::Structure;
use super::terms;

/// Pawn structures remembered; enough for most of a search, and small enough for a processor's own memory.
const STRUCTURES: usize = 4096;

/// Balances of material remembered.
const MATERIALS: usize = 1024;

/// What pawns and kings decide.
#[derive(Debug, Clone, Copy)]
pub struct StructureEntry {
    pawns: ByColor<Bitboard>,
    kings: [u8; 2],
    closed: u8,
    one_wing: bool,
    /// Those of both sides, told apart by the pawns.
    passed: Bitboard,
    /// Sum of the terms about them, White's minus Black's.
    pub sum: Packed,
}

impl StructureEntry {
    /// Facts about the pawns.
    #[inline(always)]
    pub fn structure(&self) -> Structure {
        let passed = |color: Color| self.passed & self.pawns[color];
        Structure {
            passed: ByColor { black: passed(Color::Black), white: passed(Color::White) },
            closed: self.closed,
            one_wing: self.one_wing,
        }
    }
}

/// What the numbers of pieces decide.
#[derive(Debug, Clone, Copy)]
pub struct MaterialEntry {
    key: u64,
    /// Sum of the terms about them, White's minus Black's.
    pub sum: Packed,
    /// Scales of the endgame.
    pub scales: Scales,
    /// How much of the midgame it is.
    pub phase: u8,
}

/// The memory of one evaluator.
#[derive(Debug, Clone)]
pub struct Cache {
    structures: Box<[StructureEntry]>,
    materials: Box<[MaterialEntry]>,
}

impl Cache {
    /// An empty memory.
    pub fn new() -> Cache {
        // No board has a pawn of each side on every square: no lookup finds an entry that nobody wrote.
        let structure = StructureEntry {
            pawns: ByColor { black: Bitboard::FULL, white: Bitboard::FULL },
            kings: [0; 2],
            closed: 0,
            one_wing: false,
            passed: Bitboard::EMPTY,
            sum: Packed::default(),
        };
        let material =
            MaterialEntry { key: u64::MAX, sum: Packed::default(), scales: Scales::default(), phase: 0 };
        Cache {
            structures: vec![structure; STRUCTURES].into_boxed_slice(),
            materials: vec![material; MATERIALS].into_boxed_slice(),
        }
    }

    /// The entry of a board's pawns and kings, worked out if it is not there.
    #[inline(always)]
    pub fn structure(&mut self, table: &Table, board: &Board) -> &StructureEntry {
        let ours = |color: Color| board.pawns() & board.by_color(color);
        let pawns = ByColor { black: ours(Color::Black), white: ours(Color::White) };
        let kings = [king(board, Color::White), king(board, Color::Black)];
        let mixed = mix(pawns.white.0)
            ^ mix(pawns.black.0.rotate_left(31))
            ^ mix(u64::from(u16::from_le_bytes(kings)));
        let entry = &mut self.structures[slot(mixed, STRUCTURES)];
        if entry.pawns != pawns || entry.kings != kings {
            let structure = Structure::of(board);
            let mut total = Total::new(table, Packed::default());
            structure_sum(board, structure, &mut total);
            let Structure { passed, closed, one_wing } = structure;
            let passed = passed.black | passed.white;
            *entry = StructureEntry { pawns, kings, closed, one_wing, passed, sum: total.sum() };
        }
        entry
    }

    /// The entry of a board's numbers of pieces, worked out if it is not there.
    #[inline(always)]
    pub fn material(&mut self, table: &Table, board: &Board) -> &MaterialEntry {
        // Six bits a number: kings stand on two squares, so none reaches 64.
        let counts = counts(board);
        let numbers = counts.white.iter().chain(&counts.black);
        let key = numbers.fold(0, |key, &count| key << 6 | count as u64);
        let entry = &mut self.materials[slot(mix(key), MATERIALS)];
        if entry.key != key {
            let mut total = Total::new(table, Packed::default());
            terms::material(&counts, &mut total);
            *entry = MaterialEntry {
                key,
                sum: total.sum(),
                scales: Scales::of(&counts),
                phase: phase(board) as u8,
            };
        }
        entry
    }
}

/// The square of a king; 64 if there is none or more than one, when the terms look at none.
#[inline(always)]
fn king(board: &Board, color: Color) -> u8 {
    board.king_of(color).map_or(64, u8::from)
}

#[inline(never)]
fn structure_sum(board: &Board, structure: Structure, total: &mut Total<'_>) {
    // Whose move it is plays no part here.
    terms::structure(&Context::new(board, Color::White, structure), total);
}

/// Multiplication by a number without pattern; its high bits depend on all bits (Knuth, TAOCP 3, 6.4).
#[inline(always)]
fn mix(bits: u64) -> u64 {
    bits.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[inline(always)]
fn slot(mixed: u64, slots: usize) -> usize {
    (mix(mixed ^ mixed >> 32) >> 40) as usize % slots
}
