//! What an evaluator remembers: sums that change with pawns and kings alone, or with material alone.
//!
//! In: a board. Out: the sums and facts that the plain evaluation would work out again. An entry holds everything
//! that it depends on and is compared with it, so the values are the same with and without the cache, whatever
//! was evaluated before.

use shakmaty::{Bitboard, Board, Color};

use super::context::Context;
use super::phase;
use super::scale::{Scales, counts};
use super::sink::{Packed, Table, Total};
use super::structure::Structure;
use super::terms;

/// Pawn structures remembered; enough for most of a search, and small enough for a processor's own memory.
const STRUCTURES: usize = 1024;

/// Balances of material remembered.
const MATERIALS: usize = 256;

/// What pawns and kings decide.
#[derive(Debug, Clone, Copy)]
pub struct StructureEntry {
    pawns: [Bitboard; 2],
    kings: Bitboard,
    black_king: Bitboard,
    /// Sum of the terms about them, White's minus Black's.
    pub sum: Packed,
    /// Facts about the pawns.
    pub structure: Structure,
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
    pub phase: i32,
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
        // No board has every square full of kings: no lookup finds an entry that nobody wrote.
        let structure = StructureEntry {
            pawns: [Bitboard::EMPTY; 2],
            kings: Bitboard::FULL,
            black_king: Bitboard::EMPTY,
            sum: Packed::default(),
            structure: Structure::default(),
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
        let pawns = [board.pawns() & board.white(), board.pawns() & board.black()];
        let (kings, black_king) = (board.kings(), board.kings() & board.black());
        let mixed =
            mix(pawns[0].0) ^ mix(pawns[1].0.rotate_left(31)) ^ mix(kings.0) ^ black_king.0.rotate_left(17);
        let entry = &mut self.structures[slot(mixed, STRUCTURES)];
        if entry.pawns != pawns || entry.kings != kings || entry.black_king != black_king {
            let structure = Structure::of(board);
            let mut total = Total::new(table, Packed::default());
            structure_sum(board, structure, &mut total);
            *entry = StructureEntry { pawns, kings, black_king, sum: total.sum(), structure };
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
            *entry =
                MaterialEntry { key, sum: total.sum(), scales: Scales::of(&counts), phase: phase(board) };
        }
        entry
    }
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
